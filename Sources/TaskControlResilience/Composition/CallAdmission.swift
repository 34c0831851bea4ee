internal import TaskControl

/// One call under a policy: what it has taken of the limits, and how the adaptive limit, the throttle and the breaker have admitted it.
///
/// Not the parts themselves, which the policy has, so that a call retains none of them.
@usableFromInline
struct _PolicyCall: Sendable {
    fileprivate var holding = _PermitHolding.scoped
    fileprivate var hasPermit = false
    fileprivate var hasToken = false
    fileprivate var limitPermit: AdaptiveLimiter._Permit?
    fileprivate var throttlePermit: ClientThrottle._Permit?
    fileprivate var breakerPermit: CircuitBreaker._Permit?

    @usableFromInline init() {}
}

extension ResiliencePolicy {
    /// Begins a call without a suspension.
    ///
    /// - Returns: Whether it has begun. If not, the caller continues with `_wait(_:)`.
    /// - Throws: The error of the part that refuses the call. The permit is returned then; a token is not.
    @usableFromInline
    func _begin(_ call: inout _PolicyCall) throws -> Bool {
        if _isTaskCancelled { throw CancellationError() }
        var reading = ClockReading()
        if let concurrency = parts.concurrency {
            guard concurrency.with({ $0._acquireAtOnce(1, &call.holding) }) else { return false }
            call.hasPermit = true
        }
        if let rate = parts.rate, !rate.with({ $0.takeAtOnce(1, &reading) }) { return false }
        call.hasToken = true
        if let limit = parts.adaptiveLimit {
            guard let permit = limit.with({ $0.admitAtOnce(&reading) }) else { return false }
            call.limitPermit = permit
        }
        try admit(&call, &reading)
        return true
    }

    /// Waits in the lines of the limits, and begins a call.
    @usableFromInline
    nonisolated(nonsending) func _wait(_ call: inout _PolicyCall) async throws {
        if !call.hasPermit, let concurrency {
            try await concurrency._acquireInLine(1, call.holding)
            call.hasPermit = true
        }
        do {
            if !call.hasToken { try await rate?.acquire() }
            if let adaptiveLimit { call.limitPermit = try await adaptiveLimit._admit() }
        } catch {
            returnPermit(call)
            throw error
        }
        var reading = ClockReading()
        try admit(&call, &reading)
    }

    private func admit(_ call: inout _PolicyCall, _ reading: inout ClockReading) throws {
        do {
            if let throttle = parts.throttle { call.throttlePermit = try throttle.with { try $0.admit(&reading) } }
            if let breaker = parts.breaker { call.breakerPermit = try breaker.with { try $0.admit(&reading) } }
        } catch {
            // The call is not made, so the throttle does not count it.
            throw _failed(call, error)
        }
    }

    private func returnPermit(_ call: _PolicyCall) {
        if call.hasPermit { parts.concurrency?.with { $0._release(1, call.holding) } }
    }

    /// Ends a call that has succeeded.
    @usableFromInline
    func _succeeded(_ call: _PolicyCall) {
        reportSuccess(of: call)
        returnPermit(call)
    }

    /// The parts read the clock once, since nothing of the client runs between them.
    fileprivate func reportSuccess(of call: _PolicyCall) {
        var reading = ClockReading()
        report(
            call,
            { $0.report(.healthy, of: $1, &reading) },
            { $0.report(.healthy, of: $1, &reading) },
            { $0.succeeded($1, &reading) }
        )
    }

    /// Ends a call that has failed, with an error that each part classifies.
    ///
    /// - Returns: The error for the caller: `CancellationError` if the current task is cancelled.
    @usableFromInline
    func _failed(_ call: _PolicyCall, _ error: any Error) -> any Error {
        report(call, { _ = $0._failed($1, error) }, { _ = $0._failed($1, error) }, { _ = $0._failed($1, error) })
        returnPermit(call)
        return _isTaskCancelled ? CancellationError() : error
    }

    @inline(__always)
    fileprivate func report(
        _ call: _PolicyCall,
        _ toBreaker: (CircuitBreaker, CircuitBreaker._Permit) -> Void,
        _ toThrottle: (ClientThrottle, ClientThrottle._Permit) -> Void,
        _ toLimit: (AdaptiveLimiter, AdaptiveLimiter._Permit) -> Void
    ) {
        if let breaker = parts.breaker, let permit = call.breakerPermit { breaker.with { toBreaker($0, permit) } }
        if let throttle = parts.throttle, let permit = call.throttlePermit { throttle.with { toThrottle($0, permit) } }
        if let limit = parts.adaptiveLimit, let permit = call.limitPermit { limit.with { toLimit($0, permit) } }
    }

    /// Waits in the lines of the limits, and runs an operation that the throttle and the breaker have admitted.
    ///
    /// - Parameter operation: Reports the outcome to the admission.
    package nonisolated(nonsending) func _admitted<Value>(
        _ operation: nonisolated(nonsending) (_CallAdmission) async throws -> Value
    ) async throws -> Value {
        var call = _PolicyCall()
        if !(try _begin(&call)) { try await _wait(&call) }
        defer { returnPermit(call) }
        return try await operation(_CallAdmission(policy: self, call: call))
    }
}

/// The admission of one call by the adaptive limit, the throttle and the breaker of a policy, for a client that reports the outcome itself.
///
/// The outcome must be reported once: the call counts for the adaptive limit until then, the throttle counts it as one that was not accepted, and a
/// probe of the breaker lasts until its lease expires.
package struct _CallAdmission: Sendable {
    fileprivate let policy: ResiliencePolicy
    fileprivate let call: _PolicyCall

    /// Reports that the service has answered.
    package func _succeeded() { policy.reportSuccess(of: call) }

    /// Reports an error, which each part classifies.
    package func _failed(_ error: any Error) {
        policy.report(
            call,
            { _ = $0._failed($1, error) },
            { _ = $0._failed($1, error) },
            { _ = $0._failed($1, error) }
        )
    }

    /// Reports that the call gives no information about the service.
    package func withdraw() {
        policy.report(call, { $0.withdraw($1) }, { $0.withdraw($1) }, { $0.withdraw($1) })
    }
}
