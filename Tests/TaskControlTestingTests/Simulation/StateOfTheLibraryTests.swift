import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The state that the library keeps per process belongs to the seed: a seed runs as in a new process, whichever seeds have run before.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules), .serialized)
struct StateOfTheLibraryTests {
    private struct Busy: Error {}

    private final class Server: Sendable {
        private let calls = OrderRecorder<Int>()

        /// Fails twice, then succeeds.
        func answer() throws -> Int {
            calls.record(0)
            if calls.events.count <= 2 { throw Busy() }
            return calls.events.count
        }
    }

    // Twice as many failures as a budget has tokens for.
    private static let seeds: Range<UInt64> = 0..<80

    // MARK: Budgets

    private static let policy = RetryPolicy()
    private static let budget = RetryBudget()

    @Test func eachSeedBeginsWithFullBudgets() throws {
        let left = Self.budget.available
        try simulate(seeds: Self.seeds) { _ in
            let (first, second, third, fourth) = (Server(), Server(), Server(), Server())
            _ = try await retry { try first.answer() }
            _ = try await retry(RetryPolicy(attempts: 3)) { try second.answer() }
            _ = try await retry(Self.policy) { try third.answer() }
            _ = try await retry(attempts: 3, budget: Self.budget) { try fourth.answer() }
        }
        #expect(Self.budget.available == left)
    }

    @Test func aBudgetLastsForOneSeed() throws {
        try simulate(seeds: 0..<3) { sim in
            let budget = Self.budget
            sim.expect(budget.available, equals: budget.capacity)
            for _ in 0..<17 {
                let server = Server()
                _ = try await retry(attempts: 3, budget: budget) { try server.answer() }
            }
            sim.expect(budget.available, equals: budget.capacity - 17 * 14)
        }
    }

    // MARK: Flights and queues

