import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlSupervision

/// Supervised work ends with its lifetime, and when it is stopped.
@Suite(.timeLimit(.minutes(15)))
struct KeepRunningEndTests {
    private let clock = TestClock()
    private let lifetime = AsyncLifetime(name: "model")

    /// Waits for the last state.
    private func isStopped(_ work: SupervisedWork) async -> Bool {
        var last: SupervisedWork.State?
        for await state in work.states { last = state }
        if case .stopped = last { return true }
        return false
    }

    @Test func theEndOfTheLifetimeCancelsTheRunWithItsCauseAndRestartsNothing() async throws {
        let (runs, cause) = (OrderRecorder<Int>(), OrderRecorder<CancellationCause?>())
        let work = lifetime.keepRunning("feed", backoff: .none, clock: clock) { run in
            run.markReady()
            runs.record(run.number)
            try? await Gate().wait()
            cause.record(Task.cancellationCause)
            throw MarkedError()
        }
        try await work.waitUntilReady()
        await lifetime.shutdown(grace: .zero)
        #expect(runs.events == [1])
        #expect(cause.events == [.shutdown(name: "model")])
        #expect(await isStopped(work))
        let error = await #expect(throws: SupervisionError.self) { try await work.waitUntilReady() }
        #expect(error?.reason == .stopped && error?.causes.isEmpty == true)
        await work.stop()
    }

    /// The run is asked to stop first, so that it can distinguish this from a failure.
    @Test func workThatIsCancelledHasNoGraceAndIsCancelledWhenTheCallReturns() async throws {
        let cancelled = Gate()
        let work = lifetime.keepRunning("feed", backoff: .none, grace: .seconds(60), clock: clock) { run in
            run.markReady()
            await withTaskCancellationHandler {
                try? await Gate().wait()
                #expect(run.isStopping)
            } onCancel: {
                cancelled.open()
            }
        }
        try await work.waitUntilReady()
        work.cancel()
        #expect(cancelled.isOpen)
        #expect(await isStopped(work))
        work.cancel()
        let error = await #expect(throws: SupervisionError.self) { try await work.waitUntilReady() }
        #expect(error?.reason == .stopped)
    }

    /// Also work that is in its grace after a `stop()`.
    @Test func cancellingStoppedWorkEndsItsGrace() async throws {
        let (asked, gate) = (Gate(), Gate())
        let work = lifetime.keepRunning("feed", grace: .seconds(60), clock: clock) { run in
            run.markReady()
            await run.waitForStop()
            asked.open()
            try? await gate.wait()
        }
        try await work.waitUntilReady()
        let stopping = Task { await work.stop() }
        try await asked.wait()
        work.cancel()
        await stopping.value
        #expect(await isStopped(work) && clock.now.offset == .zero)
    }

