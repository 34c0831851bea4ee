/// How a turn ends.
@usableFromInline
enum _TurnEnd {
    case completed
    case failed(any Error)
    /// Its task was cancelled before its turn.
    case skipped
}
