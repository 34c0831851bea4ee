import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(3)))
struct TaskRegistryStateMachineTests {
    /// Every sequence of events with few tasks agrees with the model; sequences that lead to the same state go on as one.
    @Test(arguments: [
        (keys: ["a"] as [String?], tasks: 3, depth: 7),
        (keys: ["a", "b"] as [String?], tasks: 3, depth: 5),
        (keys: [nil] as [String?], tasks: 3, depth: 12),
    ])
    func everyShortSequenceAgreesWithTheModel(keys: [String?], tasks: Int, depth: Int) {
        var frontier = [RegistryDriver()]
        var seen = Set<Int>()
        var steps = 0
        for _ in 0..<depth {
            var next: [RegistryDriver] = []
            for driver in frontier {
                for event in driver.possibleEvents(keys: keys, maxTasks: tasks) {
                    var copy = driver
                    copy.play(event)
                    steps += 1
                    if seen.insert(copy.signature).inserted { next.append(copy) }
                }
            }
            frontier = next
        }
        #expect(steps > 1_000)
    }

    /// Long programs with many tasks, which the search above does not reach.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var driver = RegistryDriver()
        for _ in 0..<300 {
            let events = driver.possibleEvents(keys: [nil, "a", "b"], maxTasks: 60, maxDrainers: 4)
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
        #expect(machine.attach(old, job: 1) == false)
        #expect(machine.phase(of: new) == .running)
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
