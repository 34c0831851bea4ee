/// The state of a ``CircuitBreaker``: decides from the outcomes of earlier calls whether a call may be made. Pure: a value without a lock, task or
/// closure.
///
///     closed ──too many failures──▶ open ──time──▶ probing ──probes succeed──▶ closed
///                                     ▲               │
///                                     └──a probe fails┘
///
/// Each change of the circuit begins a new *generation*: the outcome of a call of an earlier generation is ignored, since it says what the service
/// was like before. `open` and the `probing` that follows it differ in generation too.
///
/// A probe holds a *lease*: the time for which the machine waits for its outcome. While there is no unexpired lease,
/// the circuit is open, not half-open, and the next call becomes a probe. So no probe, whether it is cancelled, ignored
/// or hangs, keeps other calls out forever.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. Only a circuit that is probing has leases, at most as many as there are probes.
/// 2. The leases have different numbers.
/// 3. A closed circuit opens at the first failure for which the share of failures has reached the threshold: see
///    `report`.
struct CircuitBreakerStateMachine: Sendable {
    struct Configuration: Sendable {
        var failureThreshold: Double
        var window: Duration
        var buckets = 10
        var minimumCalls: Int
        var openDuration: Duration
        var probes: Int
        var slowCall: Duration?
        /// The number of probes in a row without a verdict after which the circuit closes. A probe has no verdict if it
        /// is cancelled before the time that it may take (its lease) is over.
        var probesWithoutVerdict = 3
    }

    private struct Outcomes: AdditiveArithmetic {
        static let zero = Outcomes(calls: 0, failures: 0)

        var calls: Int
        var failures: Int

        static func + (a: Self, b: Self) -> Self { Self(calls: a.calls + b.calls, failures: a.failures + b.failures) }
        static func - (a: Self, b: Self) -> Self { Self(calls: a.calls - b.calls, failures: a.failures - b.failures) }
    }

    private struct Lease {
        let number: UInt64
        let end: Duration
    }

    private enum Phase {
        case closed, open(until: Duration), probing
    }

    /// The admission of a call, which must be passed to `report(_:of:at:)` with the outcome of the call.
    struct Permit: Sendable {
        fileprivate let generation: UInt64
        /// The number of the lease, if the call is a probe; otherwise `nil`.
        fileprivate var lease: UInt64?
        /// The time at which the call began; `nil` if the duration of calls does not count.
        fileprivate var begun: Duration?
    }

    enum Admission: Sendable {
        case admitted(Permit)
        /// The call is admitted as a probe.
        case probe(Permit)
        case refused(retryAfter: Duration)

        /// The admission; `nil` if the call is refused.
        var permit: Permit? {
            switch self {
            case .admitted(let permit), .probe(let permit): permit
            case .refused: nil
            }
        }
    }

    enum Change: Hashable, Sendable {
        case opened, closed
    }

    enum State: Hashable, Sendable {
        case closed, open(retryAfter: Duration), halfOpen
    }

    private let configuration: Configuration
    private var phase = Phase.closed
    private var generation: UInt64 = 0
    private var window: SlidingWindow<Outcomes>
    private var leases: [Lease] = []
    private var nextLease: UInt64 = 0
    /// The number of probes that have succeeded since the circuit began to probe.
    private var successes = 0
    /// The number of probes in a row that ended without a verdict before their leases ended.
    private var withoutVerdict = 0
    /// The time at which the circuit, without further calls, has no history any more: the failures have left the window, and
    /// would have left it if they had not opened the circuit.
    private var historyEnd = Duration.zero

    init(_ configuration: Configuration) {
        self.configuration = configuration
        window = SlidingWindow(length: configuration.window, buckets: configuration.buckets)
    }

    // MARK: Calls

    /// Admits a call if that can be decided without reading the clock.
    ///
    /// - Returns: The admission; `nil` if the current time is needed: the caller must then call `admit(at:lease:)`.
    @inline(__always)
    func admitWhileClosed() -> Permit? {
        guard case .closed = phase, configuration.slowCall == nil else { return nil }
        return Permit(generation: generation)
    }

    /// Admits or refuses a call.
    ///
    /// - Parameters:
    ///   - now: The current time, counted from the creation of the breaker.
    ///   - limit: The longest time for which a probe may hold its lease, if that is shorter than `openDuration`; `nil` for no such limit.
    /// - Complexity: O(*n*) in the number of probes.
    mutating func admit(at now: Duration, lease limit: Duration?) -> Admission {
        switch phase {
        case .closed: return .admitted(Permit(generation: generation, begun: begin(at: now)))
        case .open(let end):
            if now < end { return .refused(retryAfter: end - now) }
            begin(.probing)
        case .probing: expireLeases(at: now)
        }
        if let wait = waitForProbe(at: now) { return .refused(retryAfter: wait) }
        let length = max(.zero, min(limit ?? configuration.openDuration, configuration.openDuration))
        nextLease += 1
        leases.append(Lease(number: nextLease, end: now + length))
        return .probe(Permit(generation: generation, lease: nextLease, begun: begin(at: now)))
    }

    /// Returns the time after which a call may become a probe of a circuit that is probing; `nil` if it may now. The
    /// leases that have expired are not counted.
    private func waitForProbe(at now: Duration) -> Duration? {
        let ends = leases.map(\.end).filter { $0 > now }
        guard successes + ends.count >= configuration.probes else { return nil }
        // There is a lease: enough successes would have closed the circuit.
        return (ends.min() ?? now) - now
    }

