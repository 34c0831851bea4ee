public import TaskControl

/// The admission of one call by the throttle and the breaker of a policy, each of which learns its outcome.
///
/// Its outcome is reported once. Without a report the throttle counts the call as one that was not accepted, and a probe of the breaker lasts until its
/// lease expires.
@usableFromInline
package struct _CallAdmission: Sendable {
    private let throttle: (ClientThrottle, ClientThrottle._Permit)?
    private let breaker: (CircuitBreaker, CircuitBreaker._Permit)?

    @usableFromInline
    init(_ policy: ResiliencePolicy) throws {
        let throttle = try policy.throttle.map { ($0, try $0._admit()) }
        do {
            breaker = try policy.breaker.map { ($0, try $0._admit()) }
        } catch {
            // The call is not made, so the throttle does not count it.
            throw throttle.map { $0._failed($1, error) } ?? error
        }
        self.throttle = throttle
    }

    /// Reports that the service has answered.
    @usableFromInline
    package func _succeeded() {
        if let (breaker, permit) = breaker { breaker._succeeded(permit) }
        if let (throttle, permit) = throttle { throttle._succeeded(permit) }
    }

    /// Reports an error, which each part classifies.
    ///
    /// - Returns: The error for the caller: `CancellationError` if the current task is cancelled.
    @usableFromInline
    @discardableResult
    package func _failed(_ error: any Error) -> any Error {
        let error = breaker.map { $0._failed($1, error) } ?? error
        return throttle.map { $0._failed($1, error) } ?? error
    }

    /// Reports that the call says nothing about the service.
    package func withdraw() {
        if let (breaker, permit) = breaker { breaker.withdraw(permit) }
        if let (throttle, permit) = throttle { throttle.withdraw(permit) }
    }
}

extension ResiliencePolicy {
    /// Waits in the lines of the limits, and runs an operation that the throttle and the breaker have admitted.
    ///
    /// - Parameter operation: Reports the outcome to the admission.
    @inlinable
    package nonisolated(nonsending) func _admitted<Value>(
        _ operation: nonisolated(nonsending) (_CallAdmission) async throws -> Value
    ) async throws -> Value {
        guard let concurrency else { return try await _inConcurrency(operation) }
        return try await concurrency.withPermit { try await _inConcurrency(operation) }
    }

    @inlinable
    nonisolated(nonsending) func _inConcurrency<Value>(
        _ operation: nonisolated(nonsending) (_CallAdmission) async throws -> Value
    ) async throws -> Value {
        if let rate { try await rate.acquire() }
        return try await operation(_CallAdmission(self))
    }
}
