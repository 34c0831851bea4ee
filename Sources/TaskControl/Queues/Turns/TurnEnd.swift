/// How a turn ends.
@usableFromInline
enum TurnEnd {
    case completed
    case failed(any Error)
    /// Its task was cancelled before its turn.
    case skipped
}
