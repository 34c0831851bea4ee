internal import TaskControl

/// One call under a ``ResiliencePolicy``, whose attempts run one after the other: its record, and the passes of the parts
/// that it has entered.
///
/// It contains no reference to the built-in parts of the policy, so that a call does not retain them.
@usableFromInline
package struct _PolicyCall: Sendable {
    fileprivate var time = PolicyTime()
    fileprivate var passes = PartList.noPasses
    @usableFromInline package var record = _CallRecord()
    /// The passes of an attempt that `withPolicy` makes itself: the first, if that needs no child task.
    fileprivate var first = AttemptOrder.Passes()
    /// Whether that attempt is under way. If it has not waited, its time is that of the call, and is recorded only when it
    /// is needed.
    fileprivate var isFirstUnderWay = false
    /// Whether the call has waited for a part around it.
    fileprivate var hasWaited = false
    /// The part for which that attempt must wait; otherwise `nil`.
    fileprivate var wait: AttemptOrder.Wait?

    @usableFromInline package init() {}
}

extension ResiliencePolicy {
    /// Begins a call if it need not wait.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - isMeasured: Whether the call is measured, although the policy alone permits only one attempt.
    /// - Returns: Whether the call has begun. If not, the caller must call `_waitToEnter(_:)`.
    /// - Throws: The error of the part that refuses the call; `CancellationError` if the caller is cancelled. The call
    ///   has then left all parts.
    @usableFromInline
    package func _enter(_ call: inout _PolicyCall, isMeasured: Bool = false) throws -> Bool {
        if _isTaskCancelled { throw CancellationError() }
        if parts.measuresAttempts || isMeasured { call.record.time.begin(at: parts.now(&call.time)) }
        do {
            return try parts.calls.enter(&call.passes, at: &call.time)
        } catch {
            throw refused(&call, error)
        }
    }

    /// Waits for the parts that did not admit the call at once, and begins it. Throws as `_enter(_:)` does.
    @usableFromInline
    package nonisolated(nonsending) func _waitToEnter(_ call: inout _PolicyCall) async throws {
        call.record.time.begin(at: parts.now(&call.time))
        call.hasWaited = true
        do {
            repeat {
                try await parts.calls.waitToEnterNext(&call.passes)
                try Task.checkCancellation()
                call.time = PolicyTime()
            } while try !parts.calls.enter(&call.passes, at: &call.time)
        } catch {
            throw refused(&call, error)
        }
    }

    private func refused(_ call: inout _PolicyCall, _ error: any Error) -> any Error {
        _leave(&call, .unknown)
        return _isTaskCancelled ? CancellationError() : error
    }

    /// Refuses a call to which the breaker would refuse an attempt now, before anything is prepared for an attempt.
    ///
    /// - Throws: The error of the breaker. The call has then left all parts.
    package func _checkAdmits(_ call: inout _PolicyCall) throws {
        do {
            try breaker?.checkAdmits(&call.record)
        } catch {
            throw refused(&call, error)
        }
    }

    /// Enters the parts of the first attempt if it need not wait.
    ///
    /// - Returns: Whether the attempt has begun. If not, the caller must call `_waitToEnterAttempt(_:)`.
    /// - Throws: The error of the part that refuses the attempt, which has then left all of its parts.
    @usableFromInline
    func _enterAttempt(_ call: inout _PolicyCall) throws -> Bool {
        call.wait = try parts.attempts.enter(&call.first, &call.record, at: &call.time)
        guard call.wait == nil else { return false }
        if call.hasWaited { began(&call.record, at: &call.time) }
        call.isFirstUnderWay = true
        return true
    }

    /// Waits for the parts that did not admit the first attempt at once. Throws as `_enterAttempt(_:)` does.
    @usableFromInline
    nonisolated(nonsending) func _waitToEnterAttempt(_ call: inout _PolicyCall) async throws {
        guard let wait = call.wait else { return }
        try await waited(wait, &call.first, &call.record, since: call.time)
        call.isFirstUnderWay = true
    }

