internal import TaskControl

/// A circuit breaker, which refuses calls to a service that fails, so that callers fail early and the service can recover.
///
/// ```swift
/// let breaker = CircuitBreaker(name: "search", failureThreshold: 0.5, minimumCalls: 20)      // one per service
///
/// func search(_ text: String) async throws -> [Hit] {
///     try await withPolicy(breaker) {
///         try await withTimeout(.seconds(2)) { try await server.search(text) }
///     }
/// }
/// ```
///
/// The breaker is *closed* while the service works: it counts the calls within the last `window` (a parameter of the
/// initializer), and how many of them failed. When too many have failed, the breaker is *open* for `openDuration`
/// (another parameter): it refuses calls with a ``CallRefusedError``. With the next call
/// after that time, the breaker becomes *half-open*: it admits a few calls, called *probes*, and refuses the others.
/// When enough probes have succeeded (by default one), the breaker closes. When a probe fails, the breaker opens again.
///
/// Give each call a time limit or a deadline, inside the breaker as above or around it: a call that hangs without a limit
/// never ends, so it never counts as a failure.
///
/// ## Probes
/// A probe has a limited time to end: `openDuration`, or less if the deadline of its caller (`Task.currentDeadline`) is
/// earlier. When that time is over, the next call becomes a probe, so a probe that hangs does not keep the breaker
/// half-open. The late outcome of such a probe still counts, unless the breaker has closed or opened in the meantime.
///
/// A probe that does not count (see below), for example because its caller was cancelled, gives no information about
/// the service, and the next call becomes a probe. When three probes in a row end in this way within their time, the
/// breaker nevertheless closes, so that callers that always leave early do not keep it open.
///
/// The outcome of a call that began before the last change of the state is ignored: it describes the service before the
/// change.
///
/// ## What counts
/// - A call that returns a value counts as a success, even if its caller was cancelled.
/// - A call that a deadline or a time limit *around* it has ended counts as a failure, for which `isFailure` (a parameter
///   of the initializer) receives a `DeadlineExceededError`, if the service had a fair share of its time: if its attempts
///   were under way for at least half of the time from its beginning to its end. Waits for a part of a
///   ``ResiliencePolicy`` and delays between attempts are not time of an attempt. In ``withPolicy(_:operation:)`` all of
///   its time is, unless the limit has ended it in a wait of the operation for a permit or a token. The cancellation by a *time limit*
///   does not count in a task of `async let` or of a task group, whose cause Swift does not state. (A service that hangs uses all the time that it gets, so half of it is enough to notice that, and a call
///   that mostly waited for a permit says nothing about the service.)
/// - Any other call that throws an error does not count if its caller was cancelled, if another policy of this module
///   refused the call, or if the error is an interruption: a `CancellationError`, whether or not the caller was cancelled.
/// - Any other call that throws an error counts as a failure if `isFailure` returns `true` for the error. If it returns
///   `false`, the call counts as a success: the service has answered, for example with a response that rejects the
///   request.
/// - A call that counts, by the rules above, and whose attempts were under way for `slowCall` (a parameter of the
///   initializer) or longer in sum counts as a failure.
///
/// The breaker has no timer and no task: it looks at the clock when it is called. Safe to use from any thread and any
/// isolation.
///
/// ## Cancellation
/// See ``withPolicy(_:operation:)``.
///
/// ## Ordering
/// Calls do not wait for each other. The outcomes count in the order in which the calls end.
public final class CircuitBreaker: PolicyPart {
    /// The state of a breaker.
    @nonexhaustive
    public enum State: Hashable, Sendable {
        /// The breaker admits all calls.
        case closed
        /// The breaker refuses calls for the time `retryAfter`, counted from the moment at which the state was read. If
        /// the time is zero, the breaker admits the next call as a probe.
        case open(retryAfter: Duration)
        /// The breaker has admitted calls as probes, whose outcomes decide whether it closes or opens again. While
        /// enough probes run, it refuses other calls.
        case halfOpen
    }

