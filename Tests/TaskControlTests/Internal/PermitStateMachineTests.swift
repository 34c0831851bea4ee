import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct PermitStateMachineTests {
    /// Every sequence of events with few callers agrees with the model; sequences that lead to the same state continue as one.
    @Test(arguments: [
        (size: 1, callers: 4, depth: fullSize(12, inDebug: 8)),
        (size: 2, callers: 4, depth: fullSize(10, inDebug: 7)),
        (size: 3, callers: 5, depth: fullSize(8, inDebug: 6)),
    ])
    func everyShortSequenceAgreesWithTheModel(size: Int, callers: Int, depth: Int) {
        let steps = PermitDriver(size: size).playEverySequence(upTo: depth) {
            $0.possibleEvents(callers: callers)
        }
        #expect(steps > 1_000)
    }

    /// Long programs with many callers, which the search above does not reach.
    @Test(arguments: Schedules.seeds(40, inDebug: 8))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = PermitDriver(size: [1, 2, 5, 12][Int(seed % 4)])
        for _ in 0..<600 {
            let events = driver.possibleEvents(callers: 120)
            // Any may leave at any time, and few do.
            let few = events.filter { if case .leave = $0 { random.next() % 30 == 0 } else { true } }
            driver.play((few.isEmpty ? events : few).randomElement(using: &random)!)
        }
    }
}

private enum PermitEvent: Hashable {
    case acquire(Int), tryAcquire(Int), park(Int), leave(Int), release(Int), releaseTooMuch
    /// This number is taken while the permits are lent.
    case takeBack(Int)
    case resize(Int)
}

/// A list that is searched through for each answer: the expected behavior of the machine of permits.
private struct PermitModel: Hashable {
    struct Request: Hashable {
        let number: Int
        let weight: Int
        var isParked = false
    }

    var size: Int
    var taken = 0
    var line: [Request] = []
    /// The callers that received their result before they had parked, and the result.
    var told: [Int: WaitOutcome] = [:]

    /// - Returns: The callers that are woken.
    mutating func grant() -> [Int] {
        var woken: [Int] = []
        while let first = line.first, taken + first.weight <= size {
            line.removeFirst()
            taken += first.weight
            if first.isParked { woken.append(first.number) } else { told[first.number] = .reached }
        }
        return woken
    }
}

/// Plays events to the machine and to the model, and compares what they say.
private struct PermitDriver: MachineDriver {
    private var machine: PermitStateMachine
    private var model: PermitModel
    private var ids: [Int: PermitStateMachine.ID] = [:]
    private var comers = 0
    /// The largest size, which bounds the weights: a request for more than there ever are would wait forever.
    private let most: Int

    init(size: Int) {
        most = size
        machine = PermitStateMachine(size: size)
        model = PermitModel(size: size)
    }

    var signature: Int {
        var hasher = Hasher()
        hasher.combine(model)
        hasher.combine(comers)
        return hasher.finalize()
    }

    func possibleEvents(callers: Int) -> [PermitEvent] {
        var events: [PermitEvent] = [.releaseTooMuch]
        if comers < callers { events += (1...most).flatMap { [.acquire($0), .tryAcquire($0)] } }
        events += model.line.filter { !$0.isParked }.map { .park($0.number) }
        events += model.told.keys.sorted().map { .park($0) }
        events += ids.keys.sorted().map { .leave($0) }
        events += Set([1, most]).subtracting([model.size]).sorted().map { .resize($0) }
        if model.line.isEmpty, model.taken <= model.size { events += (0...model.size).map { .takeBack($0) } }
        if model.taken > 0 { events += (1...model.taken).map { .release($0) } }
        return events
    }

    mutating func play(_ event: PermitEvent) {
        switch event {
        case .acquire(let weight):
            comers += 1
            let isFree = model.line.isEmpty && model.taken + weight <= model.size
            let id = machine.acquire(weight)
            #expect((id == nil) == isFree)
            if let id {
                ids[comers] = id
                model.line.append(.init(number: comers, weight: weight))
            } else {
                model.taken += weight
            }
        case .tryAcquire(let weight):
            comers += 1
            let isFree = model.line.isEmpty && model.taken + weight <= model.size
            let hasThem = machine.tryAcquire(weight)
            #expect(hasThem == isFree)
            if hasThem { model.taken += weight }
        case .park(let number):
            let outcome = machine.park(ids[number]!, Word(number))
            let expected = model.told.removeValue(forKey: number)
            #expect(outcome == expected)
            if let index = model.line.firstIndex(where: { $0.number == number }) { model.line[index].isParked = true }
        case .leave(let number):
            let leaving = machine.leave(ids[number]!)
            guard let index = model.line.firstIndex(where: { $0.number == number }) else {
                return #expect(leaving.waiter == nil && leaving.granted.isEmpty, "it has its permits, or has left")
            }
            let request = model.line.remove(at: index)
            if !request.isParked { model.told[number] = .left }
            #expect(leaving.waiter?.number == (request.isParked ? number : nil))
            let woken = model.grant()
            #expect(leaving.granted.map(\.number) == woken, "those behind it move up")
        case .release(let weight):
            model.taken -= weight
            let woken = model.grant()
            switch machine.release(weight) {
            case .done: #expect(woken.isEmpty)
            case .granted(let granted): #expect(granted.map(\.number) == woken)
            case .refuse: Issue.record("\(weight) of the acquired permits are released")
            }
        case .takeBack(let taken):
            model.taken = taken
            machine.takeBack(model.size - taken)
        case .resize(let size):
            model.size = size
            #expect(machine.resize(to: size).map(\.number) == model.grant())
        case .releaseTooMuch:
            if case .refuse = machine.release(model.taken + 1) { break }
            Issue.record("more permits are released than were acquired")
        }
        #expect(machine.available == model.size - model.taken)
        #expect(machine.waiterCount == model.line.count)
        machine.checkInvariants()
    }
}
