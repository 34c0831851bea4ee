import Synchronization
import TaskControl
import TestSupport
import Testing

@testable import TaskControlTesting

#if os(Linux)
/// A simulation for which no function is interposed: what Apple's platforms have.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.capabilities == .all), .tags(.schedules))
struct HooksOnlySimulationTests {
    private func run(
        seed: UInt64 = 1,
        _ strategy: Simulation.Strategy = .random,
        _ body: @escaping SimulationPlan.Body
    ) -> SimulationResult {
        let location = Simulation.Location(fileID: #fileID, filePath: #filePath, line: #line, column: #column)
        let call = SimulationCall(maxSteps: 1_000, location: location)
        let plan = SimulationPlan(seed: seed, strategy: strategy, call: call, capabilities: .schedules, grace: .zero)
        return SimulationSupport.run(plan, body)
    }

    /// The orders in which three pairs of steps came.
    private func orders(_ make: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>) -> Set<
        [Int]
    > {
        let orders = Mutex<Set<[Int]>>([])
        for seed in 0..<50 {
            let result = run(seed: UInt64(seed)) { sim in
                let order = OrderRecorder<Int>()
                let tasks = (1...3).map { number in
                    make {
                        order.record(number)
                        await Task.yield()
                        order.record(-number)
                    }
                }
                for task in tasks { await task.value }
                sim.expect(order.count == 6)
                orders.withLock { _ = $0.insert(order.events) }
            }
            #expect(result.reason == nil)
        }
        return orders.withLock { $0 }
    }

    @Test func theSeedOrdersUnstructuredTasks() {
        #expect(orders { work in Task { await work() } }.count > 10)
    }

    @Test func theSeedOrdersDetachedTasks() {
        #expect(orders { work in Task.detached { await work() } }.count > 10)
    }

    @Test func theSeedOrdersChildTasks() {
        let firsts = Mutex<Set<Int>>([])
        for seed in 0..<50 {
            let result = run(seed: UInt64(seed)) { _ in
                await withTaskGroup(of: Int.self) { group in
                    for number in 1...3 { group.addTask { number } }
                    let first = await group.next()!
                    firsts.withLock { _ = $0.insert(first) }
                }
            }
            #expect(result.reason == nil)
        }
        #expect(firsts.withLock { $0 } == [1, 2, 3])
    }

    @Test func oneSeedGivesTheSameRun() {
        func once(_ seed: UInt64) -> Simulation.Run {
            run(seed: seed) { _ in
                let counter = Counter()
                await withTaskGroup { group in
                    for number in 1...5 {
                        group.addTask {
                            await Task.yield()
                            await counter.add(number)
                        }
                    }
                }
                await Task { @MainActor in }.value
            }.run
        }
        for seed in 0..<20 { #expect(once(UInt64(seed)) == once(UInt64(seed))) }
    }

    @Test func sleepsTakeVirtualTime() {
        let result = run { sim in
            let order = OrderRecorder<Int>()
            await withTaskGroup { group in
                for hour in [3, 1, 2] {
                    group.addTask {
                        try? await Task.sleep(for: .seconds(3_600 * hour))
                        order.record(hour)
                    }
                }
            }
            sim.expect(order.events == [1, 2, 3])
            // The deadline is of the real clock.
            sim.expect((.seconds(3 * 3_600 - 1)...(.seconds(3 * 3_600))).contains(sim.now))
        }
        #expect(result.reason == nil)
    }

    @Test func theMainActorIsSimulated() {
        let result = run { sim in
            await MainActor.run { MainActor.assumeIsolated {} }
            let counter = Counter()
            await counter.add(1)
            sim.expect(await counter.value == 1)
        }
        #expect(result.reason == nil)
        #expect(result.log.steps.contains { $0.actor == "MainActor" })
    }

    @Test func aDeadlockIsSeen() {
        let result = run { _ in
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
        guard case .deadlock = result.reason else {
            Issue.record("the run did not end as a deadlock: \(String(describing: result.reason))")
            return
        }
        #expect(result.unfinished.map(\.description) == ["#0 body has not ended"])
    }

    private actor Yielding {
        func work() async -> Int {
            await Task.yield()
            return 1
        }

        func get() async -> Int { await Task { await work() }.value }
    }

    @Test func aTaskThatIsCreatedOnAnActorAndYieldsThereIsNotLost() {
        HookedDefaultExecutor.install
        for seed in 0..<200 as Range<UInt64> {
            let result = run(seed: seed) { sim in sim.expect(await Yielding().get(), equals: 1) }
            #expect(result.reason == nil, "\(seed)")
        }
    }

    /// Fewer bugs are found than with everything, and no correct program fails.
    @Test(arguments: PlantedBug.all) func noTwinFails(_ planted: PlantedBug) async throws {
        HookedDefaultExecutor.install
        let reasons = try await offThePool {
            Schedules.seeds(500, inDebug: 40).compactMap { seed in
                Self.reason(planted.twin, seed: seed).map { "\(seed): \($0)" }
            }
        }
        #expect(reasons.isEmpty)
    }

    @Test func mostPlantedBugsAreFound() async throws {
        HookedDefaultExecutor.install
        let missed = try await offThePool {
            PlantedBug.all.filter { planted in
                planted.foundBy == .schedules
                    && !(0..<1_000).contains { Self.reason(planted.bug, seed: $0) != nil }
            }
        }
        #expect(missed.count <= 12, "\(missed.map(\.name))")
    }

    private static func reason(_ body: @escaping PlantedBug.Body, seed: UInt64) -> Simulation.Failure.Reason? {
        let location = Simulation.Location(fileID: #fileID, filePath: #filePath, line: #line, column: #column)
        let plan = SimulationPlan(
            seed: seed,
            strategy: Simulation.Strategy.swarm.drawn(by: seed),
            call: SimulationCall(maxSteps: 100_000, location: location),
            capabilities: .schedules,
            grace: .zero
        )
        return SimulationSupport.run(plan) { try await body(PlantedBug.World($0)) }.reason
    }

    @Test func noFunctionIsInterposed() {
        let result = run { sim in
            let start = ContinuousClock.now
            try await Task.sleep(for: .seconds(3_600))
            sim.expect(start.duration(to: .now) < .seconds(3_600), "the clock is real")
        }
        #expect(result.reason == nil)
    }
}
#endif
