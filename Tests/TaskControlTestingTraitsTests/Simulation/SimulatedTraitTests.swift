import TaskControl
import TaskControlTesting
import TaskControlTestingTraits
import TestSupport
import Testing

/// The body of an ordinary test, under every seed.
@Suite(.simulated(seeds: 0..<100), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct SimulatedTraitTests {
    private static let orders = Locked<Set<[Int]>>([])

    @Test func aTestRunsInManyOrders() async {
        let recorder = OrderRecorder<Int>()
        await withTaskGroup { group in
            for number in 1...3 { group.addTask { recorder.record(number) } }
        }
        let count = Self.orders.withLock { orders in
            orders.insert(recorder.events)
            return orders.count
        }
        if Simulation.current?.seed == 99 { #expect(count == 6) }
    }

    @Test func timeIsVirtual() async throws {
        try await Task.sleep(for: .seconds(3_600))
        #expect(Simulation.current?.now == .seconds(3_600))
    }

    @Test @MainActor func aTestOnTheMainActorStaysThere() async {
        MainActor.assertIsolated()
        await Task.yield()
        MainActor.assertIsolated()
        #expect(Simulation.current != nil)
    }

    private static let runs = Locked<[Int: Int]>([:])

    @Test(arguments: [1, 2]) func eachCaseRunsUnderEverySeed(argument: Int) async {
        let runs = Self.runs.withLock { runs in
            runs[argument, default: 0] += 1
            return runs[argument]
        }
        #expect(runs.map { UInt64($0) } == Simulation.current.map { $0.seed + 1 })
    }

    private static let seeds = Locked<[UInt64]>([])

    @Test(.simulated(seeds: 5..<8)) func theTraitOfATestReplacesThatOfItsSuite() async throws {
        let seed = try #require(Simulation.current).seed
        let seeds = Self.seeds.withLock { seeds in
            seeds.append(seed)
            return seeds
        }
        #expect(seeds == Array(5...seed) && seed < 8)
    }

    @Suite struct Inner {
        @Test func aSuiteWithinASuiteIsSimulated() {
            #expect(Simulation.current != nil)
        }
    }

    @Test func aDetachedTaskFindsTheSimulation() async {
        let seed = await Task.detached { Simulation.current?.seed }.value
        #expect(seed != nil && seed == Simulation.current?.seed)
    }

    @Test func theSeedCancelsAtAnyPoint() async {
        let task = Task { try await Task.sleep(for: .seconds(1)) }
        Simulation.current?.cancelAtAnyPoint(task)
        _ = await task.result
    }
}

@Test func outsideASimulationThereIsNone() {
    #expect(Simulation.current == nil)
}
