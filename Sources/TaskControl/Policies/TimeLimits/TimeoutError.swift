/// The error of work that took longer than its time limit.
///
/// A time limit is never a cancellation: code that catches `CancellationError` to ignore it does not swallow a time limit.
public struct TimeoutError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The limit. With nested limits, it shows which of them was exceeded.
    public let duration: Duration

    /// Creates the error of a limit, also of a limit of your own.
    ///
    /// - Parameter duration: The limit.
    public init(duration: Duration) {
        self.duration = duration
    }

    /// A sentence with the length of the limit.
    public var description: String { "took longer than its time limit of \(duration)" }
}
