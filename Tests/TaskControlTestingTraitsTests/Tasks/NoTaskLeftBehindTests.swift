import TaskControl
import TaskControlTesting
import Testing

@testable import TaskControlTestingTraits

/// Which tasks are found behind a test, and which are not.
@Suite(.timeLimit(.minutes(15)))
struct NoTaskLeftBehindTests {
    private struct Mistake: Error {}

    /// For tests that leave tasks behind: its clock does not wait.
    private var impatient: NoTaskLeftBehindTrait {
        var trait = namesPlaces
        trait.recordsOrigins = false
        return trait
    }
    /// The same with the places where the tasks were started.
    private var namesPlaces: NoTaskLeftBehindTrait {
        NoTaskLeftBehindTrait(limit: .seconds(1), clock: TestClock(advancesAutomatically: true))
    }
    /// For tests whose tasks end: its clock stands.
    private var patient: NoTaskLeftBehindTrait { NoTaskLeftBehindTrait(limit: .seconds(1), clock: TestClock()) }

    /// Returns the tasks that a function leaves behind, as an issue of the trait lists them, without the line that started each: in a debug
    /// build it takes a second to find one.
    private static func tasks(leftBy function: @concurrent @Sendable () async throws -> Void) async throws -> [String] {
        try await TestScope.observing { scope in
            try await scope.run(function)
            return scope.tasks.map(\.description)
        }
    }

    @Test func aTaskThatIsLeftBehindIsOneIssueThatNamesIt() async throws {
        let (bag, gate) = (TaskStore<String>(name: "feed"), Gate())
        let issue = try await Outcome(of: impatient) {
            bag.addTask(forKey: "news", name: "poll") { try? await gate.wait() }
            try await gate.waitForWaiters()
        }.issue
        #expect(issue.text.hasPrefix("1 task has not ended 1.0 seconds after the test returned:\n"))
        #expect(issue.text.contains("  TaskStore \"feed\", task \"poll\", key news, runs"))
        #expect(issue.sourceLocation == Test.current?.sourceLocation)
        gate.open()
        try await bag.drain()
    }

    #if os(Linux)
    @Test func theIssueNamesTheLineThatStartedTheTask() async throws {
        let (bag, gate) = (TaskBag(), Gate())
        let line = #line + 2
        let issue = try await Outcome(of: namesPlaces) {
            bag.addTask { try? await gate.wait() }
        }.issue
        #expect(issue.text.contains("started at \(#filePath):\(line)"))
        gate.open()
        try await bag.drain()
    }
    #endif

    /// Each starts work that waits for the gate.
    private static let starters: [(String, @Sendable (Gate) async throws -> Void)] = [
        ("AsyncTask", { gate in AsyncTask { try? await gate.wait() }.detached() }),
        ("TaskBag", { gate in TaskBag.shared.addTask { try? await gate.wait() } }),
        ("FIFOQueue", { gate in Task(name: "turn", on: FIFOQueue()) { try? await gate.wait() } }),
        (
            "CancellableQueue",
            { gate in Task(on: CancellableQueue(underlyingQueue: FIFOQueue())) { try? await gate.wait() } }
        ),
        ("ActorQueue", { gate in Task(on: MainActor.queue) { _ in try? await gate.wait() } }),
        (
            "SingleFlight",
            { gate in
                let flights = SingleFlight<String, Void>()
                let caller = Task { try await flights.value(for: "key") { await gate.waitIgnoringCancellation() } }
                try await gate.waitForWaiters()
                caller.cancel()
                _ = await caller.result
            }
        ),
    ]

    @Test(arguments: starters.indices) func everythingThatStartsTasksIsFound(index: Int) async throws {
        let (name, start) = Self.starters[index]
        let gate = Gate()
        let tasks = try await Self.tasks { try await start(gate) }
        #expect(tasks.contains { $0.contains(name) || name == "CancellableQueue" })
        gate.open()
    }

    @Test func aTestWhoseTasksHaveEndedPasses() async throws {
        let outcome = try await Outcome(of: patient) {
            let bag = TaskBag()
            bag.addTask {}
            try await bag.drain()
            try await FIFOQueue().run {}
            _ = try await retry(attempts: 1, backoff: .none) { 1 }
        }
        #expect(outcome.issues.isEmpty && outcome.error == nil)
    }