    /// Returns the time after which the circuit may admit a call that it refuses now; `nil` if it would admit the call.
    /// Nothing changes.
    func refusal(at now: Duration) -> Duration? {
        switch phase {
        case .closed: nil
        case .open(let end): now < end ? end - now : nil
        case .probing: waitForProbe(at: now)
        }
    }

    /// Returns whether an admission still holds: the circuit has not changed since, and a probe has time left.
    func isCurrent(_ permit: Permit, at now: Duration) -> Bool {
        guard permit.generation == generation else { return false }
        guard let number = permit.lease else { return true }
        return leases.contains { $0.number == number && $0.end > now }
    }

    private func begin(at now: Duration) -> Duration? { configuration.slowCall == nil ? nil : now }

    /// Records the outcome of a call.
    ///
    /// - Parameter underWay: The time in which attempts of the call were under way, without its waits; `nil`: all of its time.
    /// - Returns: The change of the circuit; `nil` if it has not changed.
    /// - Complexity: O(*n*) in the number of probes.
    mutating func report(
        _ outcome: CallOutcome,
        of permit: Permit,
        at now: Duration,
        underWay: Duration? = nil
    ) -> Change? {
        guard permit.generation == generation else { return nil }
        var outcome = outcome
        if let slowCall = configuration.slowCall, outcome != .unknown, let begun = permit.begun,
            underWay ?? (now - begun) >= slowCall
        {
            outcome = .failed
        }
        switch phase {
        case .closed: return count(outcome, at: now)
        case .open: return nil
        case .probing: return judge(outcome, of: permit, at: now)
        }
    }

    /// Takes back the admission of a call that was not made. If the call was admitted as a probe, the next call may be one.
    mutating func withdraw(_ permit: Permit) {
        guard permit.generation == generation, let lease = permit.lease else { return }
        leases.removeAll { $0.number == lease }
    }

    /// Counts the outcome of a call while the circuit is closed, and opens the circuit if too many calls have failed.
    private mutating func count(_ outcome: CallOutcome, at now: Duration) -> Change? {
        guard outcome != .unknown else { return nil }
        window.move(to: now)
        window.add(Outcomes(calls: 1, failures: outcome == .failed ? 1 : 0), to: window.current)
        // A success never opens the circuit, even if it is the call with which the number of calls reaches
        // `minimumCalls`.
        guard outcome == .failed else { return nil }
        historyEnd = now + configuration.window
        guard isTooMuch(window.total) else { return nil }
        return open(at: now)
    }

    private func isTooMuch(_ outcomes: Outcomes) -> Bool {
        // A quotient of integers is as exact as the literal that it is compared with; a product is not.
        outcomes.calls >= configuration.minimumCalls
            && Double(outcomes.failures) / Double(outcomes.calls) >= configuration.failureThreshold
    }

    /// Decides by the outcome of a probe whether the circuit closes, opens, or continues to probe.
    ///
    /// The outcome of a probe whose lease has expired counts too: a service whose answers take longer than `openDuration` must not keep the circuit
    /// open forever.
    private mutating func judge(_ outcome: CallOutcome, of permit: Permit, at now: Duration) -> Change? {
        expireLeases(at: now)
        let index = leases.firstIndex { $0.number == permit.lease }
        if let index { leases.remove(at: index) }
        switch outcome {
        case .failed: return open(at: now)
        case .healthy:
            withoutVerdict = 0
            successes += 1
            return successes >= configuration.probes ? close() : nil
        case .unknown:
            guard index != nil else { return nil }
            withoutVerdict += 1
            return withoutVerdict >= configuration.probesWithoutVerdict ? close() : nil
        }
    }

    private mutating func expireLeases(at now: Duration) {
        let count = leases.count
        leases.removeAll { $0.end <= now }
        // A probe that hangs is no sign of health.
        if leases.count < count { withoutVerdict = 0 }
    }

    // MARK: The circuit

    private mutating func open(at now: Duration) -> Change {
        begin(.open(until: now + configuration.openDuration))
        historyEnd = now + max(configuration.openDuration, configuration.window)
        return .opened
    }

    private mutating func close() -> Change {
        begin(.closed)
        historyEnd = .zero
        return .closed
    }

    private mutating func begin(_ next: Phase) {
        phase = next
        generation += 1
        window.removeAll()
        leases = []
        successes = 0
        withoutVerdict = 0
    }

    /// Returns whether earlier calls still matter at the time `now`: the window contains failures, the circuit has opened
    /// because of failures that it could still contain, or a probe runs.
    func hasHistory(at now: Duration) -> Bool { now < historyEnd || leases.contains { $0.end > now } }

    /// Returns the state of the circuit at the time `now`, counted from the creation of the breaker.
    func state(at now: Duration) -> State {
        switch phase {
        case .closed: .closed
        case .open(let end): .open(retryAfter: max(.zero, end - now))
        case .probing: leases.contains { $0.end > now } ? .halfOpen : .open(retryAfter: .zero)
        }
    }
}

extension CircuitBreakerStateMachine {
    /// Traps if an invariant does not hold.
    func checkInvariants() {
        window.checkInvariants()
        precondition(leases.count <= configuration.probes, "there are at most as many leases as probes")
        precondition(Set(leases.map(\.number)).count == leases.count, "leases have different numbers")
        precondition(successes < configuration.probes, "enough probes that succeed close the circuit")
        precondition(withoutVerdict < configuration.probesWithoutVerdict, "enough timely probes close the circuit")
        if case .probing = phase { return }
        precondition(
            leases.isEmpty && successes == 0 && withoutVerdict == 0,
            "only a circuit that is probing has probes"
        )
    }
}
