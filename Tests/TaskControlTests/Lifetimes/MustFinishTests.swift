import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Tasks that their owner does not cancel: `addTask(mustFinish: true)`.
@Suite(.timeLimit(.minutes(15)))
struct MustFinishTests {
    private let log = OrderRecorder<String>()
    private let gate = Gate()

    private func pay(_ lifetime: AsyncLifetime) -> Task<Void, Never> {
        lifetime.addTask(name: "payment", mustFinish: true) { [log, gate] in
            log.record("begun")
            await gate.waitIgnoringCancellation()
            log.record(Task.isCancelled ? "cancelled" : "finished")
        }
    }

    @Test func cancellingAndClosingTheOwnerLeaveItRunning() async throws {
        let lifetime = AsyncLifetime()
        let task = pay(lifetime)
        let other = lifetime.addTask { try await Gate().wait() }
        lifetime.cancelAll()
        await other.value
        lifetime.close()
        #expect(lifetime.count == 1)
        gate.open()
        await task.value
        #expect(log.events == ["begun", "finished"] && lifetime.isEmpty)
    }

    @MainActor @Test func itBeginsAlsoAfterTheEndOfItsOwner() async throws {
        var lifetime: AsyncLifetime? = AsyncLifetime()
        let task = lifetime!.addTask(mustFinish: true) { @MainActor [log] in log.record("\(Task.isCancelled)") }
        lifetime = nil
        await task.value
        #expect(log.events == ["false"])
    }

    @Test func itsOwnHandleCancelsIt() async throws {
        let lifetime = AsyncLifetime()
        let task = pay(lifetime)
        try await log.waitForEvents(count: 1)
        task.cancel()
        gate.open()
        await task.value
        #expect(log.events == ["begun", "cancelled"])
    }

    @Test func aClosedOwnerRefusesIt() async throws {
        let lifetime = AsyncLifetime()
        lifetime.close()
        let task = pay(lifetime)
        await task.value
        #expect(task.isCancelled && log.events == [])
    }

    @Test(arguments: [WaitingWorkBehavior.run, .cancel])
    func aShutdownWaitsForItAlsoAfterItsGrace(waiting: WaitingWorkBehavior) async throws {
        let (lifetime, clock) = (AsyncLifetime(), TestClock())
        let task = pay(lifetime)
        lifetime.addTask(name: "other") { try await Gate().wait() }
        let shutdown = Task { await lifetime.shutdown(grace: .seconds(5), waiting: waiting, clock: clock) }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(5))
        #expect(!task.isCancelled)
        gate.open()
        #expect(await shutdown.value.cancelled == ["other"])
        #expect(log.events == ["begun", "finished"])
    }

    /// A shutdown that ends the attempts of others does not end its attempts.
    @Test func itsRetriesGoOn() async throws {
        let (lifetime, clock) = (AsyncLifetime(), TestClock())
        let task = lifetime.addTask(mustFinish: true) { [log] in
            try await retry(attempts: 3, backoff: .fixed(.seconds(1)), clock: clock) {
                log.record("attempt")
                if log.count < 3 { throw MarkedError("no") }
            }
        }
        try await clock.waitForSleepers()
        let shutdown = Task { await lifetime.shutdown(grace: .seconds(100), waiting: .cancel, clock: clock) }
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .seconds(1), waking: 1)
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .seconds(1), waking: 1)
        await task.value
        #expect(await shutdown.value.isEmpty)
        #expect(log.count == 3)
    }
}
