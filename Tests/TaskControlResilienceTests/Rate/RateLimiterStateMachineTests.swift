import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct RateLimiterStateMachineTests {
    /// Every sequence of events with few callers agrees with the model; sequences that lead to the same state continue as one.
    @Test(arguments: [
        (burst: 1, callers: 4, depth: fullSize(12, inDebug: 7)),
        (burst: 2, callers: 4, depth: fullSize(10, inDebug: 6)),
    ])
    func everyShortSequenceAgreesWithTheModel(burst: Int, callers: Int, depth: Int) {
        let steps = RateLimiterDriver(burst: burst).playEverySequence(upTo: depth) {
            $0.possibleEvents(callers: callers)
        }
        #expect(steps > 1_000)
    }

    @Test(arguments: Schedules.seeds(40, inDebug: 8))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = RateLimiterDriver(burst: [1, 2, 5][Int(seed % 3)])
        for _ in 0..<1_000 {
            driver.play(driver.possibleEvents(callers: 10_000).randomElement(using: &random)!)
        }
    }

    /// Rounding does not add up, at a rate that is no whole number of anything.
    @Test func theRateIsExact() {
        var machine = RateLimiterStateMachine(interval: .seconds(1) / 3, burst: 1)
        var now = Duration.zero
        let count = fullSize(1_000_000, inDebug: 20_000)
        for number in 0..<count {
            guard case .first = machine.acquire(1, within: nil, at: now) else {
                #expect(number == 0, "only the first call finds a token")
                continue
            }
            guard case .wait(let end) = machine.takeFirst(1, at: now) else {
                Issue.record("no token is there")
                return
            }
            now = end
            guard case .taken = machine.takeFirst(1, at: now) else {
                Issue.record("the token is there")
                return
            }
        }
        #expect(abs((now / .seconds(1)) - Double(count - 1) / 3) < 1e-6)
    }

    /// A caller that wakes late does not make the next call late, and calls do not make up for more than the bucket holds.
    @Test func aBucketOfTwoMakesUpForALateCaller() {
        var machine = RateLimiterStateMachine(interval: .seconds(1), burst: 2)
        let isTaken = machine.tryAcquire(2, at: .zero)
        #expect(isTaken)
        guard case .first = machine.acquire(1, within: nil, at: .zero) else {
            Issue.record("the bucket is empty")
            return
        }
        guard case .taken(next: nil) = machine.takeFirst(1, at: .seconds(1.5)) else {
            Issue.record("the token is there")
            return
        }
        let answers = [1.999, 2].map { machine.tryAcquire(1, at: .seconds($0)) }
        #expect(answers == [false, true])
        #expect(machine.available(at: .seconds(100)) == 2)
    }

    @Test func absurdNumbersDoNotTrap() {
        var machine = RateLimiterStateMachine(interval: .longestWait, burst: .max)
        let answers = [.max, .max, .min].map { machine.tryAcquire($0, at: .zero) }
        #expect(answers == [true, false, true])
        #expect(machine.available(at: .zero) == 0)
        machine.checkInvariants()
    }
}

private enum RateLimiterEvent: Hashable {
    case acquire(Int, within: Int?), tryAcquire(Int), park(Int), leave(Int), takeFirst, leaveFirst, tick
}

/// A bucket with a level that changes with each tick, and a list of callers: what the state machine must do without either.
///
/// A token is refilled in two ticks.
private struct RateLimiterModel: Hashable {
    struct Caller: Hashable {
        let number: Int
        let cost: Int
        var isParked = false
    }

    let capacity: Int
    var level: Int
    var first: Caller?
    var line: [Caller] = []
    /// The callers that were settled before they had parked.
    var settled: [Int: WaitOutcome] = [:]

    init(burst: Int) {
        capacity = 2 * burst
        level = capacity
    }

    func missing(for cost: Int) -> Int { max(0, min(cost, capacity) - level) }

    mutating func take(_ cost: Int) -> Bool {
        guard missing(for: cost) == 0 else { return false }
        level -= cost
        return true
    }

    /// - Returns: The caller that is woken.
    mutating func handOn() -> Int? {
        first = line.isEmpty ? nil : line.removeFirst()
        guard let first else { return nil }
        if first.isParked { return first.number }
        settled[first.number] = .reached
        return nil
    }
}

