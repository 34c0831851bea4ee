import TaskControl
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

/// Work that follows itself without a pause: other tasks of the same actor run soon nevertheless.
@Suite(.timeLimit(.minutes(15)))
struct FairLoopTests {
    /// Counts the turns of a loop on the main actor, and those before another task of the main actor, which was created first, has run.
    @MainActor private final class Turns {
        let end = Gate()
        private var count = 0
        private var seen: Int?
        private var other: Task<Void, Never>?

        init() {}

        func next() {
            if other == nil { other = Task { @MainActor in self.seen = self.count } }
            count += 1
            if count == 500 { end.open() }
        }

        func beforeAnotherTask() async -> Int? {
            await other?.value
            return seen
        }
    }

    @Test @MainActor func periodicWorkThatIsAlwaysLateLetsOtherTasksOfItsActorRun() async throws {
        let (turns, lifetime) = (Turns(), AsyncLifetime())
        lifetime.every(.nanoseconds(1)) { @MainActor in turns.next() }
        try await turns.end.wait()
        lifetime.close()
        #expect(try #require(await turns.beforeAnotherTask()) <= 100)
    }

    @Test @MainActor func workThatIsRestartedAtOnceLetsOtherTasksOfItsActorRun() async throws {
        let (turns, lifetime) = (Turns(), AsyncLifetime())
        lifetime.keepRunning("work", limit: .unlimited, backoff: .none) { @MainActor _ in
            turns.next()
            throw MarkedError()
        }
        try await turns.end.wait()
        lifetime.close()
        #expect(try #require(await turns.beforeAnotherTask()) <= 100)
    }
}
