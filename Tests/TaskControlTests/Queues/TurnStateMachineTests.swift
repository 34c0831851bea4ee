import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct TurnStateMachineTests {
    /// Every sequence of events with few tasks agrees with the model; sequences that lead to the same state continue as one.
    @Test(arguments: [
        (capacity: 1 as Int?, people: 3, drainers: 0, levels: [5] as [UInt8], depth: fullSize(14, inDebug: 13)),
        (capacity: 1 as Int?, people: 3, drainers: 1, levels: [5] as [UInt8], depth: fullSize(8, inDebug: 7)),
        (capacity: 1 as Int?, people: 3, drainers: 0, levels: [5, 9] as [UInt8], depth: fullSize(7, inDebug: 6)),
        (capacity: 2 as Int?, people: 4, drainers: 0, levels: [5] as [UInt8], depth: fullSize(9, inDebug: 8)),
        (capacity: nil as Int?, people: 4, drainers: 0, levels: [5] as [UInt8], depth: fullSize(14, inDebug: 10)),
        (capacity: nil as Int?, people: 3, drainers: 0, levels: [5, 9] as [UInt8], depth: fullSize(8, inDebug: 6)),
    ])
    func everyShortSequenceAgreesWithTheModel(
        capacity: Int?,
        people: Int,
        drainers: Int,
        levels: [UInt8],
        depth: Int
    ) {
        let steps = TurnDriver(capacity: capacity).playEverySequence(upTo: depth) {
            $0.possibleEvents(people: people, drainers: drainers, levels: levels)
        }
        #expect(steps > 1_000)
    }

    /// The same with callers that take the turns of an idle queue without its line.
    @Test(arguments: [
        (capacity: 1, people: 3, drainers: 0, levels: [5] as [UInt8], depth: fullSize(10, inDebug: 8)),
        (capacity: 1, people: 3, drainers: 1, levels: [5, 9] as [UInt8], depth: fullSize(7, inDebug: 5)),
        (capacity: 2, people: 3, drainers: 0, levels: [5] as [UInt8], depth: fullSize(9, inDebug: 7)),
    ])
    func everyShortSequenceWithTurnsInTheGateAgreesWithTheModel(
        capacity: Int,
        people: Int,
        drainers: Int,
        levels: [UInt8],
        depth: Int
    ) {
        let steps = TurnDriver(capacity: capacity).playEverySequence(upTo: depth) {
            $0.possibleEvents(people: people, drainers: drainers, levels: levels, callers: true)
        }
        #expect(steps > 1_000)
    }

    /// The same with pauses.
    @Test(arguments: [
        (capacity: 1 as Int?, drainers: 0, levels: [5] as [UInt8], depth: fullSize(9, inDebug: 7)),
        (capacity: 1 as Int?, drainers: 1, levels: [5, 9] as [UInt8], depth: fullSize(6, inDebug: 5)),
        (capacity: 2 as Int?, drainers: 0, levels: [5] as [UInt8], depth: fullSize(9, inDebug: 7)),
        (capacity: nil as Int?, drainers: 0, levels: [5] as [UInt8], depth: fullSize(9, inDebug: 7)),
    ])
    func everyShortSequenceWithPausesAgreesWithTheModel(capacity: Int?, drainers: Int, levels: [UInt8], depth: Int) {
        let steps = TurnDriver(capacity: capacity).playEverySequence(upTo: depth) {
            $0.possibleEvents(people: 3, drainers: drainers, levels: levels, callers: true, pauses: true)
        }
        #expect(steps > 1_000)
    }

    /// Long programs with many tasks, which the search above does not reach.
    @Test(arguments: Schedules.seeds(40, inDebug: 8))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = TurnDriver(capacity: [1, 2, 5, nil][Int(seed % 4)])
        for _ in 0..<400 {
            let levels: [UInt8] = [5, 9, 17, 25]
            let events = driver.possibleEvents(
                people: 90,
                drainers: 30,
                levels: levels,
                callers: seed % 3 > 0,
                pauses: seed % 8 > 3
            )
            // Most may leave at any time, and few do.
            let few = events.filter { if case .leave = $0 { random.next() % 50 == 0 } else { true } }
            driver.play((few.isEmpty ? events : few).randomElement(using: &random)!)
        }
    }

    /// Also of a caller that takes its turn without an entry. The number 0 stands for no turn.
    @Test(arguments: [1, 2, nil]) func turnsAreNumberedFromOne(capacity: Int?) {
        var machine = TurnMachine(capacity: capacity)
        #expect(machine.gate.entered?.turn.number == capacity.map { _ in 1 })
        let numbers = (0..<3).map { _ in machine.enqueue(level: 5).id.number }
        #expect(numbers == [1, 2, 3])
    }

    @Test func aLateEventOfOneThatHasLeftFindsNothing() {
        var machine = TurnMachine(capacity: 1)
        let old = machine.enqueue(level: 5).id
        _ = machine.begin(old)
        _ = machine.finish(old)
        let new = machine.enqueue(level: 5).id
        #expect(old.slot == new.slot)
        guard case .gone = machine.begin(old) else { return #expect(Bool(false), "the turn is not its own") }
        _ = machine.leave(old)
        let owed = machine.attach(old, 1)
        #expect(owed == 0)
        #expect(machine.count == 1)
        guard case .run = machine.begin(new) else { return #expect(Bool(false), "it is its turn") }
        _ = machine.finish(old)
        #expect(machine.isRunning(new))
    }

    /// Its task has not come, and need not ask. A task that is cancelled then passes the turn on when it comes.
    @Test func anEntryWhoseTaskHasNotComeIsGivenItsTurn() {
        var machine = TurnMachine(capacity: 1)
        let ids = (0..<3).map { _ in machine.enqueue(level: 5).id }
        #expect(machine.isRunning(ids[0]) && machine.gate.hasGiven(ids[0]))
        _ = machine.finish(ids[0])
        #expect(machine.isRunning(ids[1]) && machine.gate.hasGiven(ids[1]))
        let sleeps = machine.park(ids[1], 1)
        #expect(!sleeps)
        let departure = machine.leave(ids[1])
        #expect(departure.calling == nil && departure.leaving == nil && machine.count == 2)
        _ = machine.finish(ids[1])
        #expect(machine.isRunning(ids[2]) && machine.gate.hasGiven(ids[2]))
        machine.checkInvariants()
    }

    /// A task may be on another thread than its actor's when it parks. It is not given its turn: it must be able to leave while its actor is busy.
    @Test func anEntryWhoseTaskHasAskedIsNotGivenItsTurn() {
        var machine = TurnMachine(capacity: 1)
        let ids = (0..<3).map { _ in machine.enqueue(level: 5).id }
        guard case .wait = machine.begin(ids[1]) else { return #expect(Bool(false), "it must wait") }
        _ = machine.finish(ids[0])
        #expect(!machine.isRunning(ids[1]) && !machine.gate.hasGiven(ids[1]))
        // It does not sleep through its turn.
        let sleeps = machine.park(ids[1], 1)
        #expect(!sleeps)
        _ = machine.leave(ids[1])
        #expect(machine.isRunning(ids[2]) && machine.gate.hasGiven(ids[2]))
        machine.checkInvariants()
    }

    /// A task that has waited is not given its turn: it may be cancelled before it is on its actor.
    @Test func anEntryThatWasCalledLeavesWhenItIsCancelled() {
        var machine = TurnMachine(capacity: 1)
        let ids = (0..<3).map { _ in machine.enqueue(level: 5).id }
        let sleeps = machine.park(ids[1], 1)
        #expect(sleeps)
        let called = machine.finish(ids[0]).calling
        #expect(called == 1 && !machine.isRunning(ids[1]) && !machine.gate.hasGiven(ids[1]))
        _ = machine.leave(ids[1])
        #expect(machine.isRunning(ids[2]) && machine.gate.hasGiven(ids[2]))
        machine.checkInvariants()
    }

    /// It waits for no entry any more.
    @Test func aLateRiseOfOneThatRunsRaisesNobody() {
        var machine = TurnMachine(capacity: 2)
        let ids = (0..<2).map { number in
            let id = machine.enqueue(level: 5).id
            _ = machine.attach(id, Word(number))
            return id
        }
        for id in ids { _ = machine.begin(id) }
        let late = machine.raise(before: ids[1], to: 9)
        #expect(late.isEmpty)
        machine.checkInvariants()
    }

    /// However many wait, each is raised once to each priority.
    @Test func aLineIsRaisedOnceToEachPriority() {
        var machine = TurnMachine(capacity: 1)
        let ids = (0..<1_000).map { number in
            let id = machine.enqueue(level: 5).id
            _ = machine.attach(id, Word(number))
            return id
        }
        #expect(ids.allSatisfy { machine.raise(before: $0, to: 5).isEmpty })
        let raised = [ids[999], ids[998]].map { machine.raise(before: $0, to: 17).count }
        #expect(raised == [999, 0])
        let urgent = machine.enqueue(level: 25)
        #expect(urgent.isUrgent)
        let all = machine.raise(before: urgent.id, to: 25).count
        #expect(all == 1_000)
        let another = machine.enqueue(level: 25)
        #expect(!another.isUrgent)
        machine.checkInvariants()
    }

    /// Those that leave from the middle of a long line leave no memory behind, and no time.
    @Test func placesThatAreGivenUpAreFree() {
        var machine = TurnMachine(capacity: 1)
        let first = machine.enqueue(level: 5).id
        guard case .run = machine.begin(first) else { return #expect(Bool(false), "it is its turn") }
        for round in 0..<10 {
            let ids = (0..<1_000).map { _ in machine.enqueue(level: 5).id }
            for (number, id) in ids.enumerated() where number % 2 == round % 2 { _ = machine.leave(id) }
            for (number, id) in ids.enumerated() where number % 2 != round % 2 { _ = machine.leave(id) }
            #expect(machine.count == 1 && machine.entries.count == 1)
        }
        #expect(machine.entries.capacity <= 256)
        machine.checkInvariants()
    }
}
