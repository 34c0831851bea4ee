/// The error of a call of `retry` that allows no attempt, such as `retry(attempts: mirrors.count)` for an empty list. The
/// operation was not called.
public struct NoAttemptError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of attempts that the call allowed: zero or a negative number.
    public let attempts: Int

    /// Creates the error.
    ///
    /// - Parameter attempts: The number of attempts that the call allowed.
    public init(attempts: Int) {
        self.attempts = attempts
    }

    /// A sentence that states what has happened.
    public var description: String { "retry: \(attempts) attempts are allowed, so the operation was not called" }
}

extension NoAttemptError: ProgrammingMistake {}
