import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlSupervision

@Suite(.timeLimit(.minutes(15)))
struct SupervisorTests {
    private let clock = TestClock()
    private let log = OrderRecorder<String>()
    private let fixed = RetryBackoff.fixed(.seconds(1))

    /// Adds a child that is ready at once, fails when its gate opens, and records its beginnings and ends.
    @discardableResult
    private func add(
        _ name: String,
        to supervisor: Supervisor,
        grace: Duration = .zero,
        failing crash: Gate? = nil
    ) -> SupervisedWork {
        supervisor.keepRunning(name, backoff: fixed, grace: grace) { [log] run in
            log.record("\(name) \(run.number)")
            run.markReady()
            defer { log.record("\(name) ends") }
            if let crash, run.number == 1 {
                try await crash.wait()
                throw MarkedError(name)
            }
            try await Gate().wait()
        }
    }

    private func start(_ supervisor: Supervisor) -> Task<Void, any Error> { Task { try await supervisor.run() } }

    @Test func callersThatAddAtTheSameTimeMakeOneChildEach() async throws {
        let (supervisor, isFirst) = (Supervisor(), Locked(true))
        let events = try await EventLog.events { event in
            guard event.kind == .created, event.primitive == .asyncLifetime, event.ownerName == "first" else { return }
            // The first child was made, and is not among the children yet.
            if isFirst.withLock({ isFirst in
                defer { isFirst = false }
                return isFirst
            }) {
                supervisor.keepRunning("second", restart: .onFailure) { _ in }
            }
        } of: {
            supervisor.keepRunning("first", restart: .onFailure) { _ in }
            try await supervisor.run()
        }
        #expect(supervisor.isEmpty && !isFirst.withLock(\.self))
        #expect(events.count { $0.kind == .created && $0.ownerName == "first" } == 1)
    }

    @Test func childrenStartInOrderAndStopInReverse() async throws {
        let supervisor = Supervisor(name: "backend", clock: clock)
        let works = ["a", "b", "c"].map { add($0, to: supervisor) }
        let run = start(supervisor)
        for work in works { try await work.waitUntilReady() }
        await supervisor.shutdown()
        try await run.value
        #expect(log.events == ["a 1", "b 1", "c 1", "c ends", "b ends", "a ends"])
    }

    @Test func aChildStartsWhenTheOneBeforeItIsReady() async throws {
        let supervisor = Supervisor(clock: clock)
        let (gate, begun) = (Gate(), Gate())
        supervisor.keepRunning("a") { [log] run in
            begun.open()
            try await gate.wait()
            log.record("a is ready")
            run.markReady()
            try await Gate().wait()
        }
        let second = add("b", to: supervisor)
        let run = start(supervisor)
        try await begun.wait()
        gate.open()
        try await second.waitUntilReady()
        #expect(log.events == ["a is ready", "b 1"])
        await supervisor.shutdown()
        try await run.value
    }

    @Test(arguments: Supervisor.Strategy.allCases)
    func theStrategySaysWhichChildrenAreRestarted(_ strategy: Supervisor.Strategy) async throws {
        let supervisor = Supervisor(strategy: strategy, clock: clock)
        let crash = Gate()
        let works = ["a", "b", "c"].map { add($0, to: supervisor, failing: $0 == "b" ? crash : nil) }
        let run = start(supervisor)
        for work in works { try await work.waitUntilReady() }
        crash.open()
        await clock.advance(by: .seconds(1), waking: 1)
        let restarts =
            switch strategy {
            case .one: ["b ends", "b 2"]
            case .all: ["b ends", "c ends", "a ends", "a 2", "b 2", "c 2"]
            case .rest: ["b ends", "c ends", "b 2", "c 2"]
            }
        try await log.waitForEvents(count: 3 + restarts.count)
        #expect(log.events == ["a 1", "b 1", "c 1"] + restarts)
        await supervisor.shutdown()
        try await run.value
    }