    /// Waits until an attempt has entered its parts, and begins it.
    private nonisolated(nonsending) func waited(
        _ wait: AttemptOrder.Wait,
        _ passes: inout AttemptOrder.Passes,
        _ call: inout some _AdmittedCall,
        since begin: PolicyTime
    ) async throws {
        var time = begin
        let now = parts.now(&time)
        call.change { $0.time.begin(at: now) }
        try await parts.attempts.waitToEnter(wait, &passes, &call)
        time = PolicyTime()
        began(&call, at: &time)
    }

    /// Ends a call whose first attempt has succeeded, and returns a token to the budget that pays for retries.
    @usableFromInline
    func _succeededAtOnce(_ call: inout _PolicyCall) {
        parts.budgetOfSuccess?.with { $0._give(1) }
        var time = PolicyTime()
        if parts.tellsTime { firstEnded(&call, at: &time) }
        if parts.hasAttemptParts { parts.attempts.leave(&call.first, with: .healthy, at: &time) }
        leave(&call, .healthy, at: &time)
    }

    private func firstEnded(_ call: inout _PolicyCall, at time: inout PolicyTime) {
        guard call.isFirstUnderWay else { return }
        call.isFirstUnderWay = false
        if call.wait == nil, !call.hasWaited { call.record.time.attemptBeganWithCall() }
        ended(&call.record, at: &time)
    }

    /// Ends the first attempt of a call, which has failed. The call itself has not ended.
    @usableFromInline
    func _attemptFailed(_ call: inout _PolicyCall, _ error: any Error) {
        var time = PolicyTime()
        let hasBegun = call.isFirstUnderWay
        firstEnded(&call, at: &time)
        parts.attempts.leave(&call.first, with: hasBegun ? _outcome(of: error, &call.record) : .unknown, at: &time)
    }

    /// Ends a call that has failed.
    ///
    /// - Returns: The error for the caller: `CancellationError` if the current task is cancelled, otherwise `error`.
    @usableFromInline
    func _failed(_ call: inout _PolicyCall, _ error: any Error) -> any Error {
        _leave(&call, _outcome(of: error, &call.record))
        return _isTaskCancelled ? CancellationError() : error
    }

    /// Ends a call: it leaves all parts that it has entered.
    @usableFromInline
    package func _leave(_ call: inout _PolicyCall, _ outcome: PolicyOutcome) {
        var time = PolicyTime()
        leave(&call, outcome, at: &time)
    }

    @inline(__always)
    private func leave(_ call: inout _PolicyCall, _ outcome: PolicyOutcome, at time: inout PolicyTime) {
        leaveBreaker(&call.record, outcome, at: &time)
        parts.calls.leave(&call.passes, with: outcome, at: &time)
    }

    /// Begins to measure a call that has no parts around it.
    package func _begin(_ call: inout some _AdmittedCall) {
        var time = PolicyTime()
        let now = parts.now(&time)
        call.change { $0.time.begin(at: now) }
    }

    /// Ends the time of the service in a call that has not ended.
    package func _endTime(of call: inout some _AdmittedCall) {
        var time = PolicyTime()
        let now = parts.now(&time)
        call.change { $0.time.freeze(at: now) }
    }

    /// Reports the outcome of a call to the breaker. The call may not have ended yet.
    package func _report(_ call: inout some _AdmittedCall, _ outcome: PolicyOutcome) {
        var time = PolicyTime()
        leaveBreaker(&call, outcome, at: &time)
    }

