import TaskControl
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite(.timeLimit(.minutes(15)))
struct ShutdownPlanTests {
    private let clock = TestClock()
    private let log = OrderRecorder<String>()

    private func failedSteps(of plan: ShutdownPlan) async -> [ShutdownError.FailedStep] {
        do {
            try await plan.shutdown()
            return []
        } catch {
            return error.failures
        }
    }

    /// A step that records its beginning, waits for its cancellation, records that, and throws or returns.
    private func hanging(
        _ name: String,
        grace: Duration,
        then end: @escaping @Sendable () throws -> Void = { try Task.checkCancellation() }
    ) -> ShutdownPlan.Step {
        .operation(name, grace: grace) { [log] in
            log.record("\(name) begins")
            try? await Gate().wait()
            log.record("\(name) is cancelled")
            try end()
        }
    }

    @Test func stepsArePerformedInOrderAndAwaited() async throws {
        let (lifetime, supervisor) = (AsyncLifetime(name: "requests"), Supervisor(clock: TestClock()))
        let gate = Gate()
        let task = lifetime.addTask { [log] in
            await gate.waitIgnoringCancellation()
            log.record("requests")
        }
        for name in ["a", "b"] {
            supervisor.keepRunning(name) { [log] run in
                run.markReady()
                try? await Gate().wait()
                log.record(name)
            }
        }
        let last = supervisor.keepRunning("c") { [log] run in
            run.markReady()
            try? await Gate().wait()
            log.record("c")
        }
        let run = Task { try await supervisor.run() }
        try await last.waitUntilReady()
        let plan = ShutdownPlan(
            clock: clock,
            steps: [
                .owner(lifetime, grace: .seconds(10)),
                .supervisor(supervisor),
                .operation("metrics", grace: .seconds(1)) { [log] in log.record("metrics") },
            ]
        )
        let shutdown = Task { try await plan.shutdown() }
        try await clock.waitForSleepers()
        #expect(log.events.isEmpty)
        gate.open()
        try await shutdown.value
        try await run.value
        await task.value
        #expect(log.events == ["requests", "c", "b", "a", "metrics"])
    }

    @Test func eachErrorIsThrownAndNoStepIsLeftOut() async throws {
        let plan = ShutdownPlan(
            name: "server",
            clock: clock,
            steps: [
                .operation("first", grace: .seconds(1)) { throw MarkedError("1") },
                .operation("second", grace: .seconds(1)) { [log] in log.record("second") },
                .operation("third", grace: .seconds(1)) { throw MarkedError("3") },
            ]
        )
        let failures = await failedSteps(of: plan)
        #expect(failures.map(\.name) == ["first", "third"])
        #expect(failures.map { $0.error as? MarkedError } == [MarkedError("1"), MarkedError("3")])
        #expect(failures.allSatisfy { !$0.hasExceededGrace })
        #expect(log.events == ["second"])
        #expect("\(plan)" == #"ShutdownPlan "server""#)
    }

    @Test func anOperationThatExceedsItsGraceIsCancelledAndAwaited() async throws {
        let plan = ShutdownPlan(
            clock: clock,
            steps: [
                hanging("first", grace: .seconds(2)),
                .operation("second", grace: .seconds(1)) { [log] in log.record("second") },
            ]
        )
        let shutdown = Task { await failedSteps(of: plan) }
        try await clock.waitForSleepers()
        try await log.waitForEvents(count: 1)
        await clock.advance(by: .seconds(2))
        let failures = await shutdown.value
        #expect(log.events == ["first begins", "first is cancelled", "second"])
        #expect(failures.map(\.name) == ["first"] && failures.first?.hasExceededGrace == true)
        #expect(failures.first?.error as? TimeoutError == TimeoutError(duration: .seconds(2)))
        #expect(failures.first?.cancelledNames == ["first"])
    }

    /// A clock whose sleepers have no thread: they continue when they are cancelled.
    private struct ThreadlessClock: Clock {
        let time: TestClock
        let minimumResolution = Duration.zero

        var now: TestClock.Instant { time.now }

        func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws { try await Gate().wait() }
    }

    @Test(arguments: [Duration.seconds(10) - .nanoseconds(1), .seconds(10)])
    func theClockDecidesWhetherAStepHasExceededItsGrace(_ end: Duration) async {
        let step = ShutdownPlan.Step.operation("first", grace: .seconds(10)) { [clock] in
            await clock.advance(by: end)
            throw MarkedError("half written")
        }
        let failures = await failedSteps(of: ShutdownPlan(clock: ThreadlessClock(time: clock), steps: [step]))
        #expect(failures.map(\.hasExceededGrace) == [end == .seconds(10)])
    }

