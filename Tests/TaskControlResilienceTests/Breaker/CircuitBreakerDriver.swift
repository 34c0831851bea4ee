import TestSupport
import Testing

@testable import TaskControlResilience

/// A circuit that keeps a list of everything, and searches it for each answer: what the state machine must do.
///
/// Times are in ticks.
struct CircuitBreakerModel: Hashable {
    enum Status: Hashable {
        case closed, open(until: Int), probing
    }

    struct Call: Hashable {
        let begun: Int
        var isOfThisGeneration = true
        let isProbe: Bool
        /// `nil`: the lease has expired.
        var leaseEnd: Int?
    }

    struct Outcome: Hashable {
        let bucket: Int
        let isFailure: Bool
    }

    static let (buckets, width, openDuration, minimumCalls, verdictless) = (2, 2, 3, 2, 2)

    let probes: Int
    let slowCall: Int?
    var now = 0
    var status = Status.closed
    var outcomes: [Outcome] = []
    var bucket = 0
    var bucketEnd = Self.width
    /// The calls that have not ended, in the order in which they began.
    var calls: [Call] = []
    var successes = 0
    var timely = 0
    /// When the last failure was counted, if the circuit has not closed since.
    var lastFailure: Int?

    /// Whether earlier calls matter: the window, which is longer than the time for which the circuit is open, could still
    /// contain a failure.
    var hasHistory: Bool {
        !livingLeases.isEmpty || lastFailure.map { now < $0 + Self.width * Self.buckets } ?? false
    }

    var livingLeases: [Int] { calls.compactMap { $0.isOfThisGeneration ? $0.leaseEnd : nil }.filter { $0 > now } }

    mutating func expireLeases() {
        for index in calls.indices where calls[index].isOfThisGeneration {
            guard let end = calls[index].leaseEnd, end <= now else { continue }
            calls[index].leaseEnd = nil
            timely = 0
        }
    }

    mutating func change(to next: Status) {
        status = next
        (outcomes, successes, timely) = ([], 0, 0)
        for index in calls.indices { calls[index].isOfThisGeneration = false }
    }

    /// - Returns: `nil`: admitted, or the time after which to come back.
    mutating func admit() -> Int? {
        if case .open(let end) = status {
            if now < end { return end - now }
            change(to: .probing)
        }
        if status == .closed {
            calls.append(Call(begun: now, isProbe: false))
            return nil
        }
        expireLeases()
        guard successes + livingLeases.count < probes else { return livingLeases.min()! - now }
        calls.append(Call(begun: now, isProbe: true, leaseEnd: now + Self.openDuration))
        return nil
    }

    /// The time after which the circuit may admit a call; `nil`: now.
    var refusal: Int? {
        switch status {
        case .closed: nil
        case .open(let end): now < end ? end - now : nil
        case .probing: successes + livingLeases.count < probes ? nil : livingLeases.min()! - now
        }
    }

    /// Whether the admission of a call still holds.
    func isCurrent(_ call: Call) -> Bool {
        call.isOfThisGeneration && (!call.isProbe || call.leaseEnd.map { $0 > now } == true)
    }

    mutating func report(_ outcome: CallOutcome, at index: Int) -> CircuitBreakerStateMachine.Change? {
        let call = calls[index]
        guard call.isOfThisGeneration else {
            calls.remove(at: index)
            return nil
        }
        let isSlow = outcome != .unknown && slowCall.map { now - call.begun >= $0 } ?? false
        let outcome = isSlow ? .failed : outcome
        guard status == .probing else {
            calls.remove(at: index)
            return count(outcome)
        }
        expireLeases()
        let isTimely = calls[index].leaseEnd != nil
        calls.remove(at: index)
        switch outcome {
        case .failed: return open()
        case .healthy:
            (successes, timely) = (successes + 1, 0)
            return successes >= probes ? close() : nil
        case .unknown:
            if isTimely { timely += 1 }
            return timely >= Self.verdictless ? close() : nil
        }
    }

    private mutating func count(_ outcome: CallOutcome) -> CircuitBreakerStateMachine.Change? {
        if outcome == .unknown { return nil }
        if now >= bucketEnd {
            let passed = (now - bucketEnd) / Self.width + 1
            bucket += passed
            bucketEnd = passed > Self.buckets ? now + Self.width : bucketEnd + passed * Self.width
        }
        outcomes.removeAll { $0.bucket <= bucket - Self.buckets }
        outcomes.append(Outcome(bucket: bucket, isFailure: outcome == .failed))
        if outcome == .failed { lastFailure = now }
        let failures = outcomes.count(where: \.isFailure)
        guard outcome == .failed, outcomes.count >= Self.minimumCalls, 2 * failures >= outcomes.count else {
            return nil
        }
        return open()
    }

    private mutating func open() -> CircuitBreakerStateMachine.Change {
        change(to: .open(until: now + Self.openDuration))
        lastFailure = now
        return .opened
    }

    private mutating func close() -> CircuitBreakerStateMachine.Change {
        change(to: .closed)
        lastFailure = nil
        return .closed
    }

