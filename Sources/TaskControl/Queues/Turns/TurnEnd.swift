/// The way in which a turn ends.
@usableFromInline
enum _TurnEnd {
    case completed
    case failed(any Error)
    /// The task was cancelled before its turn, and its work did not run.
    case skipped
}
