internal import TaskControl

/// One call under a ``ResiliencePolicy``: the passes of the parts that it has entered.
///
/// It contains no reference to the built-in parts of the policy, so that a call does not retain them.
@usableFromInline
package struct _PolicyCall: Sendable {
    fileprivate var time = PolicyTime()
    fileprivate var limits = LimitOrder.noPasses
    fileprivate var histories = HistoryOrder.noPasses
    fileprivate var attempt = AttemptOrder.noPasses

    @usableFromInline package init() {}
}

extension ResiliencePolicy {
    /// Begins a call if it need not wait.
    ///
    /// - Returns: Whether the call has begun. If not, the caller must call `_waitToEnter(_:)`.
    /// - Throws: The error of the part that refuses the call; `CancellationError` if the caller is cancelled. The call
    ///   has then left all parts.
    @usableFromInline
    package func _enter(_ call: inout _PolicyCall) throws -> Bool {
        if _isTaskCancelled { throw CancellationError() }
        do {
            return try parts.limits.enter(&call.limits, at: &call.time)
                && parts.histories.enter(&call.histories, at: &call.time)
        } catch {
            throw refused(&call, error)
        }
    }

    /// Waits for the parts that did not admit the call at once, and begins it. Throws as `_enter(_:)` does.
    @usableFromInline
    package nonisolated(nonsending) func _waitToEnter(_ call: inout _PolicyCall) async throws {
        do {
            try await parts.limits.waitToEnter(&call.limits)
            call.time = PolicyTime()
            if try !parts.histories.enter(&call.histories, at: &call.time) {
                try await parts.histories.waitToEnter(&call.histories)
            }
        } catch {
            throw refused(&call, error)
        }
    }

    private func refused(_ call: inout _PolicyCall, _ error: any Error) -> any Error {
        _leave(&call, .unknown)
        return _isTaskCancelled ? CancellationError() : error
    }

    /// Enters the parts of the first attempt if it need not wait.
    ///
    /// - Returns: Whether the attempt has begun. If not, the caller must call `_waitToEnterAttempt(_:)`.
    /// - Throws: The error of the part that refuses the attempt, which has then left all of its parts.
    @usableFromInline
    func _enterAttempt(_ call: inout _PolicyCall) throws -> Bool {
        do {
            return try parts.attempts.enter(&call.attempt, at: &call.time)
        } catch {
            parts.attempts.leave(&call.attempt, with: .unknown, at: &call.time)
            throw error
        }
    }

    /// Waits for the parts that did not admit the first attempt at once. Throws as `_enterAttempt(_:)` does.
    @usableFromInline
    nonisolated(nonsending) func _waitToEnterAttempt(_ call: inout _PolicyCall) async throws {
        do {
            try await parts.attempts.waitToEnter(&call.attempt)
        } catch {
            call.time = PolicyTime()
            parts.attempts.leave(&call.attempt, with: .unknown, at: &call.time)
            throw error
        }
    }

    /// Ends a call whose first attempt has succeeded, and returns a token to the budget that pays for retries.
    @usableFromInline
    func _succeededAtOnce(_ call: inout _PolicyCall) {
        parts.budgetOfSuccess?.with { $0._give(1) }
        _leave(&call, .healthy)
    }

    /// Ends the first attempt of a call, which has failed. The call itself has not ended.
    @usableFromInline
    func _attemptFailed(_ call: inout _PolicyCall, _ error: any Error) {
        call.time = PolicyTime()
        parts.attempts.leave(&call.attempt, with: PolicyOutcome(of: error), at: &call.time)
    }

    /// Ends a call that has failed.
    ///
    /// - Returns: The error for the caller: `CancellationError` if the current task is cancelled, otherwise `error`.
    @usableFromInline
    func _failed(_ call: inout _PolicyCall, _ error: any Error) -> any Error {
        _leave(&call, PolicyOutcome(of: error))
        return _isTaskCancelled ? CancellationError() : error
    }

    /// Ends a call: it leaves all parts that it has entered.
    @usableFromInline
    package func _leave(_ call: inout _PolicyCall, _ outcome: PolicyOutcome) {
        call.time = PolicyTime()
        if parts.hasAttemptParts { parts.attempts.leave(&call.attempt, with: outcome, at: &call.time) }
        parts.histories.leave(&call.histories, with: outcome, at: &call.time)
        parts.limits.leave(&call.limits, with: outcome, at: &call.time)
    }

    /// Reports the outcome of a call that has not ended yet: only its limits remain.
    package func _report(_ call: inout _PolicyCall, _ outcome: PolicyOutcome) {
        call.time = PolicyTime()
        parts.histories.leave(&call.histories, with: outcome, at: &call.time)
    }
}

extension ResiliencePolicy {
    /// Makes one attempt: enters its parts, runs it, and leaves the parts.
    ///
    /// - Parameters:
    ///   - outcome: Returns the outcome of the attempt for the parts. Receives the error of the attempt; `nil` if it has
    ///     none.
    ///   - operation: Runs when the attempt has entered its parts.
    @usableFromInline
    package nonisolated(nonsending) func _attempt<Value>(
        outcome: ((any Error)?) -> PolicyOutcome = { $0.map(PolicyOutcome.init(of:)) ?? .healthy },
        _ operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        guard parts.hasAttemptParts else { return try await operation() }
        var (passes, time) = (AttemptOrder.noPasses, PolicyTime())
        do {
            try Task.checkCancellation()
            if try !parts.attempts.enter(&passes, at: &time) { try await parts.attempts.waitToEnter(&passes) }
        } catch {
            time = PolicyTime()
            parts.attempts.leave(&passes, with: .unknown, at: &time)
            throw error
        }
        do {
            let value = try await operation()
            time = PolicyTime()
            parts.attempts.leave(&passes, with: outcome(nil), at: &time)
            return value
        } catch {
            let outcome = outcome(error)
            time = PolicyTime()
            parts.attempts.leave(&passes, with: outcome, at: &time)
            throw error
        }
    }
}
