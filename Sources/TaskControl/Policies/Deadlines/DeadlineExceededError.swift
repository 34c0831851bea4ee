/// The error of an operation that has not ended by its deadline, or was not begun because the deadline had passed.
///
/// It is not a cancellation: code that catches `CancellationError` does not catch a deadline.
public struct DeadlineExceededError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Creates the error, for tests and for code that checks a deadline itself.
    public init() {}

    /// A sentence that states that the deadline has passed.
    public var description: String { "the deadline has passed" }
}
