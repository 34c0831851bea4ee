import Foundation
import TaskControl
import TaskControlTesting
import Testing

/// Programs whose failing schedules can be reached only in certain ways.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported))
struct StrategyTests {
    private actor Flag {
        private var isOn = false
        private var waiter: CheckedContinuation<Void, Never>?

        var isSet: Bool { isOn }

        func set() {
            isOn = true
            waiter?.resume()
            waiter = nil
        }

        func park() async {
            await withCheckedContinuation { waiter = $0 }
        }
    }

    /// The created task has to arrive at the actor before its creator, which hops there in the step that creates it.
    @concurrent @Sendable private static func missedWakeUp(_ sim: Simulation) async {
        let flag = Flag()
        let waiting = Task(name: "waiting") {
            if await !flag.isSet {
                sim.note("parks")
                await flag.park()
            }
        }
        await flag.set()
        await waiting.value
    }

    @Test(arguments: [
        Simulation.Strategy.swarm, .guided, .random, .partialOrder, .pct(depth: 2), .pct(depth: 3), .exhaustive(),
    ])
    func aCreatedTaskMayReachAnActorBeforeItsCreator(strategy: Simulation.Strategy) throws {
        let failure = try #require(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<200, strategy: strategy) { await Self.missedWakeUp($0) }
        }
        guard case .deadlock = failure.reason else { Issue.record("\(failure)"); return }
        let again = try #require(throws: Simulation.Failure.self) {
            try simulate(schedule: failure.schedule) { await Self.missedWakeUp($0) }
        }
        #expect(again.run.fingerprint == failure.run.fingerprint && again.steps == failure.steps)
    }

    private final class Registry: @unchecked Sendable {
        private let lock = NSLock()
        private var tasks: [Int: Task<Void, Never>] = [:]

        func add(_ task: Task<Void, Never>) { lock.withLock { tasks[0] = task } }
        func remove() { lock.withLock { tasks[0] = nil } }
        var isEmpty: Bool { lock.withLock { tasks.isEmpty } }
    }

    @concurrent @Sendable private static func registeredTooLate(_ sim: Simulation) async {
        let registry = Registry()
        let task = Task { registry.remove() }
        registry.add(task)
        await task.value
        sim.expect(registry.isEmpty)
    }

    @Test func aTaskThatEndsBeforeItIsRegisteredIsFoundWithEarlyStarts() throws {
        try simulate(seeds: 0..<100) { await Self.registeredTooLate($0) }
        #expect(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<100, strategy: .swarm.withEarlyStarts()) { await Self.registeredTooLate($0) }
        }
    }

    @concurrent @Sendable private static func sleepAsSynchronization(_ sim: Simulation) async throws {
        let registry = Registry()
        let task = Task {
            for _ in 0..<3 { await Task.yield() }
            registry.add(Task {})
        }
        try await Task.sleep(for: .milliseconds(100))
        sim.expect(!registry.isEmpty)
        await task.value
    }

    @Test func aSleepThatStandsForAGuaranteeIsFoundWithSlowness() throws {
        try simulate(seeds: 0..<100) { try await Self.sleepAsSynchronization($0) }
        #expect(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<200, strategy: .swarm.withSlowness()) { try await Self.sleepAsSynchronization($0) }
        }
    }

    @Test func allSchedulesOfASmallProgramAreCounted() throws {
        for preemptions in 0..<4 {
            let report = try simulate(seeds: 0..<10_000, strategy: .exhaustive(preemptions: preemptions)) { sim in
                await withTaskGroup { group in
                    for name in ["a", "b"] {
                        group.addTask {
                            sim.note(name)
                            await Task.yield()
                            sim.note(name)
                        }
                    }
                }
            }
            #expect(report.exhaustedPreemptions == preemptions)
            #expect(report.scheduleCount == report.distinctScheduleCount)
        }
    }

    /// Time could move without end, and so could a task that yields.
    @Test(arguments: [Simulation.Strategy.inOrder, .exhaustive(preemptions: 0), .exhaustive(preemptions: 1)])
    func anActionRunsAlthoughTasksNeverStop(strategy: Simulation.Strategy) throws {
        try simulate(seeds: 0..<200, strategy: strategy, maxSteps: 1_000) { sim in
            let isSet = Locked(false)
            sim.atAnyPoint { isSet.withLock { $0 = true } }
            while !isSet.withLock({ $0 }) { try await Task.sleep(for: .seconds(1)) }
        }
        try simulate(seeds: 0..<20, strategy: strategy, maxSteps: 1_000) { sim in
            let isSet = Locked(false)
            sim.atAnyPoint { isSet.withLock { $0 = true } }
            while !isSet.withLock({ $0 }) { await Task.yield() }
        }
    }

    @Test func anExhaustiveSearchDelaysAnActionPastADeadline() throws {
        let times = OrderRecorder<Duration>()
        let report = try simulate(seeds: 0..<1_000, strategy: .exhaustive(preemptions: 2)) { sim in
            let time = Locked(Duration.zero)
            sim.atAnyPoint { time.withLock { $0 = sim.now } }
            for _ in 0..<3 { try await Task.sleep(for: .seconds(1)) }
            times.record(time.withLock { $0 })
        }
        #expect(report.exhaustedPreemptions == 2)
        #expect(Set(times.events).isSuperset(of: [.zero, .seconds(1), .seconds(2)]))
    }

    @Test func aReportSaysHowMuchIsLeft() throws {
        @Sendable func body(_ sim: Simulation) async {
            await withTaskGroup { group in for _ in 0..<5 { group.addTask { await Task.yield() } } }
        }
        let cut = try simulate(seeds: 0..<50, strategy: .exhaustive()) { await body($0) }
        #expect(cut.description == "50 schedules pass, 50 of them distinct, and more remain")
        let all = try simulate(seeds: 0..<100) { await body($0) }
        #expect(all.recentScheduleCount == 10)
        #expect(all.description.hasSuffix(", and \(all.recentNewScheduleCount) of the last 10 were new"))
        let same = try simulate(seeds: 0..<100) { _ in }
        #expect(same.recentNewScheduleCount == 0 && same.distinctScheduleCount == 1)
    }

    /// A candidate that does not fail can run on for long: each is limited by the length of the failure.
    @Test func longCandidatesDoNotStarveTheSearchForAShorterSchedule() throws {
        let failure = try #require(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<100, strategy: .random) { sim in
                let order = OrderRecorder<Int>()
                let tasks = (0..<4).map { number in
                    Task {
                        await Task.yield()
                        order.record(number)
                    }
                }
                for task in tasks { await task.value }
                sim.expect(order.events[0] != 3)
                for _ in 0..<30_000 { try await Task.sleep(for: .seconds(1)) }
            }
        }
        #expect(try #require(failure.shrunk).schedule.deviations.count <= 2)
    }

    @concurrent @Sendable private static func twoActions(_ sim: Simulation) async {
        let order = OrderRecorder<String>()
        sim.atAnyPoint { order.record("a") }
        sim.atAnyPoint { order.record("b") }
        for _ in 0..<3 { await Task.yield() }
        while order.count < 2 { try? await Task.sleep(for: .seconds(1)) }
        sim.expect(order.events == ["a", "b"], "a is first")
    }

    @Test(arguments: [Simulation.Strategy.swarm, .guided, .exhaustive(preemptions: 0)])
    func theOrderOfActionsIsReplayed(strategy: Simulation.Strategy) throws {
        let failure = try #require(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<500, strategy: strategy) { await Self.twoActions($0) }
        }
        let again = try #require(throws: Simulation.Failure.self) {
            try simulate(schedule: failure.schedule) { await Self.twoActions($0) }
        }
        #expect(again.run.fingerprint == failure.run.fingerprint)
        #expect(failure.shrunk.map { $0.schedule.deviations.count < 3 } ?? true)
    }

    private actor Door {
        private var first: Int?

        func enter(_ task: Int) { if first == nil { first = task } }
        func isFirst(_ task: Int) -> Bool { first == task }
    }

    /// Fails only if one of four tasks is the first at its door, ten times in a row: a schedule that begins well has to be continued.
    @concurrent @Sendable private static func tenDoors(_ sim: Simulation) async {
        for _ in 0..<10 {
            let door = Door()
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<4 {
                    group.addTask {
                        await Task.yield()
                        await door.enter(task)
                    }
                }
            }
            guard await door.isFirst(3) else { return }
        }
        sim.expect(false, "the fourth task is not always the first")
    }

    @Test func aGuidedSearchGoesOnFromWhatIsNew() throws {
        let failure = try #require(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<2_000, strategy: .guided) { await Self.tenDoors($0) }
        }
        try simulate(seeds: 0..<2_000) { await Self.tenDoors($0) }
        let again = try #require(throws: Simulation.Failure.self) {
            try simulate(schedule: failure.schedule) { await Self.tenDoors($0) }
        }
        #expect(again.run.fingerprint == failure.run.fingerprint && again.steps == failure.steps)
        #expect(failure.description.contains("simulate(schedule: \"\(failure.schedule)\")"))
    }

    @Test func aSearchLeavesALoopThatYields() throws {
        let report = try simulate(seeds: 0..<5_000, strategy: .exhaustive(preemptions: 2), maxSteps: 1_000) { _ in
            let flag = OrderRecorder<Bool>()
            Task { flag.record(true) }
            while flag.count == 0 { await Task.yield() }
        }
        #expect(report.exhaustedPreemptions == 2)
    }

    @Test func schedulesAreCodedAsTheirText() throws {
        let schedule: Simulation.Schedule = "7s:1=2,9=1"
        let text = try JSONEncoder().encode([schedule])
        #expect(String(decoding: text, as: UTF8.self) == "[\"7s:1=2,9=1\"]")
        #expect(try JSONDecoder().decode([Simulation.Schedule].self, from: text) == [schedule])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([Simulation.Schedule].self, from: Data("[\"7:1=-2\"]".utf8))
        }
    }
}
