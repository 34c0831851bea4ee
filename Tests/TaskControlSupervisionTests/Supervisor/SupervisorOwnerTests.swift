import TaskControl
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

/// A supervisor as one of several owners of tasks.
@Suite(.timeLimit(.minutes(15)))
struct SupervisorOwnerTests {
    private let log = OrderRecorder<String>()

    /// Adds a child that is ready at once, and runs until it is cancelled.
    @discardableResult
    private func add(_ name: String, to supervisor: Supervisor, grace: Duration = .zero) -> SupervisedWork {
        supervisor.keepRunning(name, grace: grace) { [log] run in
            run.markReady()
            defer { log.record("\(name): \(Task.cancellationCause.map { "\($0)" } ?? "-")") }
            try await Gate().wait()
        }
    }

    @Test func allChildrenAreCancelledAndTheSupervisorStaysOpen() async throws {
        let supervisor = Supervisor()
        let (first, second) = (add("a", to: supervisor), add("b", to: supervisor, grace: .seconds(1_000)))
        #expect(supervisor.count == 2 && !supervisor.isEmpty)
        let held = Gate()
        let last = supervisor.keepRunning("c") { run in
            run.markReady()
            await held.waitIgnoringCancellation()
        }
        let run = Task { try await supervisor.run() }
        for work in [first, second, last] { try await work.waitUntilReady() }
        supervisor.cancelAll(because: "the user has signed out")
        #expect(supervisor.isEmpty)
        await first.stop()
        await second.stop()
        #expect(log.events.count == 2)
        #expect(log.events.allSatisfy { $0.contains("the user has signed out") })
        let later = add("d", to: supervisor)
        #expect(supervisor.count == 1)
        try await later.waitUntilReady()
        held.open()
        await last.stop()
        supervisor.close()
        try await run.value
        guard case .stopped = add("e", to: supervisor).state else {
            Issue.record("A closed supervisor accepts no child.")
            return
        }
    }

    @Test func aChildThatIsCancelledIsNotRestarted() async throws {
        let supervisor = Supervisor()
        let work = supervisor.keepRunning("a") { [log] run in
            log.record("\(run.number)")
            run.markReady()
            try await Gate().wait()
        }
        let run = Task { try await supervisor.run() }
        try await work.waitUntilReady()
        supervisor.cancelAll()
        try await run.value
        #expect(log.events == ["1"])
    }

    @Test func aDrainWaitsForChildrenAndStopsNone() async throws {
        let supervisor = Supervisor()
        try await supervisor.drain()
        let gate = Gate()
        let work = supervisor.keepRunning("a", restart: .onFailure) { run in
            run.markReady()
            try await gate.wait()
        }
        let drain = Task { try await supervisor.drain() }
        let run = Task { try await supervisor.run() }
        try await work.waitUntilReady()
        let left = Task { try await supervisor.drain() }
        left.cancel()
        await #expect(throws: CancellationError.self) { try await left.value }
        gate.open()
        try await drain.value
        try await run.value
        #expect(supervisor.isEmpty)
    }

    @Test func aDrainEndsWhenChildrenThatNeverRanAreCancelled() async throws {
        let supervisor = Supervisor()
        add("a", to: supervisor)
        let drain = Task { try await supervisor.drain() }
        supervisor.cancelAll()
        try await drain.value
        #expect(log.events.isEmpty)
    }

    @Test func aShutdownCancelsWhatIsLeftAfterItsGrace() async throws {
        let clock = TestClock()
        let owner: any TaskOwner
        let supervisor = Supervisor(clock: clock)
        owner = supervisor
        let works = ["a", "b"].map { add($0, to: supervisor, grace: .seconds(1_000)) }
        let run = Task { try await supervisor.run() }
        for work in works { try await work.waitUntilReady() }
        let shutdown = Task { await owner.shutdown(grace: .seconds(5), clock: clock) }
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .seconds(4))
        #expect(log.events.isEmpty)
        await clock.advance(by: .seconds(1))
        _ = await shutdown.value
        try await run.value
        #expect(log.events.map { $0.prefix(1) } == ["b", "a"])
    }

    @Test func aShutdownWithoutGraceCancelsAtOnce() async throws {
        let supervisor = Supervisor()
        let works = ["a", "b"].map { add($0, to: supervisor, grace: .seconds(1_000)) }
        let run = Task { try await supervisor.run() }
        for work in works { try await work.waitUntilReady() }
        await supervisor.shutdown(grace: .zero)
        try await run.value
        #expect(log.events.count == 2)
    }

    @Test func childrenAreCancelledAtAnyPoint() throws {
        try simulate(seeds: 0..<300) { sim in
            let supervisor = Supervisor()
            for name in ["a", "b"] {
                supervisor.keepRunning(name) { run in
                    await Task.yield()
                    run.markReady()
                    try await Task.sleep(for: .seconds(1_000))
                }
            }
            async let run: Void = supervisor.run()
            let cancelling = Task {
                await Task.yield()
                supervisor.cancelAll()
                try await supervisor.drain()
            }
            try await cancelling.value
            try await run
            sim.expect(supervisor.isEmpty, "no child is left")
        }
    }
}