    @Test func anErrorAfterTheGraceIsKept() async throws {
        let plan = ShutdownPlan(
            clock: clock,
            steps: [hanging("flush", grace: .seconds(2)) { throw MarkedError("half written") }]
        )
        let shutdown = Task { await failedSteps(of: plan) }
        try await clock.waitForSleepers()
        try await log.waitForEvents(count: 1)
        await clock.advance(by: .seconds(2))
        let failure = try #require(await shutdown.value.first)
        #expect(failure.error as? MarkedError == MarkedError("half written") && failure.hasExceededGrace)
        #expect("\(failure)".hasSuffix("after its grace"))
    }

    @Test func anOperationThatReturnsAfterItsGraceHasSucceeded() async throws {
        let plan = ShutdownPlan(clock: clock, steps: [hanging("flush", grace: .seconds(2)) {}])
        let shutdown = Task { await failedSteps(of: plan) }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(2))
        #expect(await shutdown.value.isEmpty)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func anOperationWithoutGraceRunsCancelled(grace: Duration) async throws {
        let failures = await failedSteps(of: ShutdownPlan(clock: clock, steps: [hanging("flush", grace: grace)]))
        #expect(failures.first?.error as? TimeoutError == TimeoutError(duration: grace))
        #expect(log.events == ["flush begins", "flush is cancelled"])
    }

    @Test func anOwnerThatExceedsItsGraceHasFailedWithTheNamesOfItsTasks() async throws {
        let (lifetime, begun) = (AsyncLifetime(name: "requests"), Gate())
        lifetime.addTask(name: "request 7") { [log] in
            begun.open()
            try? await Gate().wait()
            log.record("cancelled")
        }
        try await begun.wait()
        let plan = ShutdownPlan(clock: clock, steps: [.owner(lifetime, grace: .seconds(3))])
        let shutdown = Task { await failedSteps(of: plan) }
        try await clock.waitForSleepers()
        #expect(log.events.isEmpty)
        await clock.advance(by: .seconds(3))
        let failure = try #require(await shutdown.value.first)
        #expect(log.events == ["cancelled"])
        #expect(failure.name == "requests" && failure.cancelledNames == ["request 7"] && failure.hasExceededGrace)
        #expect(failure.error as? TimeoutError == TimeoutError(duration: .seconds(3)))
        #expect("\(failure)".hasPrefix("requests: ") && "\(failure)".hasSuffix(" (cancelled: request 7)"))
    }

    @Test func anOwnerWithoutGraceHasNotFailed() async throws {
        let (lifetime, begun) = (AsyncLifetime(), Gate())
        lifetime.addTask {
            begun.open()
            try? await Gate().wait()
        }
        try await begun.wait()
        try await ShutdownPlan(clock: clock, steps: [.owner(lifetime, grace: .zero)]).shutdown()
    }

    @Test(arguments: [WaitingWorkBehavior.run, .cancel])
    func aStepPassesItsRuleForWorkThatWaits(_ waiting: WaitingWorkBehavior) async throws {
        let (store, begun, gate) = (TaskStore<Int>(maxConcurrentTasks: 1), Gate(), Gate())
        store.addTask(forKey: 0) {
            begun.open()
            try? await gate.wait()
        }
        try await begun.wait()
        store.addTask(forKey: 1) { [log] in log.record("waited") }
        let plan = ShutdownPlan(clock: clock, steps: [.owner(store, grace: .seconds(3), waiting: waiting)])
        let shutdown = Task { await failedSteps(of: plan) }
        try await clock.waitForSleepers()
        gate.open()
        #expect(await shutdown.value.isEmpty)
        #expect(log.events == (waiting == .run ? ["waited"] : []))
    }

    @Test func theGraceOfASupervisorEndsThoseOfItsChildren() async throws {
        // On a clock of its own, which stands still: only the step ends the grace.
        let supervisor = Supervisor(clock: TestClock())
        let child = supervisor.keepRunning("child", grace: .seconds(60)) { [log] run in
            run.markReady()
            try? await Gate().wait()
            log.record("cancelled")
        }
        let run = Task { try await supervisor.run() }
        try await child.waitUntilReady()
        let plan = ShutdownPlan(clock: clock, steps: [.supervisor(supervisor, grace: .seconds(2))])
        let shutdown = Task { await failedSteps(of: plan) }
        try await clock.waitForSleepers()
        #expect(log.events.isEmpty)
        await clock.advance(by: .seconds(2))
        let failure = try #require(await shutdown.value.first)
        try await run.value
        #expect(log.events == ["cancelled"])
        #expect(failure.cancelledNames == ["child"] && failure.hasExceededGrace)
        #expect(failure.error as? TimeoutError == TimeoutError(duration: .seconds(2)))
    }

    @Test func aChildThatExceedsItsOwnGraceFailsTheStep() async throws {
        let (supervisor, asked) = (Supervisor(name: "backend", clock: clock), Gate())
        for (name, grace) in [("a", Duration.seconds(1)), ("b", .zero)] {
            supervisor.keepRunning(name, grace: grace) { run in
                run.markReady()
                await run.waitForStop()
                if name == "a" { asked.open() }
                try? await Gate().wait()
            }
        }
        let last = supervisor.keepRunning("c", grace: .seconds(9)) { run in
            run.markReady()
            await run.waitForStop()
        }
        let run = Task { try await supervisor.run() }
        try await last.waitUntilReady()
        let shutdown = Task { await failedSteps(of: ShutdownPlan(clock: clock, steps: [.supervisor(supervisor)])) }
        try await asked.wait()
        await clock.advance(by: .seconds(1), waking: 1)
        let failure = try #require(await shutdown.value.first)
        try await run.value
        #expect(failure.name == "backend" && failure.cancelledNames == ["a"])
        #expect(failure.error as? TimeoutError == TimeoutError(duration: .seconds(1)))
    }

    /// The caller of `stop` has decided about that child.
    @Test func aChildThatWasStoppedBeforeFailsNoStep() async throws {
        let supervisor = Supervisor(clock: clock)
        let child = supervisor.keepRunning("child", grace: .seconds(1)) { run in
            run.markReady()
            try? await Gate().wait()
        }
        let run = Task { try await supervisor.run() }
        try await child.waitUntilReady()
        let stop = Task { await child.stop() }
        await clock.advance(by: .seconds(1), waking: 1)
        await stop.value
        try await ShutdownPlan(clock: clock, steps: [.supervisor(supervisor)]).shutdown()
        try await run.value
    }

    @Test func aRetryInAChildThatStopsMakesNoFurtherAttemptIfWhatWaitsIsCancelled() async throws {
        let supervisor = Supervisor(clock: clock)
        let child = supervisor.keepRunning("child", grace: .seconds(9)) { [log] run in
            run.markReady()
            await run.waitForStop()
            try? await retry(attempts: 3, backoff: .none, budget: nil) { attempt in
                log.record("\(attempt)")
                throw MarkedError()
            }
        }
        let run = Task { try await supervisor.run() }
        try await child.waitUntilReady()
        try await ShutdownPlan(clock: clock, steps: [.supervisor(supervisor, waiting: .cancel)]).shutdown()
        try await run.value
        #expect(log.events == ["1"])
    }

    @Test func aCancelledCallerPerformsTheRemainingStepsWithoutGrace() async throws {
        let (bag, begun) = (TaskBag(), Gate())
        bag.addTask { [log] in
            begun.open()
            try? await Gate().wait()
            log.record("task is cancelled")
        }
        try await begun.wait()
        let plan = ShutdownPlan(
            clock: clock,
            steps: [
                hanging("first", grace: .seconds(60)),
                .owner(bag, grace: .seconds(60)),
                .operation("last", grace: .seconds(60)) { [log] in
                    log.record("last, cancelled: \(Task.isCancelled)")
                },
            ]
        )
        let shutdown = Task { await failedSteps(of: plan) }
        try await log.waitForEvents(count: 1)
        shutdown.cancel()
        // The clock stands still.
        let failures = await shutdown.value
        #expect(
            log.events == ["first begins", "first is cancelled", "task is cancelled", "last, cancelled: true"]
        )
        #expect(failures.map(\.name) == ["first", "TaskBag"])
        #expect(failures.allSatisfy { $0.error is CancellationError && !$0.hasExceededGrace })
        #expect(failures.map(\.cancelledNames) == [["first"], ["a task"]])
    }

    @Test func aClockThatFailsEndsTheGrace() async throws {
        struct BrokenClock: Clock {
            let now = ContinuousClock.now
            let minimumResolution = Duration.zero
            func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
                throw MarkedError("broken")
            }
        }
        let plan = ShutdownPlan(clock: BrokenClock(), steps: [hanging("flush", grace: .seconds(60))])
        let failures = await failedSteps(of: plan)
        #expect(failures.first?.error as? MarkedError == MarkedError("broken"))
    }

    @Test func aSecondCallPerformsTheStepsAgain() async throws {
        let plan = ShutdownPlan(
            clock: clock,
            steps: [
                .owner(AsyncLifetime(), grace: .seconds(1)),
                .operation("flush", grace: .seconds(1)) { [log] in log.record("flush") },
            ]
        )
        try await plan.shutdown()
        try await plan.shutdown()
        #expect(log.events == ["flush", "flush"])
        try await ShutdownPlan(steps: []).shutdown()
    }

    // MARK: What is left behind

    /// Work that ignores its cancellation keeps no step waiting: each names it, and the next begins.
    @Test func workThatIgnoresItsCancellationIsLeftBehindAndNamed() async throws {
        let (gate, owner) = (Gate(), AsyncLifetime(name: "requests"))
        owner.addTask(name: "upload") { await gate.waitIgnoringCancellation() }
        let supervisor = Supervisor(name: "backend", clock: clock)
        let child = supervisor.keepRunning("feed") { run in
            run.markReady()
            await gate.waitIgnoringCancellation()
        }
        let run = Task { try await supervisor.run() }
        try await child.waitUntilReady()
        let plan = ShutdownPlan(
            cancellationGrace: .seconds(5),
            clock: clock,
            steps: [
                .owner(owner, grace: .seconds(10)),
                .supervisor(supervisor),
                .operation("metrics", grace: .seconds(1)) { await gate.waitIgnoringCancellation() },
                .operation("last", grace: .seconds(1)) { [log] in log.record("last") },
            ]
        )
        let shutdown = Task { await failedSteps(of: plan) }
        for time in [10, 5, 5, 1, 5] {
            try await clock.waitForSleepers()
            await clock.advance(by: .seconds(time))
        }
        let failures = await shutdown.value
        try await run.value
        #expect(
            failures.map(\.leftBehind) == [
                ["\"upload\" of AsyncLifetime \"requests\""], ["\"feed\" of Supervisor \"backend\""],
                ["\"metrics\" of ShutdownPlan"],
            ]
        )
        #expect(failures.map(\.cancelledNames) == [["upload"], [], ["metrics"]])
        #expect(log.events == ["last"] && owner.count == 0)
        #expect("\(failures[0])".contains("left behind: \"upload\""))
        gate.open()
        try await owner.drain()
    }

    @Test func aPlanWithoutALimitWaitsForWorkThatIgnoresItsCancellation() async throws {
        let (gate, cancelled, owner) = (Gate(), Gate(), AsyncLifetime())
        owner.addTask {
            await withTaskCancellationHandler {
                await gate.waitIgnoringCancellation()
            } onCancel: {
                cancelled.open()
            }
        }
        let plan = ShutdownPlan(cancellationGrace: nil, clock: clock, steps: [.owner(owner, grace: .zero)])
        let shutdown = Task { await failedSteps(of: plan) }
        try await cancelled.wait()
        gate.open()
        #expect(await shutdown.value.isEmpty)
    }

    // MARK: Signals

    /// The signals of these tests have no other use in the process of the tests.
    @Test func aSignalBeginsThePlanAndASecondOneEndsItsGraces() async throws {
        let plan = ShutdownPlan(
            clock: clock,
            steps: [hanging("first", grace: .seconds(100)), hanging("second", grace: .seconds(100))]
        )
        // A signal that comes before or after the call would end the process.
        signal(SIGUSR1, SIG_IGN)
        signal(SIGUSR2, SIG_IGN)
        let run = Task { await plan.run(on: [SIGUSR1, SIGUSR2]) }
        let sender = Task {
            while log.count < 1 {
                kill(getpid(), SIGUSR1)
                try await Task.sleep(for: .milliseconds(1))
            }
            while log.count < 4 {
                kill(getpid(), SIGUSR2)
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        let report = await run.value
        try await sender.value
        #expect(report.signal == SIGUSR1 && report.failures.map(\.name) == ["first", "second"])
        #expect(
            log.events == ["first begins", "first is cancelled", "second begins", "second is cancelled"]
        )
        #expect("\(report)".hasPrefix("signal \(SIGUSR1): first"))
    }

    @Test func aCancelledCallerBeginsThePlanWithoutGraces() async throws {
        let plan = ShutdownPlan(clock: clock, steps: [hanging("first", grace: .seconds(100))])
        let run = Task { await plan.run(on: []) }
        run.cancel()
        let report = await run.value
        #expect(report.signal == nil && report.failures.map(\.name) == ["first"])
        #expect("\(report)".hasPrefix("cancelled: first"))
    }
}
