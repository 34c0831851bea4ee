import TaskControl
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct SupervisorTriggerTests {
    private let clock = TestClock()
    private let log = OrderRecorder<String>()

    /// Adds a child that is ready at once and waits for the request to stop, or for its cancellation.
    private func add(_ name: String, to supervisor: Supervisor) -> SupervisedWork {
        supervisor.keepRunning(name, grace: .seconds(60)) { [log] run in
            run.markReady()
            await run.waitForStop()
            log.record(Task.isCancelled ? "\(name) is cancelled" : "\(name) is asked to stop")
        }
    }

    @Test func childrenStopInOrderWhenTheTriggerReturns() async throws {
        let (supervisor, trigger) = (Supervisor(clock: clock), Gate())
        let works = ["a", "b"].map { add($0, to: supervisor) }
        let run = Task { try await supervisor.run { try? await trigger.wait() } }
        for work in works { try await work.waitUntilReady() }
        #expect(log.events.isEmpty)
        trigger.open()
        try await run.value
        #expect(log.events == ["b is asked to stop", "a is asked to stop"])
    }

    @Test func aTriggerThatReturnsAtOnceStopsTheChildren() async throws {
        let supervisor = Supervisor(clock: clock)
        _ = add("a", to: supervisor)
        try await supervisor.run {}
        #expect(log.events.isEmpty || log.events == ["a is asked to stop"])
    }

    @Test func theTriggerIsCancelledWhenTheChildrenHaveEnded() async throws {
        let supervisor = Supervisor(clock: clock)
        supervisor.keepRunning("short", restart: .onFailure) { _ in }
        try await supervisor.run { try? await Gate().wait() }
        let failing = Supervisor(clock: clock)
        failing.keepRunning("failing", restart: .never) { _ in throw MarkedError() }
        await #expect(throws: SupervisionError.self) { try await failing.run { try? await Gate().wait() } }
    }

    @Test func aSecondCallDoesNotStopTheChildren() async throws {
        let (supervisor, trigger) = (Supervisor(clock: clock), Gate())
        let work = add("a", to: supervisor)
        let run = Task { try await supervisor.run { try? await trigger.wait() } }
        try await work.waitUntilReady()
        try await supervisor.run { try? await Gate().wait() }
        #expect(!work.state.isFinal)
        trigger.open()
        try await run.value
        #expect(log.events == ["a is asked to stop"])
    }

    @Test func theTriggerOfASecondCallIsNotCalled() async throws {
        let supervisor = Supervisor(clock: clock)
        let work = add("a", to: supervisor)
        let run = Task { try await supervisor.run() }
        try await work.waitUntilReady()
        for _ in 0..<1_000 { try await supervisor.run { [log] in log.record("trigger") } }
        #expect(!work.state.isFinal && log.events.isEmpty)
        await supervisor.shutdown()
        try await run.value
    }

    @Test func aCancelledCallerStopsTheChildrenWithoutGrace() async throws {
        let supervisor = Supervisor(clock: clock)
        let works = ["a", "b"].map { add($0, to: supervisor) }
        let run = Task { try await supervisor.run { try? await Gate().wait() } }
        for work in works { try await work.waitUntilReady() }
        run.cancel()
        // The clock stands still.
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(log.events == ["b is cancelled", "a is cancelled"])
    }
}