    /// The number of failures in the window.
    var currentFailures: Int {
        let passed = now < bucketEnd ? 0 : (now - bucketEnd) / Self.width + 1
        return outcomes.count { $0.isFailure && $0.bucket > bucket + passed - Self.buckets }
    }

    var state: CircuitBreakerStateMachine.State {
        switch status {
        case .closed: .closed
        case .open(let end): .open(retryAfter: .seconds(max(0, end - now)))
        case .probing: livingLeases.isEmpty ? .open(retryAfter: .zero) : .halfOpen
        }
    }

    /// The same model with time counted from now.
    var relative: CircuitBreakerModel {
        var model = self
        if case .open(let end) = status { model.status = .open(until: max(0, end - now)) }
        model.outcomes = outcomes.map { Outcome(bucket: $0.bucket - bucket, isFailure: $0.isFailure) }
        model.calls = calls.map {
            Call(
                begun: slowCall == nil ? 0 : max(-9, $0.begun - now),
                isOfThisGeneration: $0.isOfThisGeneration,
                isProbe: $0.isProbe,
                leaseEnd: $0.isOfThisGeneration ? $0.leaseEnd.map { max(0, $0 - now) } : nil
            )
        }
        (model.bucket, model.bucketEnd, model.now) = (0, max(-9, bucketEnd - now), 0)
        model.lastFailure = lastFailure.map { max(-9, $0 - now) }
        return model
    }
}

enum CircuitBreakerEvent: Hashable {
    case admit
    case report(Int, CallOutcome)
    case withdraw(Int)
    case tick
}

/// Plays events to the machine and to the model, and compares what they answer.
struct CircuitBreakerDriver: MachineDriver {
    private var machine: CircuitBreakerStateMachine
    private(set) var model: CircuitBreakerModel
    /// The permits of the calls of the model.
    private var permits: [CircuitBreakerStateMachine.Permit] = []

    init(probes: Int, slowCall: Int?) {
        model = CircuitBreakerModel(probes: probes, slowCall: slowCall)
        machine = CircuitBreakerStateMachine(
            CircuitBreakerStateMachine.Configuration(
                failureThreshold: 0.5,
                window: .seconds(CircuitBreakerModel.width * CircuitBreakerModel.buckets),
                buckets: CircuitBreakerModel.buckets,
                minimumCalls: CircuitBreakerModel.minimumCalls,
                openDuration: .seconds(CircuitBreakerModel.openDuration),
                probes: probes,
                slowCall: slowCall.map { .seconds($0) },
                probesWithoutVerdict: CircuitBreakerModel.verdictless
            )
        )
    }

    var signature: Int { model.relative.hashValue }

    func possibleEvents(calls: Int) -> [CircuitBreakerEvent] {
        let reports: [CircuitBreakerEvent] = permits.indices.flatMap { index in
            CallOutcome.allCases.map { .report(index, $0) }
        }
        return [.tick] + (permits.count < calls ? [.admit] : []) + reports + permits.indices.map { .withdraw($0) }
    }

    mutating func play(_ event: CircuitBreakerEvent) {
        let now = Duration.seconds(model.now)
        switch event {
        case .tick: model.now += 1
        case .admit:
            let expected = model.admit()
            // A closed circuit that measures no durations does not need the time.
            if let permit = machine.admitWhileClosed() {
                #expect(expected == nil && model.status == .closed && model.slowCall == nil)
                permits.append(permit)
                break
            }
            switch machine.admit(at: now, lease: nil) {
            case .admitted(let permit):
                #expect(expected == nil && model.status == .closed)
                permits.append(permit)
            case .probe(let permit):
                #expect(expected == nil && model.status == .probing)
                permits.append(permit)
            case .refused(let retryAfter):
                #expect(expected.map { .seconds($0) } == retryAfter)
            }
        case .withdraw(let index):
            machine.withdraw(permits.remove(at: index))
            model.calls.remove(at: index)
        case .report(let index, let outcome):
            let expected = model.report(outcome, at: index)
            let change = machine.report(outcome, of: permits.remove(at: index), at: now)
            #expect(change == expected)
        }
        let state = machine.state(at: .seconds(model.now))
        #expect(state == model.state)
        #expect((state == .halfOpen) == !model.livingLeases.isEmpty, "half-open only with a living lease")
        #expect(machine.refusal(at: .seconds(model.now)) == model.refusal.map { .seconds($0) })
        for (permit, call) in zip(permits, model.calls) {
            #expect(machine.isCurrent(permit, at: .seconds(model.now)) == model.isCurrent(call))
        }
        let hasHistory = machine.hasHistory(at: .seconds(model.now))
        #expect(hasHistory == model.hasHistory)
        if !hasHistory {
            #expect(model.currentFailures == 0, "a window with failures matters")
            #expect(state == .closed || state == .open(retryAfter: .zero), "a circuit that refuses calls matters")
        }
        machine.checkInvariants()
    }
}
