import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct AdmissionStateMachineTests {
    private typealias Machine = AdmissionStateMachine<Int>

    /// Every sequence of events with few callers agrees with the model; sequences that lead to the same state continue as one.
    @Test(arguments: [1, 2])
    func everyShortSequenceAgreesWithTheModel(limit: Int) {
        let steps = AdmissionDriver(limit: limit).playEverySequence(upTo: fullSize(11, inDebug: 8)) {
            $0.possibleEvents(callers: 6)
        }
        #expect(steps > 1_000)
    }

    @Test(arguments: Schedules.seeds(40, inDebug: 8))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = AdmissionDriver(limit: [1, 2, 5][Int(seed % 3)])
        for _ in 0..<600 { driver.play(driver.possibleEvents(callers: 200).randomElement(using: &random)!) }
    }

    private func machine(limit: Int, running: Int, after duration: Duration = .seconds(1)) -> Machine {
        var machine = Machine(.init(minimum: limit, maximum: limit, initial: limit))
        // A window, so that the machine knows how long calls take.
        for number in 1...20 {
            let permit = machine.admitAtOnce(at: duration * (number - 1))!
            _ = machine.end(permit, .sample, at: duration * number)
        }
        for _ in 0..<running { _ = machine.admitAtOnce(at: duration * 20) }
        return machine
    }

    @Test func aCallerIsRefusedIfItsDeadlineIsNearerThanItsTurn() {
        var machine = machine(limit: 2, running: 2)
        // One caller needs half a second until one of the two calls has ended.
        guard case .refused(let retryAfter) = machine.admit(at: .seconds(20), within: .milliseconds(400), draw: 0.9)
        else {
            Issue.record("its deadline would pass")
            return
        }
        #expect((0.45...0.55).contains(retryAfter! / .seconds(1)))
        guard case .line = machine.admit(at: .seconds(20), within: .milliseconds(600), draw: 0.9) else {
            Issue.record("it has time")
            return
        }
        guard case .refused = machine.admit(at: .seconds(20), within: .milliseconds(600), draw: 0.9) else {
            Issue.record("another caller is before it")
            return
        }
    }

    /// Without a measurement only a deadline that has passed is certain.
    @Test func aCallerWaitsIfNothingIsKnown() {
        var machine = Machine(.init(minimum: 1, maximum: 1, initial: 1))
        _ = machine.admitAtOnce(at: .zero)
        guard case .line = machine.admit(at: .zero, within: .nanoseconds(1), draw: 0) else {
            Issue.record("nobody knows how long it waits")
            return
        }
        guard case .refused(nil) = machine.admit(at: .zero, within: .zero, draw: 0) else {
            Issue.record("its deadline has passed")
            return
        }
    }

    @Test func theLineIsBounded() {
        var machine = machine(limit: 4, running: 4)
        for number in 0..<40 {
            let draw = 0.5
            let answer = machine.admit(at: .seconds(20), within: nil, draw: draw)
            // At ten callers the share of refused calls is a half.
            if case .line = answer { #expect(number <= 10) } else { #expect(number > 10) }
            machine.checkInvariants()
        }
        #expect(machine.waiterCount == 11)
    }

    /// The limit falls while calls run and wait: no caller receives a permit that is no longer there.
    @Test func aLowerLimitGrantsNothing() {
        var machine = Machine(.init(minimum: 1, maximum: 8, initial: 8))
        var permits = (0..<8).map { _ in machine.admitAtOnce(at: .zero)! }
        for number in 0..<12 {
            guard case .line(let id) = machine.admit(at: .zero, within: nil, draw: 0.9) else { break }
            _ = machine.park(id, number)
        }
        var granted: [Int] = []
        for second in 1...200 {
            guard let permit = permits.popLast() else { break }
            let change = machine.end(permit, .drop, at: .seconds(second))
            granted += change.granted
            #expect(change.granted.isEmpty || machine.running <= machine.limit)
            permits += change.granted.map { _ in machine.begin(at: .seconds(second)) }
            machine.checkInvariants()
        }
        #expect(machine.limit < 8)
        #expect(granted == Array(granted.indices), "in the order of the calls")
    }
}