    /// The name shown in diagnostics; `nil` if the breaker has none.
    public var name: String? { source.name }
    private let source: EventSource
    private let machine: Locked<CircuitBreakerStateMachine>
    private let isFailure: @Sendable (any Error) -> Bool
    /// The time since the creation of the breaker.
    let stopwatch: Stopwatch
    /// Whether the duration of a call counts: `slowCall` was passed.
    let countsSlowCalls: Bool

    /// Creates a closed breaker.
    ///
    /// The defaults are those of Polly 8 (`CircuitBreakerStrategyOptions`): the breaker opens for 5 seconds when 10 %
    /// of at least 100 calls in 30 seconds have failed, and closes when one probe succeeds. A service with few calls
    /// needs a lower `minimumCalls`, together with a higher `failureThreshold`.
    ///
    /// - Parameters:
    ///   - name: The name shown in diagnostics; `nil` if the breaker has none.
    ///   - failureThreshold: The share of failures among the calls in the window at which the breaker opens. 0
    ///     or less counts as the smallest share, one failure, more than 1 as 1, and NaN as the default.
    ///   - window: The time for which an outcome counts, with a precision of a tenth of the window. Less than a
    ///     nanosecond counts as one.
    ///   - minimumCalls: The number of calls in the window below which the breaker stays closed. Less than 1 counts
    ///     as 1.
    ///   - openDuration: The time for which the breaker refuses all calls after it has opened. Less than a nanosecond
    ///     counts as one.
    ///   - probes: The number of probes that must succeed to close the breaker. Also the largest number of probes that
    ///     run at the same time. Less than 1 counts as 1.
    ///   - slowCall: A call whose attempts take this long or longer in sum counts as a failure, even if it succeeds.
    ///     `nil`, the default: durations do not count. Less than a nanosecond counts as one.
    ///   - isFailure: Returns whether a call that throws an error counts as a failure; `false`: it counts as a success.
    ///     By default `true` for every error. Not called for the calls that do not count: see "What counts" in
    ///     ``CircuitBreaker``.
    ///   - clock: Measures the durations.
    public init(
        name: String? = nil,
        failureThreshold: Double = 0.1,
        window: Duration = .seconds(30),
        minimumCalls: Int = 100,
        openDuration: Duration = .seconds(5),
        probes: Int = 1,
        slowCall: Duration? = nil,
        isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true },
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        source = EventSource(.circuitBreaker, name: name)
        machine = Locked(
            CircuitBreakerStateMachine(
                CircuitBreakerStateMachine.Configuration(
                    failureThreshold: ComputedNumber.number(
                        failureThreshold,
                        in: .leastNonzeroMagnitude...1,
                        default: 0.1,
                        "CircuitBreaker(failureThreshold:)",
                        .circuitBreaker
                    ),
                    window: ComputedNumber.duration(window, "CircuitBreaker(window:)", .circuitBreaker),
                    minimumCalls: ComputedNumber.count(minimumCalls, "CircuitBreaker(minimumCalls:)", .circuitBreaker),
                    openDuration: ComputedNumber.duration(
                        openDuration,
                        "CircuitBreaker(openDuration:)",
                        .circuitBreaker
                    ),
                    probes: ComputedNumber.count(probes, "CircuitBreaker(probes:)", .circuitBreaker),
                    slowCall: slowCall.map {
                        ComputedNumber.duration($0, "CircuitBreaker(slowCall:)", .circuitBreaker)
                    }
                )
            )
        )
        self.isFailure = isFailure
        countsSlowCalls = slowCall != nil
        stopwatch = Stopwatch(clock)
        source.emit(.created)
    }

    deinit { source.emit(.deallocated) }

    /// The current state. It may have changed by the time the caller uses it.
    public var state: State {
        let now = stopwatch.now
        return switch machine.withLock({ $0.state(at: now) }) {
        case .closed: .closed
        case .open(let retryAfter): .open(retryAfter: retryAfter)
        case .halfOpen: .halfOpen
        }
    }

    package var hasHistory: Bool {
        let now = stopwatch.now
        return machine.withLock { $0.hasHistory(at: now) }
    }

    /// The admission of a call.
    public struct Pass: Sendable {
        fileprivate let permit: CircuitBreakerStateMachine.Permit
    }

    /// Admits a call, unless the breaker refuses it with ``CallRefusedError/Reason/circuitOpen``.
    public func enter(at time: inout PolicyTime) throws -> Pass? {
        if let permit = machine.withLock({ $0.admitWhileClosed() }) { return Pass(permit: permit) }
        let (now, limit) = (stopwatch.now(&time.reading), remainingTime())
        let (admission, moment) = machine.withLock { ($0.admit(at: now, lease: limit), Diagnostics.moment) }
        return try admitted(admission, moment)
    }

    private func admitted(_ admission: CircuitBreakerStateMachine.Admission, _ moment: EventMoment?) throws -> Pass {
        switch admission {
        case .admitted(let permit): return Pass(permit: permit)
        case .probe(let permit):
            source.emit(.probing, at: moment)
            return Pass(permit: permit)
        case .refused(let retryAfter): throw refusal(retryAfter, moment)
        }
    }

    private func refusal(_ retryAfter: Duration, _ moment: EventMoment?) -> CallRefusedError {
        source.emit(.callRefused, delay: retryAfter, at: moment)
        return CallRefusedError(.circuitOpen, name: name, retryAfter: retryAfter)
    }

    /// Counts the outcome of a call.
    public func leave(_ pass: Pass, with outcome: PolicyOutcome, at time: inout PolicyTime) {
        let counted = outcome.counted { isFailure($0) }
        let now = stopwatch.now(&time.reading)
        let underWay = time.underWay
        let (change, moment) = machine.withLock {
            ($0.report(counted, of: pass.permit, at: now, underWay: underWay), Diagnostics.moment)
        }
        switch change {
        case nil: return
        case .opened: source.emit(.circuitOpened, at: moment)
        case .closed: source.emit(.circuitClosed, at: moment)
        }
    }
}

