/// The error of a poll whose condition did not hold in time: see ``poll(every:within:calls:clock:shouldRetry:operation:until:)``.
///
/// ```swift
/// do {
///     model.show(try await poll(within: .seconds(120)) { try await api.fetchFeed() } until: { !$0.isEmpty })
/// } catch let error as PollTimeoutError {
///     print("not ready after \(error.calls) calls; the last answer: \(error.lastValue as? [Item] ?? [])")
/// }
/// ```
///
/// This error is not a cancellation: code that catches `CancellationError` does not catch it.
public struct PollTimeoutError: Error, CustomStringConvertible {
    /// The number of calls of the operation that have ended.
    public let calls: Int

    /// The value of the last call that returned one, which did not satisfy the condition; `nil` if no call returned. It has the type of the
    /// values of the poll.
    public let lastValue: (any Sendable)?

    /// The error of the last call; `nil` if the last call returned a value, or no call has ended.
    public let lastError: (any Error)?

    /// Creates the error, for tests.
    ///
    /// - Parameters:
    ///   - calls: The number of calls that have ended.
    ///   - lastValue: The value of the last call that returned one.
    ///   - lastError: The error of the last call.
    public init(calls: Int, lastValue: (any Sendable)? = nil, lastError: (any Error)? = nil) {
        self.calls = calls
        self.lastValue = lastValue
        self.lastError = lastError
    }

    /// A sentence that states the number of calls, and the last error. It does not contain the value, which may be a
    /// secret.
    public var description: String {
        let calls = "the condition did not hold in time, after \(calls) \(calls == 1 ? "call" : "calls")"
        return lastError.map { "\(calls); the last call failed: \($0)" } ?? calls
    }
}

extension PollTimeoutError: EventDescribable {
    package var eventText: String {
        let calls = "PollTimeoutError(calls: \(calls)"
        return (lastError.map { "\(calls), lastError: \(Diagnostics.text(of: $0))" } ?? calls) + ")"
    }
}