    @Test func aFlightOfAFailedSeedIsNotJoined() throws {
        let gate = Gate()
        for seed in 0..<20 as Range<UInt64> {
            #expect(throws: Simulation.Failure.self) {
                try simulate(seed: seed) { sim in
                    try await withSingleFlight(key: "StateOfTheLibrary") {
                        sim.expect(false)
                        try await gate.wait()
                    }
                }
            }
            try simulate(seed: seed) { sim in
                let value = try await withSingleFlight(key: "StateOfTheLibrary") { 7 }
                sim.expect(value == 7)
            }
        }
    }

    @Test func aFlightOutsideIsNotJoined() async throws {
        let gate = Gate()
        let outside = Task { try await withSingleFlight(key: "StateOfTheLibrary.2") { try await gate.wait() } }
        try await gate.waitForWaiters()
        try await offThePool {
            try simulate(seed: 0) { _ in try await withSingleFlight(key: "StateOfTheLibrary.2") {} }
        }
        gate.open()
        try await outside.value
    }

    @Test func theQueueOfTheMainActorIsFreeInEachSeed() throws {
        for seed in 0..<20 as Range<UInt64> {
            #expect(throws: Simulation.Failure.self) {
                try simulate(seed: seed) { sim in
                    MainActor.queue.addTask { sim.expect(false) }
                    for _ in 0..<9 { MainActor.queue.addTask {} }
                    try await Task.sleep(for: .seconds(1))
                }
            }
            try simulate(seed: seed) { _ in await MainActor.queue.addTask {}.value }
        }
    }

    /// Each process of a simulated network is one of its own: a crash ends its flights, and no other node joins them.
    @Test func aFlightBelongsToItsProcess() throws {
        try simulate(seeds: 0..<20) { sim in
            let (network, calls) = (SimulatedNetwork(in: sim), OrderRecorder<String>())
            let nodes = ["a", "b"].map { name in
                network.addNode(name) { process in
                    process.addTask {
                        try await withSingleFlight(key: "StateOfTheLibrary.5") {
                            calls.record("\(name) \(process.incarnation)")
                            try await Task.sleep(for: .seconds(process.incarnation == 1 && name == "a" ? 3_600 : 1))
                            calls.record("\(name) \(process.incarnation) ended")
                        }
                    }
                }
            }
            try await network.run {
                try await Task.sleep(for: .seconds(2))
                nodes[0].restart()
                try await Task.sleep(for: .seconds(2))
            }
            sim.expect(Set(calls.events), equals: ["a 1", "b 1", "b 1 ended", "a 2", "a 2 ended"])
        }
    }

    // MARK: Events

    @Test func aMistakeIsReportedInEachSeed() throws {
        Diagnostics.keepQuiet()
        try simulate(seeds: 0..<20) { sim in
            let reports = OrderRecorder<TaskEvent>()
            let registration = TaskDiagnostics.observe(Recording(reports))
            for _ in 0..<2 { _ = RetryBudget(capacity: -1, cost: 0) }
            registration.end()
            sim.expect(reports.events.map(\.kind), equals: [.adjusted, .adjusted])
        }
    }

    @Test func anObserverOfASeedReceivesTheEventsOfItsSeed() throws {
        let received = OrderRecorder<String>()
        let seeds = 0..<20 as Range<UInt64>
        try simulate(seeds: seeds) { sim in
            TaskDiagnostics.install(Recording { received.record("\(sim.seed): \($0.ownerName ?? "")") })
            sim.outside { AsyncLifetime(name: "outside").close() }
            AsyncLifetime(name: "seed \(sim.seed)").close()
        }
        AsyncLifetime(name: "outside").close()
        #expect(Set(received.events) == Set(seeds.map { "\($0): seed \($0)" }))
    }

    // MARK: All of it

    private static let programs: [(name: String, body: @Sendable (Simulation) async throws -> Void)] = [
        (
            "budgets",
            { _ in
                let (first, second, third, fourth) = (Server(), Server(), Server(), Server())
                _ = try await retry { try first.answer() }
                _ = try await retry(RetryPolicy(attempts: 3)) { try second.answer() }
                _ = try await retry(policy) { try third.answer() }
                _ = try await retry(attempts: 3, budget: budget) { try fourth.answer() }
            }
        ),
        (
            "flights",
            { sim in
                let calls = OrderRecorder<Int>()
                for number in 0..<3 {
                    Task {
                        try await withSingleFlight(key: "StateOfTheLibrary.3") {
                            calls.record(number)
                            try await Task.sleep(for: .seconds(1))
                        }
                        sim.note("\(calls.events)")
                    }
                }
            }
        ),
        (
            "abandoned work",
            { sim in
                do {
                    try await withDetachedTimeout(.seconds(1)) { try? await Task.sleep(for: .seconds(2)) }
                } catch {
                    sim.note("\(error) after \(sim.now)")
                }
            }
        ),
        (
            "the queue of the main actor",
            { sim in
                let order = OrderRecorder<Int>()
                for number in 0..<3 { MainActor.queue.addTask { order.record(number) } }
                await MainActor.queue.addTask {}.value
                sim.note("\(order.events)")
            }
        ),
        (
            "waits",
            { sim in
                let queue = FIFOQueue()
                try await queue.run {
                    try await withSingleFlight(key: "StateOfTheLibrary.4") {
                        try await Task.sleep(for: .seconds(1))
                        do {
                            try await withSingleFlight(key: "StateOfTheLibrary.4") {}
                        } catch {
                            sim.note("\(error)")
                        }
                    }
                }
            }
        ),
        (
            "deadlines",
            { sim in
                try await withDeadline(Deadline(.now + .seconds(1), clock: ContinuousClock())) {
                    sim.note("\(Task.currentDeadline!.remaining)")
                    try? await Task.sleep(for: .milliseconds(10))
                    sim.note("\(Task.currentDeadline!.remaining)")
                }
            }
        ),
        (
            "events, mistakes and causes",
            { sim in
                let events = TaskDiagnostics.observe(Recording { sim.note("\($0.kind) at \($0.time)") })
                _ = RetryBudget(capacity: -1)
                let lifetime = AsyncLifetime(name: "StateOfTheLibrary")
                lifetime.addTask {
                    try? await Task.sleep(for: .seconds(1))
                    sim.note("\(Task.cancellationCause as Any)")
                }
                await Task.yield()
                lifetime.cancelAll(because: "enough")
                try await lifetime.drain()
                events.end()
            }
        ),
    ]

    /// Returns a text that is the same for equal runs of a program with the last seed. Every third seed before it fails in the
    /// middle.
    private static func lastRun(
        of program: @escaping @Sendable (Simulation) async throws -> Void,
        _ seeds: Range<UInt64>
    )
        -> String
    {
        Diagnostics.keepQuiet()
        var text = "none"
        for seed in seeds {
            do {
                let run = try simulate(seed: seed) { sim in
                    if sim.seed % 3 == 1 { sim.atAnyPoint { sim.expect(false) } }
                    try await program(sim)
                }
                text = "\(run.fingerprint) \(run.stepCount) \(run.elapsed)"
            } catch {
                text = "\(error)"
            }
        }
        return text
    }

    private static func lastRuns(of count: UInt64) -> String {
        programs.map { "the last run of \($0.name): \(lastRun(of: $0.body, 1_000 - count..<1_000))\n" }.joined()
    }

    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func theLastOfManySeedsIsThatOfANewProcess() async {
        let alone = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            System.writeToStandardError(StateOfTheLibraryTests.lastRuns(of: 1))
        }
        let last = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            System.writeToStandardError(StateOfTheLibraryTests.lastRuns(of: fullSize(1_000, inDebug: 100)))
        }
        #expect(text(last).contains("the last run of waits:") && text(last) == text(alone))
    }
    #endif

    private struct Recording: TaskObserver {
        let receive: @Sendable (TaskEvent) -> Void

        init(_ receive: @escaping @Sendable (TaskEvent) -> Void) { self.receive = receive }

        init(_ recorder: OrderRecorder<TaskEvent>) { receive = { recorder.record($0) } }

        func receive(_ event: TaskEvent) { receive(event) }
    }
}