    @Test func aSiblingIsStoppedForARestartWithItsReason() async throws {
        let supervisor = Supervisor(strategy: .all, clock: clock)
        let (crash, cause) = (Gate(), OrderRecorder<CancellationCause?>())
        let sibling = supervisor.keepRunning("a") { run in
            run.markReady()
            defer { cause.record(Task.cancellationCause) }
            try await Gate().wait()
        }
        add("b", to: supervisor, failing: crash)
        let run = start(supervisor)
        try await sibling.waitUntilReady()
        crash.open()
        try await cause.waitForEvents(count: 1)
        #expect(cause.events == [.requested(reason: "another child of the supervisor has failed")])
        for await state in sibling.states {
            if case .waiting(_, let error) = state {
                #expect(error as? MarkedError == MarkedError("b"))
                break
            }
        }
        await supervisor.shutdown()
        try await run.value
    }

    @Test func aFailureForGoodStopsTheOthersAndIsThrown() async throws {
        let supervisor = Supervisor(limit: .restarts(0, per: .seconds(1)), clock: clock)
        let crash = Gate()
        let others = [add("a", to: supervisor)]
        let failing = add("b", to: supervisor, failing: crash)
        let run = start(supervisor)
        try await failing.waitUntilReady()
        crash.open()
        let error = await #expect(throws: SupervisionError.self) { try await run.value }
        #expect(error?.name == "b" && error?.reason == .failed)
        #expect(error?.causes.map { $0.error as? MarkedError } == [MarkedError("b")])
        guard case .failed = failing.state, case .stopped = others[0].state else {
            Issue.record("\(failing.state), \(others[0].state)")
            return
        }
        #expect(log.events == ["a 1", "b 1", "b ends", "a ends"])
    }

