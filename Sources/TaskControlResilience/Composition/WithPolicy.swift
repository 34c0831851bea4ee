public import TaskControl

/// Runs an operation under the parts of a policy, in their fixed order: limits, throttle, breaker, hedging, retry, and
/// a time limit per attempt.
///
/// ```swift
/// let hits = try await withPolicy(search) { try await server.search(text) }
/// ```
///
/// The operation can run several times: as often as ``ResiliencePolicy/retry`` and ``ResiliencePolicy/hedging`` allow,
/// and with hedging also at the same time. ``ResiliencePolicy`` gives the reasons for the order.
///
/// ## Cancellation
/// If the caller was cancelled before the call, the operation does not begin. A caller that is cancelled while it
/// waits, for a limit or before a retry, stops waiting at once, and receives `CancellationError`. A caller that is
/// cancelled while the operation runs receives the value if the operation returns one, and otherwise
/// `CancellationError`, regardless of the error that the operation throws. No other attempt begins after the
/// cancellation.
///
/// ## Ordering
/// Calls wait for each other only at the three limits, ``ResiliencePolicy/concurrency``, ``ResiliencePolicy/rate`` and
/// ``ResiliencePolicy/adaptiveLimit``, which admit them in the order of the calls.
///
/// - Parameters:
///   - policy: The policy. If it has no parts, the operation is called once.
///   - clock: Measures the delays of hedges and retries, and the time limit of an attempt. The limits, the throttle and
///     the breaker have clocks of their own.
///   - operation: Runs in the caller's isolation: in the caller's task, or, with hedging or a time limit per attempt,
///     in a child task.
/// - Returns: The value of the attempt that succeeds first.
/// - Throws: `CancellationError` if the caller is cancelled, unless the operation returns a value. Otherwise, the error
///   of the part that refuses the call: ``RequestThrottledError``, ``CircuitOpenError``, ``ConcurrencyLimitError``, or
///   ``RateLimitExceededError`` if the wait for the rate would end after the deadline of the caller
///   (`Task.currentDeadline`). If the call is not refused, the error of the last attempt, which is `TimeoutError` if
///   the attempt took longer than ``ResiliencePolicy/attemptTimeout``.
/// - Complexity: O(1). A call that succeeds at its first attempt without a wait allocates nothing, unless the policy
///   has hedging or a time limit per attempt, which need child tasks.
@inlinable
public nonisolated(nonsending) func withPolicy<Value: Sendable>(
    _ policy: ResiliencePolicy,
    clock: some Clock<Duration> = ContinuousClock(),
    operation: nonisolated(nonsending) @Sendable () async throws -> Value
) async throws -> Value {
    // The parts come one after the other, not one inside the other: each function around the operation costs a frame and two switches.
    var call = _PolicyCall()
    if !(try policy._begin(&call)) { try await policy._wait(&call) }
    do {
        guard policy.parts.isDirect else {
            let value = try await policy._inBreaker(clock, operation)
            policy._succeeded(call)
            return value
        }
        let failure: any Error
        do {
            let value = try await operation()
            policy._succeededAtOnce(call)
            return value
        } catch {
            failure = error
        }
        let value = try await policy._again(after: failure, clock, operation)
        policy._succeeded(call)
        return value
    } catch {
        throw policy._failed(call, error)
    }
}

extension ResiliencePolicy {
    /// Ends a call whose first attempt has succeeded: releases its permit, and returns a token to the budget that pays
    /// for retries.
    @usableFromInline
    func _succeededAtOnce(_ call: _PolicyCall) {
        parts.budgetOfSuccess?.with { $0._give(1) }
        _succeeded(call)
    }

    /// Makes the remaining attempts of the retry policy after the first attempt has failed with the error `failure`. If
    /// the policy has no retries, throws this error.
    @usableFromInline
    nonisolated(nonsending) func _again<Value: Sendable>(
        after failure: any Error,
        _ clock: some Clock<Duration>,
        _ operation: nonisolated(nonsending) @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let retry else { throw failure }
        return try await _retry(
            retry,
            after: failure,
            budget: parts.retryBudget,
            clock: clock,
            operation: operation
        )
    }

    @inlinable
    nonisolated(nonsending) func _inBreaker<Value: Sendable>(
        _ clock: some Clock<Duration>,
        _ operation: nonisolated(nonsending) @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let hedging else { return try await _inHedge(clock, operation) }
        return try await withoutActuallyEscaping(operation) { operation in
            try await hedged(
                after: hedging.delay,
                maxHedges: hedging.maxHedges,
                budget: throttle?.budget ?? hedging.budget,
                clock: clock,
                operation: { () async throws in try await _inHedge(clock, operation) },
                shouldHedge: hedging.shouldHedge
            )
        }
    }

    @inlinable
    nonisolated(nonsending) func _inHedge<Value: Sendable>(
        _ clock: some Clock<Duration>,
        _ operation: nonisolated(nonsending) @Sendable () async throws -> Value
    ) async throws -> Value {
        guard var policy = retry else { return try await _attempt(clock, operation) }
        if let throttle { policy.budget = throttle.budget }
        return try await TaskControl.retry(policy, clock: clock) { () async throws in
            try await _attempt(clock, operation)
        }
    }

    @inlinable
    nonisolated(nonsending) func _attempt<Value: Sendable>(
        _ clock: some Clock<Duration>,
        _ operation: nonisolated(nonsending) @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let attemptTimeout else { return try await operation() }
        return try await withTimeout(attemptTimeout, clock: clock, operation: operation)
    }
}
