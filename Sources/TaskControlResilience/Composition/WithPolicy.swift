public import TaskControl

/// Runs an operation under the parts of a policy, in their fixed order: around the call, its breaker, hedging and retries;
/// around each attempt, its permit, its token and a time limit.
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
/// waits, for a part or before a retry, stops waiting at once, and receives `CancellationError`. A caller that is
/// cancelled while the operation runs receives the value if the operation returns one, and otherwise
/// `CancellationError`, regardless of the error that the operation throws. No other attempt begins after the
/// cancellation.
///
/// ## Ordering
/// Attempts wait for each other only at ``ResiliencePolicy/permits`` and ``ResiliencePolicy/rate``, which admit them in the
/// order in which they come there, and at parts of your own.
///
/// - Parameters:
///   - policy: The policy. If it has no parts, the operation is called once.
///   - clock: Measures the delays of hedges and retries, and the time limit of an attempt. The limits and the
///     breaker have clocks of their own.
///   - operation: Runs in the caller's isolation: in the caller's task, or, with hedging or a time limit per attempt,
///     in a child task.
/// - Returns: The value of the attempt that succeeds first.
/// - Throws: `CancellationError` if the caller is cancelled, unless the operation returns a value. Otherwise,
///   ``CallRefusedError`` if a part refuses the call or its last attempt: also at once, if the wait for the rate would
///   end after the deadline of the caller (`Task.currentDeadline`). If the call is not refused, the error of the last
///   attempt, which is `TimeoutError` if the attempt took longer than ``ResiliencePolicy/attemptTimeout``.
/// - Complexity: O(1). A call that succeeds at its first attempt without a wait allocates nothing, unless the policy
///   has hedging or a time limit per attempt, which need child tasks, or parts of your own, whose passes are allocated.
@inlinable
public nonisolated(nonsending) func withPolicy<Value: Sendable>(
    _ policy: ResiliencePolicy,
    clock: some Clock<Duration> = ContinuousClock(),
    operation: nonisolated(nonsending) @Sendable () async throws -> Value
) async throws -> Value {
    // The parts come one after the other, not one inside the other: each function around the operation costs a frame and two switches.
    var call = _PolicyCall()
    if !(try policy._enter(&call)) { try await policy._waitToEnter(&call) }
    do {
        var failure: (any Error)?
        if policy.parts.isDirect {
            do {
                if policy.parts.hasAttemptParts, !(try policy._enterAttempt(&call)) {
                    try await policy._waitToEnterAttempt(&call)
                }
                let value = try await operation()
                policy._succeededAtOnce(&call)
                return value
            } catch {
                if policy.parts.hasAttemptParts { policy._attemptFailed(&call, error) }
                failure = error
            }
        }
        let value =
            if let failure {
                try await policy._again(after: failure, clock, &call, operation)
            } else {
                try await policy._hedged(clock, &call, operation)
            }
        policy._leave(&call, .healthy)
        return value
    } catch {
        throw policy._failed(&call, error)
    }
}

extension ResiliencePolicy {
    /// Makes the attempts after the first, which has failed with the error `failure`. The policy has no hedging and no
    /// time limit.
    @usableFromInline
    nonisolated(nonsending) func _again<Value: Sendable>(
        after failure: any Error,
        _ clock: some Clock<Duration>,
        _ call: inout _PolicyCall,
        _ operation: nonisolated(nonsending) @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let retry else { throw failure }
        return try await _retry(
            retry,
            after: failure,
            clock: clock,
            shouldRetry: { _mayFollow(&call.record, $0, retry.shouldRetry) }
        ) { _ in
            try await _attempt(&call.record, operation)
        }
    }

    /// Makes the attempts of a call, with hedges.
    @inlinable
    nonisolated(nonsending) func _hedged<Value: Sendable>(
        _ clock: some Clock<Duration>,
        _ call: inout _PolicyCall,
        _ operation: nonisolated(nonsending) @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let hedging else { return try await _retried(clock, &call.record, operation) }
        let shared = _SharedCall(of: call)
        defer { shared.move(to: &call) }
        return try await withoutActuallyEscaping(operation) { operation in
            try await withHedging(
                after: hedging.delay,
                maxHedges: hedging.maxHedges,
                budget: hedging.budget,
                clock: clock,
                operation: { () async throws in
                    var call = shared
                    return try await _retried(clock, &call, operation)
                },
                shouldHedge: {
                    var call = shared
                    return _mayFollow(&call, $0, hedging.shouldHedge)
                }
            )
        }
    }

    @inlinable
    nonisolated(nonsending) func _retried<Value: Sendable>(
        _ clock: some Clock<Duration>,
        _ call: inout some _AdmittedCall,
        _ operation: nonisolated(nonsending) @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let retry else { return try await _limitedAttempt(clock, &call, operation) }
        return try await _retry(
            retry,
            after: nil,
            clock: clock,
            shouldRetry: { _mayFollow(&call, $0, retry.shouldRetry) }
        ) { _ async throws in
            try await _limitedAttempt(clock, &call, operation)
        }
    }

    @inlinable
    nonisolated(nonsending) func _limitedAttempt<Value: Sendable>(
        _ clock: some Clock<Duration>,
        _ call: inout some _AdmittedCall,
        _ operation: nonisolated(nonsending) @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let attemptTimeout else { return try await _attempt(&call, operation) }
        return try await _attempt(&call) { try await withTimeout(attemptTimeout, clock: clock, operation: operation) }
    }

    /// Returns whether another attempt of a call may follow one that has thrown an error: not if the breaker has refused it.
    @usableFromInline
    func _mayFollow(
        _ call: inout some _AdmittedCall,
        _ error: any Error,
        _ isAllowed: (any Error) -> Bool
    ) -> Bool {
        !call.change { $0.isRefused } && isAllowed(error)
    }
}
