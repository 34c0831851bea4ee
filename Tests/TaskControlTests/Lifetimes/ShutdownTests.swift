import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// `shutdown(grace:waiting:clock:)`: the work that begins during the grace, and the names of the tasks that its end cancels.
@Suite(.timeLimit(.minutes(15)))
struct ShutdownTests {
    private let clock = TestClock()
    private let log = OrderRecorder<String>()

    // MARK: What was cut off

    @Test func theTasksThatTheEndOfTheGraceCancelsAreNamed() async throws {
        let (store, begun) = (TaskStore<String>(name: "uploads", maxConcurrentTasks: 2, clock: clock), Gate())
        store.addTask(forKey: "ends") { try? await begun.wait() }
        store.addTask(forKey: "a.jpg", name: "upload of a") { try? await Gate().wait() }
        store.addTask(forKey: "b.jpg") { [clock] in
            begun.open()
            try? await clock.sleep(for: .seconds(100))
        }
        store.addTask(forKey: "c.jpg") { Issue.record("has no place") }
        let shutdown = Task { await store.shutdown(grace: .seconds(5), clock: clock) }
        try await clock.waitForSleepers()
        begun.open()
        // The grace, and the task that has the place of the first one.
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .seconds(5))
        #expect(await shutdown.value.cancelled == ["upload of a", "b.jpg", "c.jpg"])
        #expect(await store.shutdown(grace: .zero).isEmpty, "each is named once")
    }

    @Test func anOwnerWhoseTasksEndInTimeCutsOffNothing() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        lifetime.addTask(name: "a") { try? await gate.wait() }
        // Cancelled before the end of the grace, and by other code.
        lifetime.addTask(name: "b") { try? await Gate().wait() }.cancel()
        let shutdown = Task { await lifetime.shutdown(grace: .seconds(5), clock: clock) }
        try await clock.waitForSleepers()
        gate.open()
        #expect(await shutdown.value.isEmpty)
    }

    @Test func everyOwnerNamesWhatItCutsOff() async throws {
        let (lifetime, bag) = (AsyncLifetime(), TaskBag())
        let (flight, queue) = (SingleFlight<String, Int>(), CancellableQueue(underlyingQueue: FIFOQueue()))
        let begun = OrderRecorder<Int>()
        let adopted = Task<Void, Never>(name: "adopted") { _ = try? await Gate().wait() }
        bag.add(adopted)
        let asyncTask = AsyncTask(name: "async task") {
            begun.record(0)
            try? await Gate().wait()
        }
        asyncTask.bind(to: lifetime)
        let caller = Task {
            try await flight.value(for: "feed") {
                begun.record(1)
                try await Gate().wait()
                return 1
            }
        }
        _ = queue.addTask(name: "first") {
            begun.record(2)
            try await Gate().wait()
        }
        _ = queue.addTask(name: "second", whenCancelledWaiting: .skip) { Issue.record("is behind the first one") }
        try await begun.waitForEvents(count: 3)
        #expect(await lifetime.shutdown(grace: .zero).cancelled == ["async task"])
        // Code of the client has created it, and waits for its end elsewhere.
        #expect(await bag.shutdown(grace: .zero).cancelled == ["a task"])
        #expect(await flight.shutdown(grace: .zero).cancelled == ["feed"])
        #expect(await queue.shutdown(grace: .zero).cancelled == ["first", "second"])
        await #expect(throws: CancellationCause.shutdown(name: nil)) { try await caller.value }
    }

    @Test func aCancelledCallerLearnsWhatItCutsOff() async throws {
        let (lifetime, begun) = (AsyncLifetime(), Gate())
        lifetime.addTask(name: "a") {
            begun.open()
            try? await Gate().wait()
        }
        try await begun.wait()
        let shutdown = Task { await lifetime.shutdown(grace: .seconds(5), clock: clock) }
        shutdown.cancel()
        #expect(await shutdown.value.cancelled == ["a"])
    }

    // MARK: Work that waits

    @Test(arguments: [WaitingWorkBehavior.run, .cancel])
    func theRuleDecidesWhetherTasksThatWaitBegin(_ waiting: WaitingWorkBehavior) async throws {
        let (outbox, sends) = (TaskStore<Int>(name: "outbox", maxConcurrentTasks: 1, clock: clock), Gate())
        let begun = Gate()
        outbox.addTask(forKey: 0) { [log] in
            begun.open()
            try? await sends.wait()
            log.record(Task.isCancelled ? "0 is cancelled" : "0")
        }
        try await begun.wait()
        let waiter = outbox.addTask(forKey: 1) { [log] in log.record("1") }
        let ofKey = outbox.addTask(forKey: 0, duplicateKeyBehavior: .wait) { [log] in log.record("2") }
        let quiet = outbox.addTask(forKey: 3, duplicateKeyBehavior: .debounce(for: .seconds(1))) { [log] in
            log.record("3")
        }
        try await clock.waitForSleepers()
        let shutdown = Task { await outbox.shutdown(grace: .seconds(5), waiting: waiting, clock: clock) }
        if waiting == .cancel {
            // Before the end of the first one, and of the grace.
            for task in [waiter, ofKey, quiet] { await task.value }
        }
        try await clock.waitForSleepers(count: waiting == .run ? 2 : 1)
        sends.open()
        if waiting == .run {
            try await log.waitForEvents(count: 3)
            await clock.advance(by: .seconds(1))
        }
        #expect(await shutdown.value.isEmpty)
        #expect(log.events == (waiting == .run ? ["0", "1", "2", "3"] : ["0"]))
    }

    @Test func aTaskThatWasCancelledBecauseItWaitedSaysWhy() async throws {
        @MainActor final class Rows {
            var ends: [String] = []
        }
        let (rows, store, begun, gate) = (Rows(), TaskStore<Int>(maxConcurrentTasks: 1), Gate(), Gate())
        store.addTask(forKey: 0) {
            begun.open()
            try? await gate.wait()
        }
        try await begun.wait()
        let waiting = await MainActor.run {
            store.run(forKey: 1, for: rows) {
                1
            } deliver: { _, _ in
            } onEnd: { rows, outcome in
                rows.ends.append("\(outcome)")
            }
        }
        let shutdown = Task { await store.shutdown(grace: .seconds(5), waiting: .cancel, clock: clock) }
        guard case .cancelled(.shutdown(name: nil)) = await waiting.value else { Issue.record("is cancelled"); return }
        #expect(await rows.ends.count == 1)
        gate.open()
        #expect(await shutdown.value.isEmpty)
    }

    @Test func turnsThatHaveNotBegunAreCancelled() async throws {
        let (queue, begun, gate) = (CancellableQueue(underlyingQueue: FIFOQueue()), Gate(), Gate())
        let first = queue.addTask { [log] in
            begun.open()
            try? await gate.wait()
            log.record(Task.isCancelled ? "cancelled" : "first")
        }
        try await begun.wait()
        let second = queue.addTask { () async throws in Issue.record("has not begun") }
        let shutdown = Task { await queue.shutdown(grace: .seconds(5), waiting: .cancel, clock: clock) }
        await #expect(throws: CancellationError.self) { try await second.value }
        gate.open()
        await first.value
        #expect(await shutdown.value.isEmpty)
        #expect(log.events == ["first"])
    }

    // MARK: Attempts

    /// The attempts of a call of `retry` in a task of an owner that is shut down during the second one.
    private func attempts(
        _ waiting: WaitingWorkBehavior,
        wrap: @escaping @Sendable (@Sendable () async throws -> Void) async throws -> Void = { try await $0() }
    ) async throws -> (attempts: Int, error: String) {
        let (lifetime, second, goesOn) = (AsyncLifetime(), Gate(), Gate())
        let (attempts, error) = (OrderRecorder<Int>(), OrderRecorder<String>())
        lifetime.addTask {
            do {
                try await wrap {
                    try await retry(attempts: 5, backoff: .none, budget: nil) { attempt in
                        attempts.record(attempt)
                        if attempt == 2 {
                            second.open()
                            await goesOn.waitIgnoringCancellation()
                        }
                        throw MarkedError("\(attempt)")
                    }
                }
            } catch let failure {
                #expect(!Task.isCancelled)
                error.record((failure as? MarkedError)?.mark ?? "\(failure)")
            }
        }
        try await second.wait()
        let shutdown = Task { await lifetime.shutdown(grace: .seconds(5), waiting: waiting, clock: clock) }
        try await clock.waitForSleepers()
        goesOn.open()
        #expect(await shutdown.value.isEmpty)
        return (attempts.count, try #require(error.events.first))
    }

    @Test func aRetryMakesFurtherAttemptsByDefault() async throws {
        #expect(try await attempts(.run) == (5, "5"))
    }

    @Test func aRetryThrowsTheErrorOfItsLastAttemptIfWhatWaitsIsCancelled() async throws {
        #expect(try await attempts(.cancel) == (2, "2"))
    }

    /// The operation of a time limit runs in a child task.
    @Test func aRetryInATimeLimitMakesNoFurtherAttempt() async throws {
        let end = try await attempts(.cancel) { operation in
            try await withTimeout(.seconds(100), clock: TestClock()) { try await operation() }
        }
        #expect(end == (2, "2"))
    }

    @Test func aRetryInAFlightMakesNoFurtherAttempt() async throws {
        let (flight, begun, goesOn) = (SingleFlight<Int, Int>(), Gate(), Gate())
        let caller = Task { [log] in
            try await flight.value(for: 1) {
                try await retry(attempts: 5, backoff: .none, budget: nil) { attempt in
                    log.record("\(attempt)")
                    begun.open()
                    await goesOn.waitIgnoringCancellation()
                    throw MarkedError("\(attempt)")
                }
            }
        }
        try await begun.wait()
        let shutdown = Task { await flight.shutdown(grace: .seconds(5), waiting: .cancel, clock: clock) }
        try await clock.waitForSleepers()
        goesOn.open()
        await #expect(throws: MarkedError("1")) { try await caller.value }
        #expect(await shutdown.value.isEmpty && log.events == ["1"])
    }

    /// The address of a task that has ended may be that of the next one.
    @Test func theAttemptsOfTasksOfOtherOwnersGoOn() async throws {
        _ = try await attempts(.cancel)
        #expect(try await attempts(.run) == (5, "5"))
    }

    @Test func aRetryInADelayMakesNoFurtherAttemptAfterIt() async throws {
        let (lifetime, attempts) = (AsyncLifetime(), OrderRecorder<Int>())
        let (delays, error) = (TestClock(), OrderRecorder<String>())
        lifetime.addTask {
            do {
                try await withTimeout(.seconds(100), clock: TestClock()) {
                    try await retry(attempts: 5, backoff: .fixed(.seconds(1)), clock: delays) { attempt in
                        attempts.record(attempt)
                        throw MarkedError("\(attempt)")
                    }
                }
            } catch let failure {
                #expect(!Task.isCancelled)
                error.record((failure as? MarkedError)?.mark ?? "\(failure)")
            }
        }
        try await delays.waitForSleepers()
        let shutdown = Task { await lifetime.shutdown(grace: .seconds(5), waiting: .cancel, clock: clock) }
        try await clock.waitForSleepers()
        await delays.advance(by: .seconds(1))
        #expect(await shutdown.value.isEmpty)
        #expect(attempts.count == 1 && error.events == ["1"])
    }

    @Test(arguments: [WaitingWorkBehavior.cancel, .run]) func aPollInADelayMakesNoFurtherCallIfWaitingWorkIsCancelled(
        _ waiting: WaitingWorkBehavior
    ) async throws {
        let (lifetime, delays, ends) = (AsyncLifetime(), TestClock(), OrderRecorder<String>())
        lifetime.addTask {
            var calls = 0
            do {
                let value = try await poll(every: .fixed(.seconds(1)), within: .seconds(100), clock: delays) {
                    calls += 1
                    return calls
                } until: {
                    $0 == 2
                }
                ends.record("\(value)")
            } catch {
                #expect(!Task.isCancelled)
                ends.record("\(error)")
            }
        }
        // The limit and the delay.
        try await delays.waitForSleepers(count: 2)
        let shutdown = Task { await lifetime.shutdown(grace: .seconds(5), waiting: waiting, clock: clock) }
        try await clock.waitForSleepers()
        await delays.advance(by: .seconds(1))
        #expect(await shutdown.value.isEmpty)
        #expect(ends.events == [waiting == .run ? "2" : "\(PollTimeoutError(calls: 1, lastValue: 1))"])
    }

    // MARK: What is left behind

    @Test func workThatIgnoresItsCancellationIsLeftBehindAndNamed() async throws {
        let (store, gate) = (TaskStore<String>(name: "uploads"), Gate())
        store.addTask(forKey: "a.jpg", name: "upload of a") { await gate.waitIgnoringCancellation() }
        store.addTask(forKey: "b.jpg") { await gate.waitIgnoringCancellation() }
        store.addTask(forKey: "c.jpg") { try? await Gate().wait() }
        let shutdown = Task { await store.shutdown(grace: .zero, cancellationGrace: .seconds(5), clock: clock) }
        try await clock.waitForSleepers()
        try await store.drain(forKey: "c.jpg")
        await clock.advance(by: .seconds(5))
        let report = await shutdown.value
        #expect(report.cancelled == ["upload of a", "b.jpg", "c.jpg"])
        #expect(
            report.leftBehind == [
                "\"upload of a\" of TaskStore \"uploads\"", "\"b.jpg\" of TaskStore \"uploads\"",
            ]
        )
        #expect(
            "\(report)" == """
                cancelled: upload of a, b.jpg, c.jpg; left behind: "upload of a" of TaskStore "uploads", \
                "b.jpg" of TaskStore "uploads"
                """
        )
        gate.open()
        try await store.drain()
    }

    /// The caller's cancellation ends the grace, and not the time that the cancelled tasks have.
    @Test func aCancelledCallerWaitsForTheCancelledTasksWithinTheLimit() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        lifetime.addTask(name: "a") { await gate.waitIgnoringCancellation() }
        let shutdown = Task {
            await lifetime.shutdown(grace: .seconds(100), cancellationGrace: .seconds(5), clock: clock)
        }
        shutdown.cancel()
        try await clock.waitForSleepers()
        gate.open()
        #expect(await shutdown.value == ShutdownReport(cancelled: ["a"]))
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func withoutTimeAfterTheCancellationNothingIsAwaited(limit: Duration) async throws {
        let (flights, gate, begun) = (SingleFlight<String, Int>(name: "loads"), Gate(), Gate())
        let caller = Task {
            try await flights.value(for: "feed") {
                begun.open()
                await gate.waitIgnoringCancellation()
                return 1
            }
        }
        try await begun.wait()
        let report = await flights.shutdown(grace: .zero, cancellationGrace: limit)
        #expect(report == ShutdownReport(cancelled: ["feed"], leftBehind: ["\"feed\" of SingleFlight \"loads\""]))
        gate.open()
        await #expect(throws: CancellationCause.self) { try await caller.value }
        try await flights.drain()
    }

    @Test func aTaskThatMustFinishIsLeftBehindWithoutACancellation() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        let task = lifetime.addTask(name: "payment", mustFinish: true) { await gate.waitIgnoringCancellation() }
        let report = await lifetime.shutdown(grace: .zero, cancellationGrace: .zero)
        #expect(report.cancelled.isEmpty && report.leftBehind == ["\"payment\" of AsyncLifetime"])
        #expect(!task.isCancelled)
        gate.open()
        await task.value
    }
}
