internal import TaskControl

/// The state of one call under a ``ResiliencePolicy``: the permit of the concurrency limit and the token of the rate
/// limit that the call has taken, and its admissions by the adaptive limit, the throttle and the breaker.
///
/// It contains no reference to the parts of the policy, so that a call does not retain them.
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
    /// Begins a call if it need not wait.
    ///
    /// - Returns: Whether the call has begun. If not, the caller must call `_wait(_:)`.
    /// - Throws: The error of the part of the policy that refuses the call: the permit of the call is then released,
    ///   and its token is not returned. `CancellationError` if the caller is cancelled.
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

    /// Waits until the limits of the policy admit a call, and begins it.
    ///
    /// - Throws: The error of the part of the policy that refuses the call; `CancellationError` if the caller is
    ///   cancelled.
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

    /// Ends a call that has succeeded, and releases its permit.
    @usableFromInline
    func _succeeded(_ call: _PolicyCall) {
        reportSuccess(of: call)
        returnPermit(call)
    }

    /// Reports the success of a call to the parts of the policy that have admitted it. The clock is read once for all
    /// of them, since these reports call no code of the user.
    fileprivate func reportSuccess(of call: _PolicyCall) {
        var reading = ClockReading()
        report(
            call,
            { $0.report(.healthy, of: $1, &reading) },
            { $0.report(.healthy, of: $1, &reading) },
            { $0.succeeded($1, &reading) }
        )
    }

    /// Ends a call that has failed. Each part of the policy that has admitted it classifies the error.
    ///
    /// - Returns: The error for the caller: `CancellationError` if the current task is cancelled, otherwise `error`.
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

    /// Waits until the limits of the policy admit a call, and runs an operation once the throttle and the breaker have
    /// admitted the call too.
    ///
    /// - Parameter operation: Receives the admission of the call, to which it must report the outcome. When it has
    ///   ended, the permit of the concurrency limit is released.
    /// - Returns: The value that the operation returns.
    /// - Throws: The error of the part of the policy that refuses the call; the error of the operation;
    ///   `CancellationError` if the caller was cancelled before the operation began.
    package nonisolated(nonsending) func _admitted<Value>(
        _ operation: nonisolated(nonsending) (_CallAdmission) async throws -> Value
    ) async throws -> Value {
        var call = _PolicyCall()
        if !(try _begin(&call)) { try await _wait(&call) }
        defer { returnPermit(call) }
        return try await operation(_CallAdmission(policy: self, call: call))
    }
}

/// The admission of one call by the adaptive limit, the throttle and the breaker of a policy, for code that reports the
/// outcome itself.
///
/// The outcome must be reported once. Until then the call counts as running for the adaptive limit, and as not accepted
/// for the throttle. If the call is a probe of the breaker, the breaker admits no other call in its place until the
/// time of the probe is over.
package struct _CallAdmission: Sendable {
    fileprivate let policy: ResiliencePolicy
    fileprivate let call: _PolicyCall

    /// Reports the success of the call to the parts of the policy that have admitted the call: the service has
    /// answered.
    package func _succeeded() { policy.reportSuccess(of: call) }

    /// Reports the error of the call to the parts of the policy that have admitted the call. Each of them classifies
    /// it.
    package func _failed(_ error: any Error) {
        policy.report(
            call,
            { _ = $0._failed($1, error) },
            { _ = $0._failed($1, error) },
            { _ = $0._failed($1, error) }
        )
    }

    /// Ends the call without an outcome, because the call gives no information about the service.
    package func withdraw() {
        policy.report(call, { $0.withdraw($1) }, { $0.withdraw($1) }, { $0.withdraw($1) })
    }
}
