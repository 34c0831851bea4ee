import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// Loops of the library that never wait: other tasks of the same actor run soon nevertheless.
@Suite(.timeLimit(.minutes(15)))
struct FairLoopTests {
    /// Counts the turns of a loop on the main actor, and those before another task of the main actor, which was created first, has run.
    @MainActor private final class Turns {
        private(set) var count = 0
        private var seen: Int?
        private var other: Task<Void, Never>?

        init() {}

        func next() {
            if other == nil { other = Task { @MainActor in self.seen = self.count } }
            count += 1
        }

        func beforeAnotherTask() async -> Int? {
            await other?.value
            return seen
        }
    }

    @Test @MainActor func aRetryWithoutADelayLetsOtherTasksOfItsActorRun() async throws {
        let turns = Turns()
        await #expect(throws: MarkedError()) {
            try await retry(attempts: 10_000, backoff: .none) {
                turns.next()
                throw MarkedError()
            }
        }
        #expect(turns.count == 10_000)
        #expect(try #require(await turns.beforeAnotherTask()) <= 100)
    }

    @Test @MainActor func aPollWithoutADelayLetsOtherTasksOfItsActorRun() async throws {
        let turns = Turns()
        let count = try await poll(every: .none) {
            turns.next()
            return turns.count
        } until: {
            $0 == 1_000
        }
        #expect(count == 1_000)
        #expect(try #require(await turns.beforeAnotherTask()) <= 100)
    }

    /// The caller's task is suspended once for many attempts: the first attempt, and a few after it, cost nothing.
    @Test @MainActor func aFewAttemptsAreMadeWithoutASuspension() async throws {
        let turns = Turns()
        try await retry(attempts: 3, backoff: .none) {
            turns.next()
            if turns.count < 2 { throw MarkedError() }
        }
        #expect(turns.count == 2)
        #expect(await turns.beforeAnotherTask() == 2)
    }
}