    @inline(__always)
    private func leaveBreaker(
        _ call: inout some _AdmittedCall,
        _ outcome: PolicyOutcome,
        at time: inout PolicyTime
    ) {
        if parts.tellsTime {
            let now = parts.now(&time)
            time.underWay = call.change { $0.time.underWay(at: now) }
        }
        guard let breaker = parts.breaker else { return }
        let (admission, hasBegun) = call.change { record in
            let admission = record.admission
            (record.admission, record.isReported) = (nil, true)
            return (admission, record.time.hasBegun)
        }
        guard let admission else { return }
        // The first attempt of `withPolicy` is recorded only when its time is needed, and has begun in any other case.
        if case .unknown = outcome, !hasBegun { return breaker.with { $0.withdraw(admission) } }
        breaker.with { $0.leave(admission, with: outcome, at: &time) }
    }

    // MARK: The time of an attempt

    @inline(__always)
    private func began(_ call: inout some _AdmittedCall, at time: inout PolicyTime) {
        let now = call.change { $0.time.isMeasured } ? parts.now(&time) : .zero
        call.change { $0.time.attemptBegan(at: now) }
    }

    @inline(__always)
    private func ended(_ call: inout some _AdmittedCall, at time: inout PolicyTime) {
        let now = call.change { $0.time.isMeasured } ? parts.now(&time) : .zero
        call.change { $0.time.attemptEnded(at: now) }
    }

    /// Returns the outcome of a call, or of an attempt that has not ended yet, that has thrown an error.
    ///
    /// - Parameter judge: Returns what the error shows about the service; `nil` if the attempt has none.
    package func _outcome(
        of error: any Error,
        _ call: inout some _AdmittedCall,
        _ judge: ((any Error)?) -> PolicyOutcome = { $0.map(PolicyOutcome.failed) ?? .healthy }
    ) -> PolicyOutcome {
        guard _isTaskCancelled, !(error is CallRefusedError) else {
            let outcome = PolicyOutcome(of: error)
            if case .failed(let error) = outcome { return judge(error) }
            return outcome
        }
        guard CancellationCauses.isOfLimit else { return .unknown }
        let outcome = judge(DeadlineExceededError())
        if case .failed = outcome, !_hasFairShare(&call) { return .unknown }
        return outcome
    }

    /// Returns whether the attempts of a call, which ends now, were under way for a fair share of its time.
    package func _hasFairShare(_ call: inout some _AdmittedCall) -> Bool {
        var time = PolicyTime()
        let now = parts.now(&time)
        return call.change { $0.time.isFairShare(at: now) }
    }
}

extension ResiliencePolicy {
    /// Makes one attempt: enters its parts, runs it, and leaves the parts.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - outcome: Returns the outcome of the attempt for the parts. Receives the error of the attempt, or a
    ///     `DeadlineExceededError` if a limit around it has ended it; `nil` if it has none. Not called for an attempt
    ///     that gives no information: that was cancelled, or refused.
    ///   - operation: Runs when the attempt has entered its parts.
    @usableFromInline
    package nonisolated(nonsending) func _attempt<Value>(
        _ call: inout some _AdmittedCall,
        outcome judge: ((any Error)?) -> PolicyOutcome = { $0.map(PolicyOutcome.failed) ?? .healthy },
        _ operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        guard parts.hasAttemptParts else { return try await operation() }
        var (passes, time) = (AttemptOrder.Passes(), PolicyTime())
        do {
            try Task.checkCancellation()
            if let wait = try parts.attempts.enter(&passes, &call, at: &time) {
                try await waited(wait, &passes, &call, since: time)
            } else {
                began(&call, at: &time)
            }
        } catch {
            time = PolicyTime()
            parts.attempts.leave(&passes, with: .unknown, at: &time)
            throw error
        }
        do {
            let value = try await operation()
            time = PolicyTime()
            ended(&call, at: &time)
            parts.attempts.leave(&passes, with: judge(nil), at: &time)
            return value
        } catch {
            let outcome = _outcome(of: error, &call, judge)
            time = PolicyTime()
            ended(&call, at: &time)
            parts.attempts.leave(&passes, with: outcome, at: &time)
            throw error
        }
    }
}
