import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// The findings of a review of the simulation, each kept as a test.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct SimulationCornerTests {
    private final class Spawner: Sendable {
        deinit { Task {} }
    }

    private final class Canceller: Sendable {
        let task = Task { try? await Task.sleep(for: .seconds(9)) }
        deinit { task.cancel() }
    }

    /// The last reference to a task, and with it to its result, is the simulation's own.
    @Test func theResultOfATaskMayDoAnythingWhenItGoes() throws {
        try simulate(seeds: 0..<50, checksDeterminism: true) { _ in
            Task { Spawner() }
            Task {
                let canceller = Canceller()
                for _ in 0..<5 { await Task.yield() }
                return canceller
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// Cancelled, it would loop forever without giving the thread back.
    @Test func aSeedThatFailsIsToldWhateverItLeavesBehind() throws {
        let failure = try #require(
            failure { sim in
                Task { while true { try? await Task.sleep(for: .seconds(1)) } }
                try await Task.sleep(for: .seconds(3))
                sim.expect(false, "three seconds")
            }
        )
        guard case .expectation("three seconds", _) = failure.reason else { Issue.record("\(failure)"); return }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func immediateTasksSleepInVirtualTime() throws {
        try simulate(seeds: 0..<50, checksDeterminism: true) { sim in
            try await Task.immediate { try await Task.sleep(for: .seconds(1)) }.value
            try await Task.immediateDetached {
                await Task.yield()
                try await Task.sleep(for: .seconds(1))
            }.value
            try await Task.immediate { @MainActor in try await Task.sleep(for: .seconds(1)) }.value
            sim.expect(sim.now == .seconds(3))
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func noExecutorAndTheSystemsOwnAreTheSimulations() throws {
        try simulate(seeds: 0..<50, checksDeterminism: true) { sim in
            let counter = Counter()
            await Task(executorPreference: nil) {
                await counter.add(1)
                try? await Task.sleep(for: .seconds(1))
            }.value
            await Task(executorPreference: globalConcurrentExecutor) {
                await counter.add(1)
                try? await Task.sleep(for: .seconds(1))
            }.value
            await withTaskExecutorPreference(nil) {
                await counter.add(1)
                try? await Task.sleep(for: .seconds(1))
            }
            sim.expect(await counter.value == 3)
            sim.expect(sim.now == .seconds(3))
        }
    }

    /// An actor that outlives a seed that failed still works.
    @Test func anActorThatOutlivesAFailedSeedGoesOn() async throws {
        for seed in 0..<10 as Range<UInt64> {
            let shared = Counter()
            _ = failure(seed: seed, maxSteps: 1_000) { _ in
                for _ in 0..<3 {
                    Task.detached {
                        while true {
                            await shared.add(1)
                            await Task.yield()
                        }
                    }
                }
            }
            await Task { await shared.add(1) }.value
        }
    }

    /// An action is not left to the end of time by a sleep that was cancelled, under every seed.
    @Test func anActionMayComeBeforeACancelledSleepEnds() throws {
        let times = OrderRecorder<Duration>()
        try simulate(seeds: 0..<100) { sim in
            let gate = Gate()
            let limit = Task { try await Task.sleep(for: .seconds(3_600)) }
            for _ in 0..<3 { await Task.yield() }
            limit.cancel()
            sim.atAnyPoint { gate.open() }
            await gate.waitIgnoringCancellation()
            times.record(sim.now)
        }
        #expect(times.events.count { $0 == .zero } > 20)
    }

    @MainActor private static var count = 0

    @MainActor private static func countUp() {
        for _ in 0..<200 { count += 1 }
    }

    /// Two at once, on threads of their own: what the main actor guards is guarded.
    @Test func simulationsTakeTurnsOnTheMainActor() async throws {
        let before = await MainActor.run { Self.count }
        await withTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                        Thread.detachNewThread {
                            _ = try? simulate(seeds: 0..<200, strategy: .random) { _ in
                                await withTaskGroup { group in
                                    for _ in 0..<5 { group.addTask { await Self.countUp() } }
                                }
                            }
                            continuation.resume()
                        }
                    }
                }
            }
        }
        #expect(await MainActor.run { Self.count } - before == 2 * 200 * 5 * 200)
    }

    /// Not quadratic in steps and tasks together, under either strategy.
    @Test(arguments: [Simulation.Strategy.random, .pct(depth: 3)])
    func manyTasksInOneSeed(strategy: Simulation.Strategy) throws {
        let run = try simulate(seed: 1, strategy: strategy) { sim in
            await withTaskGroup { group in
                for _ in 0..<2_000 { group.addTask { try? await Task.sleep(for: .seconds(1)) } }
            }
            for _ in 0..<1_000 { sim.atAnyPoint {} }
        }
        #expect(run.stepCount > 2_000)
    }

    @Test func aLongListOfThoseWhoHaveNotEndedIsCut() throws {
        let failure = try #require(
            failure { _ in
                for _ in 0..<1_000 { Task { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } } }
            }
        )
        #expect(failure.description.contains("and 970 more") && failure.description.utf8.count < 10_000)
    }

    @MainActor private static func waitOnMain(for task: Task<Void, Never>) async { await task.value }

    @Test func aTaskOnTheMainActorSaysWhatItWaitsFor() throws {
        let failure = try #require(
            failure { _ in
                let lost = Task(name: "lost") { @MainActor in
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
                await Self.waitOnMain(for: lost)
            }
        )
        #expect(
            failure.unfinished.map { "\($0.state)" } == ["waits for #1 lost", "waits for a continuation to be resumed"]
        )
    }

    /// A constant would hang code that draws until a number suits it.
    @Test func randomNumbersOutsideAreTheSystems() throws {
        let kept = Locked<(any RandomNumberGenerator & Sendable)?>(nil)
        try simulate(seed: 1) { sim in kept.withLock { $0 = sim.random } }
        var random = try #require(kept.withLock { $0 })
        #expect((0..<3).contains(Int.random(in: 0..<3, using: &random)))
    }

    @MainActor private final class Closing {
        let journal: OrderRecorder<String>
        init(_ journal: OrderRecorder<String>) { self.journal = journal }
        isolated deinit { journal.record("deinit") }
    }

    @MainActor private static func record(_ word: String, in journal: OrderRecorder<String>) { journal.record(word) }

    /// As the runtime has it: both go to the main actor's queue, one after the other.
    @Test func anIsolatedDeinitOnTheMainActorComesBeforeALaterHop() throws {
        try simulate(seeds: 0..<500) { sim in
            let journal = OrderRecorder<String>()
            var closing: Closing? = await Closing(journal)
            await Task.yield()
            sim.expect(closing != nil)
            closing = nil
            await Self.record("hop", in: journal)
            sim.expect(journal.events, equals: ["deinit", "hop"])
        }
    }

    private actor Jobs {
        private(set) var order: [String] = []

        func add(_ name: String) { order.append(name) }

        func create() -> [Task<Void, Never>] {
            [
                Task(priority: .high) { add("high") },
                Task(priority: .low) { add("low") },
                Task(priority: .medium) { add("medium") },
            ]
        }
    }

    /// As the runtime has it: nothing runs on the actor before all three are in its queue.
    @Test func tasksThatAnActorCreatesForItselfBeginByPriority() throws {
        try simulate(seeds: 0..<500) { sim in
            let jobs = Jobs()
            for task in await jobs.create() { await task.value }
            let order = await jobs.order
            sim.expect(order == ["high", "medium", "low"], "\(order)")
        }
    }
}
