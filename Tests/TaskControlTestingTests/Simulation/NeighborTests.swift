import TaskControlTesting
import TestSupport
import Testing

#if os(Linux)
import CTaskControlTesting
#endif

/// The simulation and the rest of the process leave each other alone.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported))
struct NeighborTests {
    private static func program(_ sim: Simulation) async throws {
        let counter = Counter()
        await withTaskGroup { group in
            for number in 0..<5 {
                group.addTask { await sleepOnMain(number, counter) }
            }
        }
        sim.expect(await counter.value == 5)
    }

    @MainActor private static func sleepOnMain(_ seconds: Int, _ counter: Counter) async {
        try? await Task.sleep(for: .seconds(seconds))
        await counter.add(1)
    }

    @MainActor @Test func itRunsOnTheMainActorsThread() throws {
        try simulate(seeds: 0..<100) { try await Self.program($0) }
        MainActor.assertIsolated()
    }

    /// Ordinary tasks that really sleep, and hop to the main actor, beside four simulations at once.
    @Test func ordinaryTasksBesideItReallySleep() async throws {
        let simulations = Gate()
        async let ordinary: Void = {
            repeat {
                let start = ContinuousClock.now
                try await Task.sleep(for: .milliseconds(2))
                #expect(start.duration(to: .now) >= .milliseconds(2))
                await MainActor.run { MainActor.assertIsolated() }
            } while !simulations.isOpen
        }()
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { try simulate(seeds: 0..<100) { try await Self.program($0) } }
            }
            try await group.waitForAll()
        }
        simulations.open()
        try await ordinary
    }

    /// After a simulation, the thread that it ran on is an ordinary one.
    @Test func timeIsRealAfterwards() async throws {
        try simulate(seed: 1) { _ in try await Task.sleep(for: .seconds(1_000)) }
        let clock = ContinuousClock()
        let one = clock.now
        try simulate(seed: 2) { sim in sim.expect(one.duration(to: clock.now) != .zero) }
        let two = clock.now
        #expect(one < two && one.duration(to: two) < .seconds(1_000))
        #expect(throws: Simulation.Failure.self) { try simulate(seed: 3) { sim in sim.expect(false) } }
        #expect(clock.now.duration(to: clock.now) < .seconds(1_000))
    }

    #if os(Linux)
    /// In a process of its own, where no other test has its hooks in place.
    @Test(.oneProcessAtATime) func nothingStaysHooked() async {
        await #expect(processExitsWith: .success) {
            precondition(!tc_isHooked())
            precondition(Simulation.isSupported && !tc_isHooked())
            try simulate(seeds: 0..<10) { _ in precondition(tc_isHooked()) }
            precondition(!tc_isHooked() && tc_context() == nil)
            do { try simulate(seed: 1) { sim in sim.expect(false) } } catch {}
            precondition(!tc_isHooked() && tc_context() == nil)
        }
    }

    /// The same seed, the same schedule, in another process too.
    @Test(.oneProcessAtATime, .tags(.unsanitized)) func aTraceIsTheSameInAnotherProcess() async throws {
        func trace() async throws -> [UInt8] {
            try #require(
                await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                    let runs = try (0..<100 as Range<UInt64>).map { seed in
                        try simulate(seed: seed, strategy: seed % 2 == 0 ? .random : .pct(depth: 3)) {
                            try await NeighborTests.program($0)
                        }
                    }
                    print("traces:", runs.map(\.fingerprint))
                }
            ).standardOutputContent
        }
        let (one, other) = (try await trace(), try await trace())
        #expect(one == other && String(decoding: one, as: UTF8.self).contains("traces:"))
    }

    /// Whole schedules leave nothing behind: resident memory is that of the first thousands after many more.
    @Test(.oneProcessAtATime, .tags(.large, .unsanitized)) func memoryIsFlatOverManySchedules() async {
        await #expect(processExitsWith: .success) {
            func run(_ seeds: Range<UInt64>) throws {
                try simulate(seeds: seeds) { sim in
                    await withTaskGroup { group in
                        for _ in 0..<5 { group.addTask { try? await Task.sleep(for: .seconds(1)) } }
                    }
                }
            }
            try run(0..<fullSize(5_000, inDebug: 2_000))
            let before = residentKilobytes()
            try run(5_000..<fullSize(25_000, inDebug: 10_000))
            let after = residentKilobytes()
            // 20,000 schedules, and 5,000 in a debug build; a task is more than 1 KB.
            precondition(after < before + 4_000, "\(before) KB before, \(after) KB after")
        }
    }
    #endif
}