private enum AdmissionEvent: Hashable {
    case admit(hasTime: Bool, draw: Double), park(Int), leave(Int), end(Int, isUsed: Bool)
}

/// Lists that are searched for each answer. The limit is constant: the tests of `AdaptiveLimitStateMachine` and `PermitStateMachine` change it.
private struct AdmissionModel: Hashable {
    let limit: Int
    var running: [Int] = []
    var line: [Int] = []
    var parked: Set<Int> = []
    /// The callers that were granted a permit, or have left, before they parked.
    var settled: [Int: WaitOutcome] = [:]
}

private struct AdmissionDriver: MachineDriver {
    private var machine: AdmissionStateMachine<Int>
    private var model: AdmissionModel
    private var ids: [Int: AdmissionStateMachine<Int>.Permits.ID] = [:]
    private var permits: [Int: AdmissionStateMachine<Int>.Permit] = [:]
    private var callers = 0

    init(limit: Int) {
        machine = AdmissionStateMachine(.init(minimum: limit, maximum: limit, initial: limit))
        model = AdmissionModel(limit: limit)
    }

    var signature: Int {
        var hasher = Hasher()
        hasher.combine(model)
        hasher.combine(callers)
        return hasher.finalize()
    }

    func possibleEvents(callers limit: Int) -> [AdmissionEvent] {
        var events: [AdmissionEvent] = []
        if callers < limit {
            events += [0, 0.5, 0.99].map { .admit(hasTime: true, draw: $0) } + [.admit(hasTime: false, draw: 0.99)]
        }
        events += model.line.filter { !model.parked.contains($0) }.map { .park($0) }
        events += model.settled.keys.sorted().map { .park($0) }
        events += ids.keys.sorted().map { .leave($0) }
        // A caller that has not parked does not run yet.
        let running = model.running.filter { model.settled[$0] == nil }
        return events + running.flatMap { [.end($0, isUsed: true), .end($0, isUsed: false)] }
    }

    mutating func play(_ event: AdmissionEvent) {
        switch event {
        case .admit(let hasTime, let draw): admit(hasTime: hasTime, draw)
        case .park(let number):
            let outcome = machine.park(ids[number]!, number)
            #expect(outcome == model.settled.removeValue(forKey: number))
            if model.line.contains(number) { model.parked.insert(number) }
        case .leave(let number):
            let waiter = machine.leave(ids[number]!)
            guard let index = model.line.firstIndex(of: number) else { return #expect(waiter == nil, "it is too late") }
            model.line.remove(at: index)
            #expect(waiter == (model.parked.contains(number) ? number : nil))
            if !model.parked.contains(number) { model.settled[number] = .left }
        case .end(let number, let isUsed):
            model.running.removeAll { $0 == number }
            let permit = permits[number] ?? machine.begin(at: .zero)
            let granted = isUsed ? machine.end(permit, .none, at: .zero).granted : machine.giveBack()
            var expected: [Int] = []
            if !model.line.isEmpty {
                let next = model.line.removeFirst()
                model.running.append(next)
                if model.parked.contains(next) { expected = [next] } else { model.settled[next] = .reached }
            }
            #expect(granted == expected)
        }
        #expect(machine.running == model.running.count && machine.waiterCount == model.line.count)
        machine.checkInvariants()
    }

    private mutating func admit(hasTime: Bool, _ draw: Double) {
        callers += 1
        let isFree = model.running.count < model.limit && model.line.isEmpty
        let isLong = draw < Double(model.line.count) / Double(model.limit) - 2
        switch machine.admit(at: .zero, within: hasTime ? nil : .zero, draw: draw) {
        case .admitted(let permit):
            #expect(isFree)
            permits[callers] = permit
            model.running.append(callers)
        case .line(let id):
            #expect(!isFree && hasTime && !isLong)
            ids[callers] = id
            model.line.append(callers)
        case .refused(let retryAfter): #expect(!isFree && (!hasTime || isLong) && retryAfter == nil)
        }
    }
}
