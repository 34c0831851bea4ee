import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// Loops of the library that never wait: other tasks of the same actor run soon nevertheless.
@Suite(.timeLimit(.minutes(15)))
struct FairLoopTests {
    @Test @MainActor func aRetryWithoutADelayLetsOtherTasksOfItsActorRun() async throws {
        let turns = LoopTurns()
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
        let turns = LoopTurns()
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
        let turns = LoopTurns()
        try await retry(attempts: 3, backoff: .none) {
            turns.next()
            if turns.count < 2 { throw MarkedError() }
        }
        #expect(turns.count == 2)
        #expect(await turns.beforeAnotherTask() == 2)
    }
}
