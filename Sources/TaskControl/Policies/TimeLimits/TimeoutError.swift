/// The error of work that took longer than its time limit.
///
/// A time limit is never a cancellation: code that catches `CancellationError` does not catch it.
public struct TimeoutError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The time limit that was exceeded. If several limits are nested, it shows which of them it was.
    public let duration: Duration

    /// Creates the error, for tests and for code that has a time limit of its own.
    ///
    /// - Parameter duration: The limit.
    public init(duration: Duration) {
        self.duration = duration
    }

    /// A sentence with the length of the limit.
    public var description: String { "the operation took longer than its time limit of \(duration)" }
}
