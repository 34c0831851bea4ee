import TaskControl
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

/// A waiter raises the work that it waits for. A run that must be raised waits until it has been, so a run that is not raised runs into the time limit.
@Suite(.timeLimit(.minutes(15)))
struct SupervisionRaisingTests {
    private let lifetime = AsyncLifetime(name: "model")

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aTaskThatWaitsForReadinessRaisesTheRunAndTheRunsAfterIt() async throws {
        let work = lifetime.keepRunning("feed", restart: .onFailure, backoff: .none, priority: .background) { run in
            await untilRaised(to: .high)
            if run.number == 1 { throw MarkedError() }
            run.markReady()
        }
        try await Task(priority: .high) { try await work.waitUntilReady() }.value
        await work.stop()
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aTaskThatStopsTheWorkRaisesItsRun() async throws {
        let work = lifetime.keepRunning("feed", priority: .background) { run in
            run.markReady()
            await untilRaised(to: .high)
        }
        try await work.waitUntilReady()
        await Task(priority: .high) { await work.stop() }.value
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aTaskThatDrainsTheLifetimeRaisesTheRun() async throws {
        let work = lifetime.keepRunning("feed", restart: .never, priority: .background) { run in
            run.markReady()
            await untilRaised(to: .high)
        }
        try await work.waitUntilReady()
        try await Task(priority: .high) { [lifetime] in try await lifetime.drain() }.value
    }

    /// The children before another one must be ready before it starts.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aTaskThatWaitsForAChildRaisesTheChildrenBeforeIt() async throws {
        let supervisor = Supervisor(name: "backend")
        supervisor.keepRunning("database", priority: .background) { run in
            await untilRaised(to: .high)
            run.markReady()
            await run.waitForStop()
        }
        let queue = supervisor.keepRunning("queue", priority: .background) { run in
            await untilRaised(to: .high)
            run.markReady()
            await run.waitForStop()
        }
        let run = Task(priority: .background) { try await supervisor.run() }
        try await Task(priority: .high) { try await queue.waitUntilReady() }.value
        await supervisor.shutdown()
        try await run.value
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aTaskThatShutsASupervisorDownRaisesItsChildren() async throws {
        let supervisor = Supervisor(name: "backend")
        let work = (0..<2).map { number in
            supervisor.keepRunning("\(number)", grace: .seconds(3_600), priority: .background) { run in
                run.markReady()
                await untilRaised(to: .high)
            }
        }
        let run = Task(priority: .background) { try await supervisor.run() }
        for child in work { try await child.waitUntilReady() }
        _ = await Task(priority: .high) { await supervisor.shutdown() }.value
        try await run.value
    }
}