    @Test func aLifetimeThatIsDeallocatedStopsTheWork() async throws {
        var lifetime: AsyncLifetime? = AsyncLifetime(name: "short")
        let ended = Gate()
        let work = try #require(lifetime).keepRunning("feed") { run in
            run.markReady()
            try? await Gate().wait()
            #expect(Task.cancellationCause == .ownerDeallocated(name: "short"))
            ended.open()
        }
        try await work.waitUntilReady()
        lifetime = nil
        try await ended.wait()
        #expect(await isStopped(work))
    }

    /// The supervising task has no thread meanwhile: this task does not wait after the call.
    @MainActor @Test(arguments: EndingCall.allCases)
    func theRunIsCancelledWhenTheCallThatEndsTheLifetimeReturns(_ end: EndingCall) async throws {
        let lifetime = Locked<AsyncLifetime?>(AsyncLifetime(name: "model"))
        let (cancelled, gate) = (Locked<SupervisedRun?>(nil), Gate())
        let work = try #require(lifetime.withLock { $0 }).keepRunning("feed") { run in
            run.markReady()
            await withTaskCancellationHandler {
                await gate.waitIgnoringCancellation()
            } onCancel: {
                cancelled.withLock { $0 = run }
            }
        }
        try await work.waitUntilReady()
        end.end(lifetime)
        #expect(cancelled.withLock { $0?.isStopping } == true)
        gate.open()
        #expect(await isStopped(work))
    }

    @Test func aRunWithoutAGraceIsCancelledAlsoIfTheCallerOfStopDoesNotWait() async throws {
        let (cancelled, gate) = (Locked(false), Gate())
        let work = lifetime.keepRunning("feed", clock: clock) { run in
            run.markReady()
            await withTaskCancellationHandler {
                await gate.waitIgnoringCancellation()
            } onCancel: {
                cancelled.withLock { $0 = true }
            }
        }
        try await work.waitUntilReady()
        let caller = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await work.stop()
            return cancelled.withLock(\.self)
        }
        #expect(await caller.value)
        gate.open()
        #expect(await isStopped(work))
    }

    @Test func aClosedLifetimeRunsNothing() async throws {
        lifetime.close()
        let work = lifetime.keepRunning("feed", clock: clock) { _ in Issue.record("The lifetime is closed.") }
        #expect(await isStopped(work))
        await #expect(throws: SupervisionError.self) { try await work.waitUntilReady() }
        await work.stop()
    }

    @Test func workThatWaitsForItsRestartIsStoppedAtOnce() async throws {
        let work = lifetime.keepRunning("feed", backoff: .fixed(.seconds(100)), clock: clock) { _ in throw MarkedError()
        }
        try await clock.waitForSleepers(count: 1)
        await work.stop()
        #expect(clock.sleeperCount == 0)
        #expect(await isStopped(work))
        try await lifetime.drain()
    }

    @Test func aStopAsksFirstAndCancelsAfterTheGrace() async throws {
        let log = OrderRecorder<String>()
        let work = lifetime.keepRunning("feed", grace: .seconds(5), clock: clock) { [clock] run in
            run.markReady()
            await run.waitForStop()
            #expect(run.isStopping && !Task.isCancelled)
            log.record("asked at \(clock.now)")
            try? await Gate().wait()
            log.record("cancelled at \(clock.now), \(Task.cancellationCause.map { "\($0)" } ?? "")")
        }
        try await work.waitUntilReady()
        let stop = Task { await work.stop() }
        await clock.advance(by: .seconds(5), waking: 1)
        await stop.value
        #expect(log.events == ["asked at 0.0 seconds", "cancelled at 5.0 seconds, shutdown: feed"])
    }

    @Test func workThatEndsInItsGraceIsNotCancelled() async throws {
        let work = lifetime.keepRunning("feed", grace: .seconds(5), clock: clock) { run in
            run.markReady()
            await run.waitForStop()
            #expect(!Task.isCancelled)
        }
        try await work.waitUntilReady()
        await work.stop()
        #expect(clock.now == .zero && clock.sleeperCount == 0)
        #expect(await isStopped(work))
    }

    /// A shutdown with a grace asks the work to stop, and restarts nothing.
    @Test func aShutdownOfTheLifetimeAsksTheWorkToStopAtTheBeginningOfItsGrace() async throws {
        let log = OrderRecorder<String>()
        let work = lifetime.keepRunning("feed", backoff: .none, clock: clock) { run in
            log.record("begins")
            run.markReady()
            await run.waitForStop()
            log.record(Task.isCancelled ? "cancelled" : "asked")
            throw MarkedError()
        }
        try await work.waitUntilReady()
        await lifetime.shutdown(grace: .seconds(5), clock: clock)
        #expect(log.events == ["begins", "asked"])
        #expect(clock.now == .zero)
        guard case .stopped = work.state else {
            Issue.record("\(work.state)")
            return
        }
    }

    @Test func theGraceOfTheLifetimeReplacesThatOfTheWork() async throws {
        let log = OrderRecorder<String>()
        let work = lifetime.keepRunning("feed", clock: clock) { [clock] run in
            run.markReady()
            try? await Gate().wait()
            log.record("\(clock.now), \(Task.cancellationCause.map { "\($0)" } ?? "")")
        }
        try await work.waitUntilReady()
        let shutdown = Task { await lifetime.shutdown(grace: .seconds(5), clock: clock) }
        await clock.advance(by: .seconds(5), waking: 1)
        _ = await shutdown.value
        #expect(log.events == ["5.0 seconds, shutdown: model"])
    }

    @Test func workThatHasEndedHasBeenAskedToStop() async throws {
        let (waited, lifetime) = (Gate(), lifetime)
        lifetime.keepRunning("feed", restart: .onFailure, clock: clock) { run in
            Task {
                await run.waitForStop()
                waited.open()
            }
        }
        try await waited.wait()
    }

    @Test func aRetryInARunMakesNoFurtherAttemptIfTheShutdownOfItsLifetimeCancelsWhatWaits() async throws {
        let (asked, log) = (Gate(), OrderRecorder<Int>())
        let work = lifetime.keepRunning("feed", clock: clock) { run in
            run.markReady()
            await run.waitForStop()
            asked.open()
            try? await retry(attempts: 3, backoff: .none, budget: nil) { attempt in
                log.record(attempt)
                throw MarkedError()
            }
        }
        try await work.waitUntilReady()
        #expect(await lifetime.shutdown(grace: .seconds(5), waiting: .cancel, clock: clock).isEmpty)
        #expect(asked.isOpen && log.events == [1])
    }

    @Test func waitForStopReturnsWhenItsTaskIsCancelled() async throws {
        let work = lifetime.keepRunning("feed", clock: clock) { run in
            run.markReady()
            await run.waitForStop()
            await run.waitForStop()
        }
        try await work.waitUntilReady()
        lifetime.cancelAll()
        try await lifetime.drain()
        #expect(work.state.isFinal)
    }
}
