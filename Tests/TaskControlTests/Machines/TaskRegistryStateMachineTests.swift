import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(5)))
struct TaskRegistryStateMachineTests {
    /// Every sequence of events with few tasks agrees with the model; sequences that lead to the same state go on as one.
    @Test(arguments: [
        (keys: ["a"] as [String?], tasks: 3, depth: 7, isWide: false),
        (keys: ["a"] as [String?], tasks: 3, depth: 5, isWide: true),
        (keys: ["a", "b"] as [String?], tasks: 3, depth: 5, isWide: false),
        (keys: [nil] as [String?], tasks: 3, depth: 12, isWide: false),
    ])
    func everyShortSequenceAgreesWithTheModel(keys: [String?], tasks: Int, depth: Int, isWide: Bool) {
        let steps = RegistryDriver().playEverySequence(upTo: depth) {
            $0.possibleEvents(keys: keys, maxTasks: tasks, isWide: isWide)
        }
        #expect(steps > 1_000)
    }

    /// Long programs with many tasks, which the search above does not reach.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = RegistryDriver()
        for _ in 0..<300 {
            let events = driver.possibleEvents(
                keys: [nil, "a", "b"],
                maxTasks: 60,
                maxDrainers: 4,
                isWide: seed % 2 == 1
            )
            .filter { event in event != .close && (event != .cancelAll || random.next() % 8 == 0) }
            driver.play(events.randomElement(using: &random)!)
        }
    }

    @Test func aLateEventOfAFinishedTaskFindsNothing() {
        var machine = RegistryMachine()
        guard case .added(let old, _, _) = machine.add(key: "a", behavior: .wait) else {
            return #expect(Bool(false))
        }
        _ = machine.finish(old)
        guard case .added(let new, _, _) = machine.add(key: "a", behavior: .wait) else {
            return #expect(Bool(false))
        }
        #expect(old.slot == new.slot)
        #expect(machine.finish(old).entry == nil)
        #expect(machine.cancel(old).0 == nil)
        #expect(!machine.attach(old, job: 1).isToBeCancelled)
        #expect(machine.phase(of: new) == .running)
    }

    /// However many wait, each is raised once to each priority.
    @Test func aLaneIsRaisedOnceToEachPriority() {
        var machine = RegistryMachine()
        let ids = (0..<1_000).compactMap { _ -> RegistryMachine.ID? in
            guard case .added(let id, _, _) = machine.add(key: "a", behavior: .wait) else { return nil }
            return id
        }
        for (number, id) in ids.enumerated() { _ = machine.attach(id, job: number) }
        var raised: [Int] = []
        for id in ids { raised += machine.raise(before: id, to: 9) }
        #expect(raised == [0], "whoever parks after its predecessor finds that raised")
        #expect(machine.raise(before: ids[999], to: 17).count == 999)
        #expect(machine.raise(before: ids[998], to: 17).isEmpty)
        machine.checkInvariants()
    }

    /// Those that wait come first, so that the last place of the tables is the survivor's.
    @Test func aBurstOfWaitingTasksWithOneSurvivorLeavesNothingBehind() {
        var machine = RegistryMachine()
        let ids = (0..<10_000).compactMap { _ -> RegistryMachine.ID? in
            guard case .added(let id, _, _) = machine.add(key: "a", behavior: .wait) else { return nil }
            return id
        }
        for (number, id) in ids.enumerated().dropFirst() {
            let isParked = machine.park(id, number)
            #expect(isParked)
        }
        for id in ids.dropFirst(2) {
            let waiter = machine.leave(id)
            #expect(waiter != nil)
            _ = machine.finish(id)
        }
        #expect(machine.capacity <= 256)
    }

    @Test func aBurstLeavesNothingBehind() {
        var machine = RegistryMachine()
        var ids: [RegistryMachine.ID] = []
        for number in 0..<10_000 {
            guard case .added(let id, _, _) = machine.add(key: "\(number)", behavior: .wait) else { continue }
            ids.append(id)
        }
        for id in ids.shuffled() { _ = machine.finish(id) }
        #expect(machine.lanes.capacity < 200 && machine.entries.extent == 0)
    }
}
