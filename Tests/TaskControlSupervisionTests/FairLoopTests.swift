import TaskControl
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

/// Work that follows itself without a pause: other tasks of the same actor run soon nevertheless.
@Suite(.timeLimit(.minutes(15)))
struct FairLoopTests {
    @Test @MainActor func periodicWorkThatIsAlwaysLateLetsOtherTasksOfItsActorRun() async throws {
        let (turns, lifetime) = (LoopTurns(), AsyncLifetime())
        lifetime.every(.nanoseconds(1)) { @MainActor in turns.next() }
        try await turns.wait(for: 500)
        lifetime.close()
        #expect(try #require(await turns.beforeAnotherTask()) <= 100)
    }

    @Test @MainActor func workThatIsRestartedAtOnceLetsOtherTasksOfItsActorRun() async throws {
        let (turns, lifetime) = (LoopTurns(), AsyncLifetime())
        lifetime.keepRunning("work", limit: .unlimited, backoff: .none) { @MainActor _ in
            turns.next()
            throw MarkedError()
        }
        try await turns.wait(for: 500)
        lifetime.close()
        #expect(try #require(await turns.beforeAnotherTask()) <= 100)
    }
}
