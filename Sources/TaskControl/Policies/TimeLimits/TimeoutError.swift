/// Work took longer than its time limit.
///
/// Never a cancellation: whoever catches `CancellationError` to say nothing does not swallow a time limit.
public struct TimeoutError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The limit. With nested limits it tells which of them it was.
    public let duration: Duration

    /// The error of a limit: also for limits of your own.
    ///
    /// - Parameter duration: The limit.
    public init(duration: Duration) {
        self.duration = duration
    }

    /// How long the limit was.
    public var description: String { "took longer than its time limit of \(duration)" }
}
