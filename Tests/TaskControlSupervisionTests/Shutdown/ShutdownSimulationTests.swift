import TaskControl
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

/// Shutdowns that are cancelled at any point: each step is performed, in order, and no work outlives the shutdown.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct ShutdownSimulationTests {
    @Test func aPlanAndACancellation() async throws {
        try await race { sim in
            let (log, cancelled) = (OrderRecorder<String>(), OrderRecorder<String>())
            let (bag, supervisor, begun) = (TaskBag(), Supervisor(), Gate())
            let (short, long) = (Duration.milliseconds(sim.seed % 20), Duration.milliseconds(sim.seed / 20 % 20))
            bag.addTask {
                begun.open()
                try? await Task.sleep(for: long)
                if Task.isCancelled { cancelled.record("TaskBag") }
                log.record("task")
            }
            let child = supervisor.keepRunning("child", grace: .milliseconds(10)) { run in
                run.markReady()
                await run.waitForStop()
                try? await Task.sleep(for: short)
                if Task.isCancelled { cancelled.record("Supervisor") }
                log.record("child")
            }
            let run = Task { try await supervisor.run() }
            try await begun.wait()
            try await child.waitUntilReady()
            let plan = ShutdownPlan(steps: [
                .operation("first", grace: .milliseconds(10)) {
                    defer { log.record("first") }
                    try await Task.sleep(for: short)
                },
                .owner(bag, grace: .milliseconds(10)),
                .supervisor(supervisor, grace: .milliseconds(5)),
                .operation("last", grace: .milliseconds(10)) { log.record("last") },
            ])
            let shutdown = Task { try await plan.shutdown() }
            sim.cancelAtAnyPoint(shutdown)
            let result = await shutdown.result
            let events = log.events
            // The task of the bag may end before its step.
            sim.expect(
                events.filter { $0 != "task" } == ["first", "child", "last"] && events.contains("task")
                    && events.last == "last",
                "all steps are performed in order"
            )
            var failed: [String] = []
            if case .failure(let error) = result { failed = (error as? ShutdownError)?.failures.map(\.name) ?? [] }
            sim.expect(Set(failed).isSuperset(of: cancelled.events), "\(cancelled.events) were cut off, not \(failed)")
            sim.expect(failed == ["first", "TaskBag", "Supervisor"].filter(failed.contains), "\(failed) have failed")
            try await run.value
        }
    }

    @Test func aTriggerAndACancellation() async throws {
        try await race { sim in
            let (supervisor, running) = (Supervisor(), OrderRecorder<Int>())
            let works = (0..<2).map { _ in
                supervisor.keepRunning("child", backoff: .fixed(.milliseconds(5)), grace: .milliseconds(5)) { run in
                    running.record(1)
                    defer { running.record(-1) }
                    run.markReady()
                    try await Task.sleep(for: .milliseconds(sim.seed % 30))
                    if run.number == 1 { throw MarkedError() }
                    await run.waitForStop()
                }
            }
            let run = Task {
                try await supervisor.run { try? await Task.sleep(for: .milliseconds(sim.seed / 30 % 30)) }
            }
            sim.cancelAtAnyPoint(run)
            // The call that runs the children has begun.
            try? await works[0].waitUntilReady()
            let other = Task { try await supervisor.run { try? await Gate().wait() } }
            let results = [await run.result, await other.result]
            sim.expect(running.events.reduce(0, +) == 0, "no run outlives the supervisor")
            for case .failure(let error) in results {
                sim.expect(error is CancellationError, "the children do not fail for good")
            }
        }
    }
}
