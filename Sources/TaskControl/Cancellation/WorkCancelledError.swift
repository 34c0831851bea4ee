/// The error of a caller that was not cancelled, and whose work was cancelled by its owner or refused by it: the flight
/// of a ``SingleFlight`` or the load of a `CachedFlight` that ``TaskOwner/cancelAll(because:)`` or
/// ``TaskOwner/close()`` has cancelled, or a call of one that is closed.
///
/// ```swift
/// do {
///     model.show(try await profiles.value(for: id) { try await api.fetchProfile(id) })
/// } catch let error as WorkCancelledError where error.cause == .requested(reason: "signed out") {
///     model.showSignIn()
/// }
/// ```
///
/// The work has not failed: ``RetryPolicy/isWorthRetrying(_:)`` is `false` for the error, no cache keeps it, and no
/// circuit breaker counts it. A caller that is cancelled itself receives `CancellationError` instead.
public struct WorkCancelledError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason for which the work was cancelled or refused: the same as `Task.cancellationCause` inside the work.
    public let cause: CancellationCause

    /// Creates the error, for tests and for types of your own.
    ///
    /// - Parameter cause: The reason for which the work was cancelled or refused.
    public init(cause: CancellationCause) { self.cause = cause }

    /// A sentence with the cause.
    public var description: String { "the work was cancelled or refused by its owner: \(cause)" }
}

extension WorkCancelledError: Interruption {}