private struct RateLimiterDriver: MachineDriver {
    private var machine: RateLimiterStateMachine
    private var model: RateLimiterModel
    private var ids: [Int: RateLimiterStateMachine.Line.ID] = [:]
    private var weights: [Int: Int] = [:]
    private var callers = 0
    private var now = 0

    init(burst: Int) {
        machine = RateLimiterStateMachine(interval: .seconds(2), burst: burst)
        model = RateLimiterModel(burst: burst)
    }

    var signature: Int {
        var hasher = Hasher()
        hasher.combine(model)
        hasher.combine(callers)
        return hasher.finalize()
    }

    func possibleEvents(callers limit: Int) -> [RateLimiterEvent] {
        var events: [RateLimiterEvent] = [.tick, .tryAcquire(0), .tryAcquire(1), .tryAcquire(3)]
        if callers < limit {
            events += [0, 1, 2, 3].map { .acquire($0, within: nil) }
            events += [-1, 0, 3].flatMap { [.acquire(1, within: $0), .acquire(3, within: $0)] }
        }
        if model.first != nil { events += [.takeFirst, .leaveFirst] }
        events += model.line.filter { !$0.isParked }.map { .park($0.number) }
        events += model.settled.keys.sorted().map { .park($0) }
        events += model.line.map { .leave($0.number) } + (model.first.map { [.leave($0.number)] } ?? [])
        return events
    }

    mutating func play(_ event: RateLimiterEvent) {
        let time = Duration.seconds(now)
        switch event {
        case .tick:
            now += 1
            model.level = min(model.capacity, model.level + 1)
        case .tryAcquire(let weight):
            let expected = model.first == nil && model.take(2 * weight)
            let isTaken = machine.tryAcquire(weight, at: time)
            #expect(isTaken == expected)
        case .acquire(let weight, let limit):
            acquire(weight, limit, time)
        case .park(let number):
            let outcome = machine.park(ids[number]!, Word(number))
            let expected = model.settled.removeValue(forKey: number)
            #expect(outcome == expected)
            if let index = model.line.firstIndex(where: { $0.number == number }) { model.line[index].isParked = true }
        case .leave(let number):
            guard let id = ids[number] else { return }
            let waiter = machine.leave(id, weights[number]!)
            guard let index = model.line.firstIndex(where: { $0.number == number }) else {
                return #expect(waiter == nil, "it is the first")
            }
            let caller = model.line.remove(at: index)
            if !caller.isParked { model.settled[number] = .left }
            #expect(waiter?.number == (caller.isParked ? number : nil))
        case .takeFirst:
            let first = model.first!
            let missing = model.missing(for: first.cost)
            switch machine.takeFirst(weights[first.number]!, at: time) {
            case .wait(let end): #expect(missing > 0 && end == .seconds(now + missing))
            case .taken(let next):
                let isTaken = model.take(first.cost)
                let expected = model.handOn()
                #expect(isTaken && next?.number == expected)
            }
        case .leaveFirst:
            let next = machine.leaveFirst(weights[model.first!.number]!)
            let expected = model.handOn()
            #expect(next?.number == expected)
        }
        #expect(machine.available(at: .seconds(now)) == max(0, model.level) / 2)
        let hasHistory = machine.hasHistory(at: .seconds(now))
        #expect(hasHistory == (model.level < model.capacity || model.first != nil))
        machine.checkInvariants()
    }

    private mutating func acquire(_ weight: Int, _ limit: Int?, _ time: Duration) {
        callers += 1
        let caller = RateLimiterModel.Caller(number: callers, cost: 2 * weight)
        weights[callers] = weight
        let waiting = (model.first.map { [$0] } ?? []) + model.line
        // The tokens of the callers before it are missing as well.
        let missing = max(0, waiting.reduce(min(caller.cost, model.capacity)) { $0 + $1.cost } - model.level)
        switch machine.acquire(weight, within: limit.map { .seconds($0) }, at: time) {
        case .taken:
            let isTaken = model.take(caller.cost)
            #expect(waiting.isEmpty && isTaken)
        case .refused(let retryAfter):
            #expect(missing > max(0, limit!) && retryAfter == .seconds(missing))
        case .first:
            #expect(waiting.isEmpty && missing > 0 && missing <= max(0, limit ?? missing))
            model.first = caller
        case .line(let id):
            #expect(!waiting.isEmpty && missing <= max(0, limit ?? missing))
            ids[callers] = id
            model.line.append(caller)
        }
    }
}
