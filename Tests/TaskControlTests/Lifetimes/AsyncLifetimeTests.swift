import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct AsyncLifetimeTests {
    // MARK: Counting and cancelling

    @Test func cancelAllCancelsWhatIsBoundAndTheLifetimeGoesOn() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        let tasks = (0..<10).map { _ in
            AsyncTask { await gate.waitIgnoringCancellation() }.bind(to: lifetime)
        }
        #expect(lifetime.count == 10 && !lifetime.isEmpty)
        lifetime.cancelAll()
        #expect(lifetime.count == 0 && lifetime.isEmpty, "though they still run")
        #expect(tasks.filter(\.isCancelled).count == 10)
        let later = AsyncTask { await gate.waitIgnoringCancellation() }.bind(to: lifetime)
        #expect(lifetime.count == 1 && !later.isCancelled)
        gate.open()
        try await lifetime.drain()
        #expect(lifetime.isEmpty)
    }

    @Test func cancelAllFromAHandlerThatItTriggersNeitherDeadlocksNorMissesATask() async throws {
        let (lifetime, ended) = (AsyncLifetime(), OrderRecorder<Int>())
        let started = (0..<20).map { _ in Gate() }
        for number in 0..<20 {
            AsyncTask {
                await withTaskCancellationHandler {
                    started[number].open()
                    try? await Gate().wait()
                    ended.record(number)
                } onCancel: {
                    lifetime.cancelAll()
                    // Tasks that are bound meanwhile are not affected.
                    if number == 0 { AsyncTask { ended.record(100) }.bind(to: lifetime) }
                }
            }.bind(to: lifetime)
        }
        for gate in started { try? await gate.wait() }
        lifetime.cancelAll()
        try await lifetime.drain()
        #expect(Set(ended.events).isSuperset(of: 0..<20))
    }

    #if SUBPROCESSES
    /// A million in an optimized build, 250,000 in a debug build.
    @Test(.oneProcessAtATime, .tags(.large, .unsanitized)) func aMillionTasksLeaveNothingBehind() async {
        // In a process of its own, so that only its own memory is measured.
        await #expect(processExitsWith: .success) {
            let lifetime = AsyncLifetime()
            func run(_ count: Int) async throws {
                for _ in 0..<count / 1_000 {
                    for _ in 0..<1_000 { AsyncTask {}.bind(to: lifetime) }
                    // On a busy machine tasks wait for a thread: fewer at once than the memory that is tolerated below.
                    try await lifetime.drain()
                }
            }
            try await run(fullSize(200_000, inDebug: 50_000))
            // A leak grows in both halves; memory that the allocator keeps comes and goes. Two megabytes are five bytes per task, and 20 in a
            // debug build: less than one allocation per task.
            var growth: [Int] = []
            for _ in 0..<2 {
                let before = residentKilobytes()
                try await run(fullSize(400_000, inDebug: 100_000))
                growth.append(residentKilobytes() - before)
            }
            precondition(lifetime.count == 0 && growth.min()! < 2_048, "\(lifetime.count) left, \(growth) KB more")
        }
    }
    #endif

    // MARK: Closing

    @Test func aClosedLifetimeCancelsAndStartsNothing() async throws {
        let (lifetime, log, owner) = (AsyncLifetime(), OrderRecorder<String>(), Owner())
        let before = AsyncTask { try? await Gate().wait() }.bind(to: lifetime)
        lifetime.close()
        #expect(before.isCancelled && lifetime.isEmpty)
        let bound = AsyncTask { try? await Gate().wait() }.bind(to: lifetime)
        #expect(bound.isCancelled)
        let run = lifetime.run(for: owner) {
            log.record("run")
        } deliver: { _, _ in
            log.record("deliver")
        }
        let forEach = lifetime.forEach(AsyncStream { $0.yield(1) }, for: owner) { _, _ in log.record("element") }
        _ = await run.value
        _ = await forEach.value
        #expect(log.events == [] && run.isCancelled && forEach.isCancelled)
        try await lifetime.drain()
    }

    // MARK: Draining

    @Test func drainReturnsAtOnceWhenNothingIsBound() async throws {
        try await AsyncLifetime().drain()
    }

    @MainActor @Test func drainWaitsForWhatIsBoundMeanwhileAndForWhatWasCancelled() async throws {
        let (lifetime, log) = (AsyncLifetime(), OrderRecorder<Int>())
        let (first, second, started) = (Gate(), Gate(), Gate())
        let task = AsyncTask {
            started.open()
            await first.waitIgnoringCancellation()
            AsyncTask {
                try? await second.wait()
                log.record(2)
            }.bind(to: lifetime)
            log.record(1)
        }.bind(to: lifetime)
        try? await started.wait()
        lifetime.cancelAll()
        let drained = await parkedDrain(of: lifetime) { log.record(3) }
        #expect(lifetime.isEmpty, "what it waits for was cancelled")
        first.open()
        await task.value
        #expect(log.events == [1] && lifetime.count == 1, "what it waits for was bound meanwhile")
        second.open()
        try await drained.value
        #expect(log.events == [1, 2, 3])
    }

    @MainActor @Test func aCancelledDrainLeavesAtOnceAndWhatIsBoundGoesOn() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        let task = AsyncTask { try? await gate.wait() }.bind(to: lifetime)
        // Has not begun: nothing else does on this actor before this suspends.
        let early = Task { try await lifetime.drain() }
        early.cancel()
        await #expect(throws: CancellationError.self) { try await early.value }
        let parked = await parkedDrain(of: lifetime)
        parked.cancel()
        await #expect(throws: CancellationError.self) { try await parked.value }
        #expect(!task.isCancelled && lifetime.count == 1)
        gate.open()
        try await lifetime.drain()
    }

    /// A drain that waits: it has left its actor, and it does so at one place only.
    @MainActor private func parkedDrain(
        of lifetime: AsyncLifetime,
        then: @escaping @MainActor () -> Void = {}
    ) async -> Task<Void, any Error> {
        let begun = Gate()
        let drain = Task {
            begun.open()
            try await lifetime.drain()
            then()
        }
        try? await begun.wait()
        return drain
    }

    @Test func aCallerThatIsCancelledAlreadySeesCancellationErrorThoughNothingIsBound() async {
        let (lifetime, cancelled) = (AsyncLifetime(), Gate())
        let drain = Task {
            await cancelled.waitIgnoringCancellation()
            try await lifetime.drain()
        }
        drain.cancel()
        cancelled.open()
        await #expect(throws: CancellationError.self) { try await drain.value }
    }

    @Test func manyDrainsAllReturn() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        AsyncTask { try? await gate.wait() }.bind(to: lifetime)
        let drains = (0..<50).map { number in
            let drain = Task { try await lifetime.drain() }
            if number.isMultiple(of: 2) { drain.cancel() }
            return drain
        }
        gate.open()
        for (number, drain) in drains.enumerated() {
            if number.isMultiple(of: 2) { _ = try? await drain.value } else { try await drain.value }
        }
    }

    // MARK: Shutting down

    @Test func shutdownLetsWorkEndWithinItsGrace() async throws {
        let (lifetime, gate, clock) = (AsyncLifetime(), Gate(), TestClock())
        let task = AsyncTask { try? await gate.wait() }.bind(to: lifetime)
        let shutdown = Task { await lifetime.shutdown(grace: .seconds(5), clock: clock) }
        try await clock.waitForSleepers()
        let late = AsyncTask { try? await Gate().wait() }.bind(to: lifetime)
        #expect(late.isCancelled, "new work is refused")
        gate.open()
        _ = await shutdown.value
        #expect(!task.isCancelled && lifetime.isEmpty)
        await late.value
    }

    @Test func inTheGraceOfAShutdownRunAndForEachStartNothing() async throws {
        let (lifetime, gate, clock, log) = (AsyncLifetime(), Gate(), TestClock(), OrderRecorder<String>())
        let owner = Owner()
        AsyncTask { try? await gate.wait() }.bind(to: lifetime)
        let shutdown = Task { await lifetime.shutdown(grace: .seconds(5), clock: clock) }
        try await clock.waitForSleepers()
        let run = lifetime.run(for: owner) {
            log.record("run")
        } deliver: { _, _ in
            log.record("deliver")
        }
        let elements = AsyncStream<Int> {
            $0.yield(1)
            $0.finish()
        }
        let forEach = lifetime.forEach(elements, for: owner) { _, _ in log.record("element") }
        #expect(run.isCancelled && forEach.isCancelled && lifetime.count == 1)
        _ = await run.value
        _ = await forEach.value
        gate.open()
        _ = await shutdown.value
        #expect(log.events == [])
    }

    @Test func shutdownCancelsTheRestAfterItsGraceAndWaitsForTheEnd() async throws {
        let (lifetime, clock, log) = (AsyncLifetime(), TestClock(), OrderRecorder<String>())
        AsyncTask {
            try? await Gate().wait()
            log.record("task ended, cancelled: \(Task.isCancelled)")
        }.bind(to: lifetime)
        let shutdown = Task {
            await lifetime.shutdown(grace: .seconds(5), clock: clock)
            log.record("shutdown ended")
        }
        try await clock.waitForSleepers()
        #expect(lifetime.count == 1)
        await clock.advance(by: .seconds(5))
        await shutdown.value
        #expect(log.events == ["task ended, cancelled: true", "shutdown ended"])
    }

    @Test func aCancelledShutdownCutsTheGraceShortAndStillWaitsForTheEnd() async throws {
        let (lifetime, clock, log, cancelled) = (AsyncLifetime(), TestClock(), OrderRecorder<String>(), Gate())
        let gate = Gate()
        AsyncTask {
            await withTaskCancellationHandler {
                await gate.waitIgnoringCancellation()
            } onCancel: {
                cancelled.open()
            }
            log.record("task ended")
        }.bind(to: lifetime)
        let shutdown = Task {
            await lifetime.shutdown(grace: .seconds(5), clock: clock)
            log.record("shutdown ended")
        }
        try await clock.waitForSleepers()
        shutdown.cancel()
        try? await cancelled.wait()
        #expect(log.events == [])
        gate.open()
        await shutdown.value
        #expect(log.events == ["task ended", "shutdown ended"])
    }

    @Test func withoutGraceShutdownCancelsAtOnce() async {
        let lifetime = AsyncLifetime()
        let task = AsyncTask { try? await Gate().wait() }.bind(to: lifetime)
        await lifetime.shutdown(grace: .zero, clock: TestClock())
        #expect(task.isCancelled && lifetime.isEmpty)
    }

    /// No clock can add it to its time.
    @Test func aGracePeriodMayBeLongerThanAnyClockCounts() async throws {
        let (lifetime, gate, clock) = (AsyncLifetime(), Gate(), AnnouncingClock())
        AsyncTask { await gate.waitIgnoringCancellation() }.bind(to: lifetime)
        let shutdown = Task { await lifetime.shutdown(grace: .seconds(Int64.max), clock: clock) }
        try await clock.sleeps.wait()
        gate.open()
        _ = await shutdown.value
        #expect(lifetime.isEmpty)
    }

    private final class Owner: Sendable {}
}