    @Test func eachChildHasItsGrace() async throws {
        let supervisor = Supervisor(clock: clock)
        let works = (1...3).map { number in
            supervisor.keepRunning("\(number)", grace: .seconds(number)) { [log, clock] run in
                run.markReady()
                await run.waitForStop()
                log.record("\(number) is asked at \(clock.now)")
                try? await Gate().wait()
                log.record("\(number) ends at \(clock.now)")
            }
        }
        let run = start(supervisor)
        for work in works { try await work.waitUntilReady() }
        let shutdown = Task { await supervisor.shutdown() }
        for number in [3, 2, 1] {
            try await clock.waitForSleepers(count: 1)
            await clock.advance(by: .seconds(number), waking: 1)
        }
        _ = await shutdown.value
        try await run.value
        #expect(
            log.events == [
                "3 is asked at 0.0 seconds", "3 ends at 3.0 seconds", "2 is asked at 3.0 seconds",
                "2 ends at 5.0 seconds",
                "1 is asked at 5.0 seconds", "1 ends at 6.0 seconds",
            ]
        )
    }

    @Test func cancellingTheCallerOfShutdownEndsTheGrace() async throws {
        let supervisor = Supervisor(clock: clock)
        let work = add("a", to: supervisor, grace: .seconds(1_000))
        let run = start(supervisor)
        try await work.waitUntilReady()
        let shutdown = Task { await supervisor.shutdown() }
        try await clock.waitForSleepers(count: 1)
        shutdown.cancel()
        _ = await shutdown.value
        try await run.value
        #expect(log.events == ["a 1", "a ends"])
        #expect(clock.now == .zero)
    }

    @Test func cancellingTheCallerOfRunStopsTheChildrenInReverseWithoutGrace() async throws {
        let supervisor = Supervisor(clock: clock)
        let works = ["a", "b"].map { add($0, to: supervisor, grace: .seconds(1_000)) }
        let run = start(supervisor)
        for work in works { try await work.waitUntilReady() }
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(log.events == ["a 1", "b 1", "b ends", "a ends"])
        await supervisor.shutdown()
    }

    @Test func aSupervisorThatWasShutDownRunsNothing() async throws {
        let supervisor = Supervisor(clock: clock)
        let work = add("a", to: supervisor)
        await supervisor.shutdown()
        await #expect(throws: SupervisionError.self) { try await work.waitUntilReady() }
        try await supervisor.run()
        await supervisor.shutdown()
        let late = add("b", to: supervisor)
        for await state in late.states { #expect(state.isFinal) }
        await late.stop()
        await #expect(throws: SupervisionError.self) { try await late.waitUntilReady() }
        #expect(log.events.isEmpty)
    }

    @Test func aSupervisorReturnsWhenAllChildrenHaveCompleted() async throws {
        let supervisor = Supervisor(clock: clock)
        for name in ["a", "b"] { supervisor.keepRunning(name, restart: .onFailure) { [log] _ in log.record(name) } }
        try await supervisor.run()
        // A child that has completed without being ready does not hold up those after it.
        #expect(log.events == ["a", "b"])
        try await supervisor.run()
        #expect(log.events == ["a", "b"], "a supervisor runs once")
        try await Supervisor().run()
    }

    @Test func aChildIsAddedWhileTheSupervisorRuns() async throws {
        let supervisor = Supervisor(clock: clock)
        let first = add("a", to: supervisor)
        let run = start(supervisor)
        try await first.waitUntilReady()
        try await add("b", to: supervisor).waitUntilReady()
        await supervisor.shutdown()
        try await run.value
        #expect(log.events == ["a 1", "b 1", "b ends", "a ends"])
    }

    @Test func oneChildIsStoppedAndTheOthersGoOn() async throws {
        let supervisor = Supervisor(strategy: .all, clock: clock)
        let works = ["a", "b"].map { add($0, to: supervisor) }
        let run = start(supervisor)
        for work in works { try await work.waitUntilReady() }
        await works[0].stop()
        #expect(log.events == ["a 1", "b 1", "a ends"])
        guard case .running = works[1].state else {
            Issue.record("\(works[1].state)")
            return
        }
        await works[1].stop()
        // All are stopped: nothing is left to run.
        try await run.value
    }

    @Test func aChildThatTakesItsTimeToStopDoesNotHoldUpTheOthers() async throws {
        let supervisor = Supervisor(clock: clock)
        let crash = Gate()
        let works = [
            add("a", to: supervisor, grace: .seconds(100)), add("b", to: supervisor, failing: crash),
            add("c", to: supervisor),
        ]
        let run = start(supervisor)
        for work in works { try await work.waitUntilReady() }
        let stop = Task { await works[0].stop() }
        try await clock.waitForSleepers(count: 1)
        // Nor does it hold up the stop of another one.
        await works[2].stop()
        crash.open()
        // The delay of the restart replaces that of the grace.
        for await state in works[1].states { if case .waiting = state { break } }
        await clock.advance(by: .seconds(1), waking: 1)
        try await log.waitForEvents(count: 6)
        #expect(log.events == ["a 1", "b 1", "c 1", "c ends", "b ends", "b 2"])
        run.cancel()
        await stop.value
        _ = await run.result
    }

    /// Children come and end for as long as a supervisor runs: nothing remains of them.
    @Test func aChildThatHasEndedLeavesNothingBehind() async throws {
        final class Reference: Sendable {
            weak let run: SupervisedRunStorage?
            init(_ run: SupervisedRunStorage) { self.run = run }
        }
        let supervisor = Supervisor(clock: clock)
        add("stays", to: supervisor)
        let run = start(supervisor)
        for isStopped in [false, true] {
            let reference = Locked<Reference?>(nil)
            let work = supervisor.keepRunning("ends", restart: .onFailure) { run in
                reference.withLock { $0 = Reference(run.storage) }
                run.markReady()
                if isStopped { try await Gate().wait() }
            }
            if isStopped {
                try await work.waitUntilReady()
                await work.stop()
            } else {
                for await _ in work.states {}
            }
            // The coordinator publishes the end first.
            while reference.withLock({ $0?.run }) != nil { await Task.yield() }
        }
        await supervisor.shutdown()
        try await run.value
    }

    @Test func childrenThatWereStoppedBeforeTheBeginningNeverRun() async throws {
        let supervisor = Supervisor(clock: clock)
        let works = ["a", "b"].map { add($0, to: supervisor) }
        await works[0].stop()
        let run = start(supervisor)
        try await works[1].waitUntilReady()
        await supervisor.shutdown()
        try await run.value
        #expect(log.events == ["b 1", "b ends"])
    }

    @Test func aSupervisorThatNeverRunsStopsItsChildrenWhenItIsDeallocated() async throws {
        var supervisor: Supervisor? = Supervisor(clock: clock)
        let work = add("a", to: try #require(supervisor))
        let wait = Task { try await work.waitUntilReady() }
        supervisor = nil
        let error = await #expect(throws: SupervisionError.self) { try await wait.value }
        #expect(error?.reason == .stopped)
        await work.stop()
    }

    @Test func aChildThatWaitsForItsTurnIsStopped() async throws {
        let supervisor = Supervisor(clock: clock)
        let begun = Gate()
        let first = supervisor.keepRunning("a") { _ in
            begun.open()
            try await Gate().wait()
        }
        let second = add("b", to: supervisor)
        let run = start(supervisor)
        try await begun.wait()
        await second.stop()
        await first.stop()
        try await run.value
        #expect(log.events.isEmpty, "it never ran")
    }

    @Test func manyCallersMayAddChildrenAtOnce() async throws {
        let supervisor = Supervisor(clock: clock)
        await withTaskGroup { group in
            for number in 0..<100 {
                group.addTask { supervisor.keepRunning("\(number)", restart: .onFailure) { [log] _ in log.record("") } }
            }
        }
        try await supervisor.run()
        #expect(log.count == 100)
    }

    @Test func aSupervisorInALifetimeEndsWithIt() async throws {
        let (lifetime, supervisor) = (AsyncLifetime(name: "app"), Supervisor(clock: clock))
        let cause = OrderRecorder<CancellationCause?>()
        let work = supervisor.keepRunning("a") { run in
            run.markReady()
            defer { cause.record(Task.cancellationCause) }
            try await Gate().wait()
        }
        lifetime.addTask { try? await supervisor.run() }
        try await work.waitUntilReady()
        await lifetime.shutdown(grace: .zero)
        #expect(cause.events == [.shutdown(name: "app")])
    }

    @Test func eventsOfASupervisorArePaired() async throws {
        let events = try await EventLog.events {
            let supervisor = Supervisor(name: "backend", strategy: .all, clock: clock)
            let crash = Gate()
            let works = ["a", "b"].map { add($0, to: supervisor, failing: $0 == "b" ? crash : nil) }
            let run = start(supervisor)
            for work in works { try await work.waitUntilReady() }
            crash.open()
            await clock.advance(by: .seconds(1), waking: 1)
            try await log.wait { $0.contains("b 2") }
            await supervisor.shutdown()
            try await run.value
        }
        let own = events.filter { $0.primitive == .supervisor }
        #expect(own.unpaired.isEmpty)
        let kinds = own.filter { $0.taskName == "b" }.map(\.kind.rawValue)
        #expect(kinds == ["started", "ready", "failed", "waiting", "restarted", "ready", "stopping", "stopped"])
        let sibling = own.filter { $0.taskName == "a" }.map(\.kind.rawValue)
        #expect(
            sibling == ["started", "ready", "stopping", "waiting", "restarted", "ready", "stopping", "stopped"]
        )
        #expect(own.filter { $0.subject == nil }.map(\.kind.rawValue).contains("closed"))
    }
}

extension OrderRecorder where Event == String {
    /// Waits until the recorded events satisfy a condition.
    fileprivate func wait(until isDone: ([String]) -> Bool) async throws {
        var count = events.count
        while !isDone(events) {
            count += 1
            try await waitForEvents(count: count)
        }
    }
}
