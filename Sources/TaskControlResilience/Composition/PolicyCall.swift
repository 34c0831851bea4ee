internal import TaskControl

/// One call under a ``ResiliencePolicy``, whose attempts run one after the other: its record, and the passes of the parts
/// that it has entered.
///
/// It contains no reference to the built-in parts of the policy, so that a call does not retain them.
@usableFromInline
package struct _PolicyCall: _AdmittedCall {
    fileprivate var time = PolicyTime()
    fileprivate var passes = PartList.noPasses
    fileprivate var record = _CallRecord()
    /// The passes of an attempt that `withPolicy` makes itself: the first, if that needs no child task.
    fileprivate var first = AttemptOrder.Passes()
    /// Whether that attempt is under way.
    fileprivate var isFirstUnderWay = false
    /// The part for which that attempt must wait; otherwise `nil`.
    fileprivate var wait: AttemptOrder.Wait?

    @usableFromInline package init() {}

    @usableFromInline
    @inline(__always)
    package mutating func change<Result>(_ body: (inout _CallRecord) -> Result) -> Result {
        body(&record)
    }
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
        if parts.measuresAttempts { call.record.time.begin(at: parts.now(&call.time)) }
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
        do {
            repeat {
                try await parts.calls.waitToEnterNext(&call.passes)
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
            try breaker?.checkAdmits(&call)
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
        var (passes, time) = (call.first, call.time)
        defer { (call.first, call.time) = (passes, time) }
        call.wait = try parts.attempts.enter(&passes, &call, at: &time)
        guard call.wait == nil else { return false }
        began(&call, at: &time)
        call.isFirstUnderWay = true
        return true
    }

    /// Waits for the parts that did not admit the first attempt at once. Throws as `_enterAttempt(_:)` does.
    @usableFromInline
    nonisolated(nonsending) func _waitToEnterAttempt(_ call: inout _PolicyCall) async throws {
        guard let wait = call.wait else { return }
        var passes = call.first
        defer { call.first = passes }
        try await waited(wait, &passes, &call, since: call.time)
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
        call.time = PolicyTime()
        if parts.hasAttemptParts { firstEnded(&call, with: .healthy) }
        leave(&call, .healthy)
    }

    @inline(__always)
    private func firstEnded(_ call: inout _PolicyCall, with outcome: PolicyOutcome) {
        var (passes, time) = (call.first, call.time)
        if call.isFirstUnderWay { ended(&call, at: &time) }
        parts.attempts.leave(&passes, with: outcome, at: &time)
        (call.first, call.time, call.isFirstUnderWay) = (passes, time, false)
    }

    /// Ends the first attempt of a call, which has failed. The call itself has not ended.
    @usableFromInline
    func _attemptFailed(_ call: inout _PolicyCall, _ error: any Error) {
        call.time = PolicyTime()
        firstEnded(&call, with: call.isFirstUnderWay ? _outcome(of: error, &call) : .unknown)
    }

    /// Ends a call that has failed.
    ///
    /// - Returns: The error for the caller: `CancellationError` if the current task is cancelled, otherwise `error`.
    @usableFromInline
    func _failed(_ call: inout _PolicyCall, _ error: any Error) -> any Error {
        _leave(&call, _outcome(of: error, &call))
        return _isTaskCancelled ? CancellationError() : error
    }

    /// Ends a call: it leaves all parts that it has entered.
    @usableFromInline
    package func _leave(_ call: inout _PolicyCall, _ outcome: PolicyOutcome) {
        call.time = PolicyTime()
        leave(&call, outcome)
    }

    @inline(__always)
    private func leave(_ call: inout _PolicyCall, _ outcome: PolicyOutcome) {
        var (passes, time) = (call.passes, call.time)
        leaveBreaker(&call, outcome, at: &time)
        parts.calls.leave(&passes, with: outcome, at: &time)
        (call.passes, call.time) = (passes, time)
    }

    /// Tells the breaker the outcome of a call, which may not have ended yet.
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
        let (admission, callTime) = call.change { record in
            defer { record.admission = nil }
            return (record.admission, record.time)
        }
        if parts.tellsTime { time.underWay = callTime.underWay(at: parts.now(&time)) }
        if let admission { parts.breaker?.with { $0.leave(admission, with: outcome, at: &time) } }
    }

    // MARK: The time of an attempt

    @inline(__always)
    private func began(_ call: inout some _AdmittedCall, at time: inout PolicyTime) {
        let now = call.change { $0.time.isMeasured } ? parts.now(&time) : nil
        call.change { $0.time.attemptBegan(at: now) }
    }

    @inline(__always)
    private func ended(_ call: inout some _AdmittedCall, at time: inout PolicyTime) {
        let now = call.change { $0.time.isMeasured } ? parts.now(&time) : nil
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
        let outcome = PolicyOutcome(of: error) { _hasFairShare(&call) }
        if case .failed(let error) = outcome { return judge(error) }
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