    /// The clock stands: what is waited for is the end of the task.
    @Test func aTaskThatIsAboutToEndIsWaitedFor() async throws {
        let (bag, gate) = (TaskBag(), Gate())
        let outcome = try await Outcome(of: patient) {
            bag.addTask { try? await gate.wait() }
            Task.detached { gate.open() }
        }
        #expect(outcome.issues.isEmpty)
    }

    @Test func whatAnotherTestStartsDoesNotCount() async throws {
        let (bag, gate) = (TaskBag(), Gate())
        let (other, started) = (Gate(), Gate())
        async let neighbor: Void = {
            await other.waitIgnoringCancellation()
            bag.addTask { try? await gate.wait() }
            started.open()
        }()
        let outcome = try await Outcome(of: patient) {
            other.open()
            await started.waitIgnoringCancellation()
        }
        await neighbor
        #expect(outcome.issues.isEmpty && outcome.error == nil)
        gate.open()
        try await bag.drain()
    }

    @Test func whatTasksOfTheTestStartCounts() async throws {
        let (bag, gate) = (TaskBag(), Gate())
        let tasks = try await Self.tasks {
            await Task { bag.addTask(name: "grandchild") { try? await gate.wait() } }.value
        }
        #expect(tasks.count == 1 && tasks.allSatisfy { $0.contains("grandchild") })
        gate.open()
        try await bag.drain()
    }

    @Test func aCancelledTaskThatStillRunsSaysSo() async throws {
        let (bag, gate) = (TaskStore<Int>(), Gate())
        let tasks = try await Self.tasks {
            bag.addTask(forKey: 1) { await gate.waitIgnoringCancellation() }
            try await gate.waitForWaiters()
            bag.cancelAll()
        }
        #expect(tasks.count == 1 && tasks.allSatisfy { $0.contains("runs although it was cancelled") })
        gate.open()
        try await bag.drain()
    }

    @Test func theErrorOfTheTestIsThrownOn() async throws {
        let outcome = try await Outcome(of: patient) { throw Mistake() }
        #expect(outcome.issues.isEmpty && outcome.error is Mistake)
    }

    @Test func bothTraitsSeeTheSameTasks() async throws {
        let (bag, gate) = (TaskBag(), Gate())
        let outcome = try await Outcome(of: impatient) {
            try await ExplainsHangsTrait(limit: .seconds(1), clock: TestClock()).provideScope(
                for: try #require(Test.current),
                testCase: Test.Case.current
            ) { bag.addTask { try? await gate.wait() } }
        }
        #expect(outcome.issues.count == 1)
        gate.open()
        try await bag.drain()
    }

    @Test(.noTaskLeftBehind, .simulated(seeds: 0..<20), .noTaskLeftBehind) func aSimulatedTestLeavesNone() async throws
    {
        let bag = TaskBag()
        bag.addTask { try? await Task.sleep(for: .seconds(1)) }
        try await bag.drain()
    }

    @Test(.enabled(if: Simulation.isSupported)) func aSimulatedSeedThatLeavesATaskIsOneIssue() async throws {
        var trait = NoTaskLeftBehindTrait(limit: .seconds(1), clock: ContinuousClock())
        trait.recordsOrigins = false
        let outcome = try await Outcome(of: TaskControlTrait.simulated(seeds: 3..<5)) { [trait] in
            try await trait.provideScope(
                for: try #require(Test.current),
                testCase: Test.Case.current
            ) { TaskBag.shared.addTask(name: "late") { try? await Task.sleep(for: .seconds(2)) } }
        }
        #expect(try outcome.issue.text.contains("task \"late\"") && outcome.issue.text.contains("seed 3"))
    }

    @Test(.enabled(if: Simulation.isSupported)) func theTasksOfASimulatedSeedThatFailsAreNoSecondIssue() async throws {
        let outcome = try await Outcome(of: impatient) {
            try await TaskControlTrait.simulated(seeds: 3..<5).provideScope(
                for: try #require(Test.current),
                testCase: Test.Case.current
            ) {
                TaskBag.shared.addTask { await Task.yield() }
                Issue.record("so it is")
            }
        }
        #expect(try outcome.issue.comments.first == "so it is")
    }
}

extension TaskBag {
    fileprivate static let shared = TaskBag()
}