/// The breaker of a policy, which admits a call once, although the call asks it at each of its attempts.
extension CircuitBreaker {
    /// Admits a call, unless it has been admitted, and the circuit has not changed while one of its attempts waited.
    ///
    /// - Parameters:
    ///   - call: The call. Records the admission, or that the breaker has refused it.
    ///   - isAfterWait: Whether the attempt that asks has waited.
    ///   - time: The time of the attempt.
    @inline(__always)
    func admit(_ call: inout some _AdmittedCall, isAfterWait: Bool, at time: inout PolicyTime) throws {
        let isAdmitted = call.change { record in
            if record.isReported { return true }
            if record.admission != nil { return !isAfterWait }
            guard let permit = machine.withLock({ $0.admitWhileClosed() }) else { return false }
            (record.admission, record.isRefused) = (Pass(permit: permit), false)
            return true
        }
        if !isAdmitted { try admitNow(&call, at: &time) }
    }

    @inline(never)
    private func admitNow(_ call: inout some _AdmittedCall, at time: inout PolicyTime) throws {
        let (now, limit) = (stopwatch.now(&time.reading), remainingTime())
        // The lock of the machine inside that of the record: two attempts that ask at the same time are one call.
        let (admission, moment): (CircuitBreakerStateMachine.Admission?, EventMoment?) = call.change { record in
            machine.withLock {
                if let held = record.admission, $0.isCurrent(held.permit, at: now) { return (nil, nil) }
                let admission = $0.admit(at: now, lease: limit)
                // The admission of a call that is refused now is kept: the outcome of its earlier attempts counts.
                if let permit = admission.permit { record.admission = Pass(permit: permit) }
                record.isRefused = admission.permit == nil
                return (admission, Diagnostics.moment)
            }
        }
        if let admission { _ = try admitted(admission, moment) }
    }

    /// Takes back the admission of a call of which no attempt has begun, so that it gives no information, not even by its end.
    func withdraw(_ pass: Pass) { machine.withLock { $0.withdraw(pass.permit) } }

    /// Throws if the breaker refuses calls, and has not admitted this one.
    func checkAdmits(_ call: inout some _AdmittedCall) throws {
        guard call.change({ $0.admission == nil && !$0.isReported }) else { return }
        let now = stopwatch.now
        let (retryAfter, moment) = machine.withLock { ($0.refusal(at: now), Diagnostics.moment) }
        guard let retryAfter else { return }
        call.change { $0.isRefused = true }
        throw refusal(retryAfter, moment)
    }
}
