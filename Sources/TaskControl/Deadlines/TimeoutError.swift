/// The error of work that took longer than its time limit.
///
/// This error is not a cancellation: code that catches `CancellationError` does not catch it.
public struct TimeoutError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The time limit that was exceeded. If limits of different lengths are nested, the length shows which of them was
    /// exceeded.
    public let duration: Duration

    /// Creates the error, for tests and for code that has a time limit of its own.
    ///
    /// - Parameter duration: The time limit that was exceeded.
    public init(duration: Duration) {
        self.duration = duration
    }

    /// A sentence that states the time limit.
    public var description: String { "the operation took longer than its time limit of \(duration)" }
}
