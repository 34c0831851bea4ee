import TaskControl
import TestSupport
import Testing

@testable import TaskControlTesting

/// The machine against a list that is searched through, with numbers for waiters.
private struct LevelModel {
    struct Person {
        let isSpectator: Bool
        let mark: Int
        var id: LevelStateMachine<Int>.ID?
        var isParked = false
        var outcome: WaitOutcome?
    }

    enum Event {
        case enroll(mark: Int)
        case watch(count: Int)
        case park(Int)
        case leave(Int)
        case move(to: Int)
        case step(upTo: Int?, arrives: Bool)
    }

    var machine = LevelStateMachine<Int>(0)
    var value = 0
    var people: [Person] = []

    var waiting: [Int] { people.indices.filter { !people[$0].isSpectator && people[$0].outcome == nil } }

    var events: [Event] {
        let unparked = people.indices.filter { !people[$0].isParked }
        return [.enroll(mark: 1), .enroll(mark: 2), .watch(count: 1), .watch(count: 2)]
            + unparked.map { .park($0) } + people.indices.map { .leave($0) }
            + (0...2).map { .move(to: $0) } + (0...2).map { .step(upTo: $0, arrives: true) }
            + [.step(upTo: 1, arrives: false), .step(upTo: nil, arrives: true)]
    }

    /// - Returns: Whether the machine did what the model does.
    mutating func apply(_ event: Event) -> Bool {
        let isRight: Bool
        switch event {
        case .enroll(let mark):
            let isReached = mark <= value
            if !isReached { people.append(Person(isSpectator: false, mark: mark)) }
            let count = waiting.count
            let told = settle { $0.isSpectator && $0.mark <= count }
            isRight = agrees(machine.enroll(for: mark), isReached: isReached, told)
        case .watch(let count):
            let isReached = count <= waiting.count
            if !isReached { people.append(Person(isSpectator: true, mark: count)) }
            isRight = agrees(machine.enroll(forWaiters: count), isReached: isReached, [])
        case .park(let index):
            people[index].isParked = true
            isRight = machine.park(people[index].id!, Word(index)) == people[index].outcome
        case .leave(let index):
            let isLate = people[index].outcome != nil
            if !isLate { people[index].outcome = .left }
            isRight = machine.leave(people[index].id!)?.number == (!isLate && people[index].isParked ? index : nil)
        case .move(let target):
            value = target
            isRight = machine.move(to: target).map(\.number) == settle { !$0.isSpectator && $0.mark <= target }
        case .step(let limit, let arrives):
            let first = waiting.min { people[$0].mark < people[$1].mark }
            guard let first, people[first].mark <= limit ?? .max else {
                if arrives { value = max(value, limit ?? 0) }
                if case .nobody = machine.step(upTo: limit, arrives: arrives) { return isConsistent }
                return false
            }
            people[first].outcome = .reached
            value = max(value, people[first].mark)
            guard case .woke(let waiter) = machine.step(upTo: limit, arrives: arrives) else { return false }
            isRight = waiter?.number == (people[first].isParked ? first : nil)
        }
        return isRight && isConsistent
    }

    private var isConsistent: Bool {
        machine.value == value && machine.waiterCount == waiting.count
    }

    /// - Returns: Those of them who are parked, by mark and then in their order.
    private mutating func settle(_ isDue: (Person) -> Bool) -> [Int] {
        let due = people.indices.filter { people[$0].outcome == nil && isDue(people[$0]) }
        for index in due { people[index].outcome = .reached }
        return due.filter { people[$0].isParked }.sorted { (people[$0].mark, $0) < (people[$1].mark, $1) }
    }

    private mutating func agrees(
        _ action: LevelStateMachine<Int>.EnrollAction,
        isReached: Bool,
        _ told: [Int]
    ) -> Bool {
        switch action {
        case .reached:
            return isReached
        case .enrolled(let id, let spectators):
            if !isReached { people[people.count - 1].id = id }
            return !isReached && spectators.map(\.number) == told
        }
    }
}

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct LevelStateMachineTests {
    /// All sequences of five events, and of four in a debug build.
    @Test func agreesWithAListThatIsSearchedThrough() {
        func search(_ model: LevelModel, _ path: [LevelModel.Event], depth: Int) {
            guard depth > 0 else { return }
            for event in model.events {
                var model = model
                guard model.apply(event) else {
                    Issue.record("disagrees after \(path + [event])")
                    return
                }
                search(model, path + [event], depth: depth - 1)
            }
        }
        search(LevelModel(), [], depth: fullSize(5, inDebug: 4))
    }

    @Test(arguments: Schedules.seeds(50, inDebug: 10))
    func agreesInLongRuns(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var model = LevelModel()
        for step in 0..<60 {
            let event = try #require(model.events.randomElement(using: &random))
            let agrees = model.apply(event)
            try #require(agrees, "disagrees at step \(step), \(event)")
        }
    }

    /// Not even before its continuation exists. Otherwise a test that waits for the sleeper after a cancelled one could take one for the other.
    @Test func aTaskThatHasBeenCancelledIsNotCounted() async {
        let level = Level(0)
        let counts = OrderRecorder<Int>()
        let task = Task {
            try await level.wait(for: 1) {
                counts.record(level.waiterCount)
                withUnsafeCurrentTask { $0?.cancel() }
                counts.record(level.waiterCount)
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(counts.events == [1, 0])
    }
}
