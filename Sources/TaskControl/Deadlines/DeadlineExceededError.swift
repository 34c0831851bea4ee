/// The error of an operation that has not ended by its deadline, or did not begin because the deadline had passed.
///
/// This error is not a cancellation: code that catches `CancellationError` does not catch it.
public struct DeadlineExceededError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Creates the error, for tests and for code that checks a deadline itself.
    public init() {}

    /// A sentence that states that the deadline has passed.
    public var description: String { "the deadline has passed" }
}
