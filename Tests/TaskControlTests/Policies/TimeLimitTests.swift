import Foundation
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The promises of time limits, on a clock that the test moves.
@Suite(.timeLimit(.minutes(15)))
struct TimeLimitTests {
    private let clock = TestClock()
    private let limit = Duration.seconds(10)

    // MARK: withTimeout

    @Test func aValueThatComesInTimeWins() async throws {
        #expect(try await withTimeout(limit, clock: clock) { 7 } == 7)
        #expect(clock.sleeperCount == 0, "the limit is over with it")
    }

    @Test func anErrorThatComesInTimeIsItself() async throws {
        await #expect(throws: MarkedError.self) { try await withTimeout(limit, clock: clock) { throw MarkedError() } }
    }

    @Test func atTheLimitTheOperationIsCancelledAndAwaited() async throws {
        let (gate, deaf) = (Gate(), Gate())
        let task = Task {
            try await withTimeout(limit, clock: clock) {
                do { try await gate.wait() } catch { #expect(Task.isCancelled) }
                await deaf.waitIgnoringCancellation()
                return 1
            }
        }
        try await gate.waitForWaiters()
        try await clock.waitForSleepers()
        await clock.advance(by: limit)
        try await deaf.waitForWaiters()
        deaf.open()
        let error = await #expect(throws: TimeoutError.self) { try await task.value }
        #expect(error == TimeoutError(duration: limit), "a value that comes after the limit does not count")
        #expect("\(error!)".contains("10"))
    }

    /// The caller's actor runs nothing from the beginning of the operation until it has been cancelled.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test func theOperationIsCancelledAtTheLimitWhileTheCallersActorIsBusy() async throws {
        let (gate, isCancelled, clock, actor) = (Gate(), Gate(), clock, HeldActor())
        let task = Task {
            try await actor.limit(limit, clock) { @concurrent in
                try await withTaskCancellationHandler {
                    try await gate.wait()
                } onCancel: {
                    isCancelled.open()
                }
            }
        }
        try await gate.waitForWaiters()
        try await clock.waitForSleepers()
        actor.executor.hold()
        await clock.advance(by: limit)
        try await isCancelled.wait()
        actor.executor.release()
        await #expect(throws: TimeoutError.self) { try await task.value }
    }

    @Test func anOperationWhoseLimitHasPassedBeforeItBeganDoesNotBegin() async throws {
        let phase = _TimeLimit._RacePhase(limit: limit)
        phase.expire()
        await Task { _ = #expect(throws: CancellationError.self) { try phase.begin() } }.value
        phase.end(isLate: false)
        #expect(phase.isExpired && phase.hasEnded)
    }

    @Test func whatTheOperationThrowsAfterTheLimitDoesNotCount() async throws {
        let gate = Gate()
        let task = Task {
            try await withTimeout(limit, clock: clock) {
                do { try await gate.wait() } catch { throw MarkedError() }
            }
        }
        try await gate.waitForWaiters()
        try await clock.waitForSleepers()
        await clock.advance(by: limit)
        await #expect(throws: TimeoutError.self) { try await task.value }
    }

    @Test func aCancelledCallerGetsItsCancellation() async throws {
        let gate = Gate()
        let task = Task {
            try await withTimeout(limit, clock: clock) {
                do { try await gate.wait() } catch { throw MarkedError() }
            }
        }
        try await gate.waitForWaiters()
        task.cancel()
        await #expect(throws: CancellationError.self, "in whatever words it failed") { try await task.value }
    }

    @Test func aCancellationErrorOfTheOperationIsAnErrorLikeOthers() async throws {
        await #expect(throws: CancellationError.self) {
            try await withTimeout(limit, clock: clock) { throw CancellationError() }
        }
    }

    @Test func whoIsCancelledBeforehandBeginsNothing() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await withTimeout(limit, clock: clock) { _ = Issue.record("it does not run") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// Cancels the task that asks for the time.
    private struct CancellingClock: Clock {
        let minimumResolution = Duration.zero

        var now: ContinuousClock.Instant {
            withUnsafeCurrentTask { $0?.cancel() }
            return .now
        }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            try await ContinuousClock().sleep(until: deadline)
        }
    }

    @Test func whatIsCancelledBeforeItBeginsDoesNotBegin() async throws {
        let task = Task {
            try await withTimeout(limit, clock: CancellingClock()) { _ = Issue.record("it does not run") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func withNoTimeNothingBegins() async throws {
        await #expect(throws: TimeoutError(duration: .zero)) {
            try await withTimeout(.zero, clock: clock) { _ = Issue.record("it does not run") }
        }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(1e18), .seconds(3_155_760_000)])
    func anAbsurdLimitIsALimitLikeAnyOther(limit: Duration) async throws {
        #expect(try await withTimeout(limit) { 1 } == 1)
        #expect(try await withDetachedTimeout(limit) { 1 } == 1)
        let gate = Gate()
        let task = Task { try await withTimeout(limit, clock: clock) { try await gate.wait() } }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(3_155_760_000))
        await #expect(throws: TimeoutError(duration: limit), "a century is enough") { try await task.value }
    }

    @Test func theNearestOfTwoLimitsWinsAndEachCallerSeesItsOwn() async throws {
        for (outer, inner) in [(5, 10), (10, 5)] as [(Int, Int)] {
            let (clock, gate) = (TestClock(), Gate())
            let seenInside = OrderRecorder<Bool>()
            let task = Task {
                try await withTimeout(.seconds(outer), clock: clock) {
                    do {
                        try await withTimeout(.seconds(inner), clock: clock) { try await gate.wait() }
                    } catch {
                        seenInside.record(error is TimeoutError)
                        throw error
                    }
                }
            }
            try await clock.waitForSleepers(count: 2)
            await clock.advance(by: .seconds(5))
            let error = await #expect(throws: TimeoutError.self) { try await task.value }
            #expect(error?.duration == .seconds(5))
            #expect(seenInside.events == [inner < outer], "for the one inside, the outer limit is a cancellation")
        }
    }

    private actor Account {
        private var log = NotSendable()

        func touch(_ clock: TestClock) async throws -> Int {
            var local = 0
            let inside = try await withTimeout(.seconds(1), clock: clock) {
                assertIsolated()
                log.count += 1
                await Task.yield()
                assertIsolated()
                local += 1
                return log
            }
            return inside.count + local
        }
    }

    private final class NotSendable { var count = 0 }

    @Test func theOperationIsInTheCallersIsolation() async throws {
        #expect(try await Account().touch(clock) == 2)
        try await onTheMainActor()
    }

    @MainActor private func onTheMainActor() async throws {
        try await withTimeout(limit, clock: clock) {
            MainActor.assertIsolated()
            await isolatedToMain()
        }
    }

    /// Isolated to its caller: a time limit between must not change that.
    private nonisolated(nonsending) func isolatedToMain() async {
        #expect(#isolation === MainActor.shared)
    }

    @TaskLocal private static var request = "none"

    @Test func theOperationHasTheCallersTaskLocals() async throws {
        try await Self.$request.withValue("mine") {
            let inside = try await withTimeout(limit, clock: clock) { Self.request }
            let detached = try await withDetachedTimeout(limit, clock: clock) { Self.request }
            #expect(inside == "mine" && detached == "mine")
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func theOperationHasTheCallersName() async throws {
        try await Task(name: "mine") {
            let inside = try await withTimeout(limit, clock: clock) { Task.name }
            let detached = try await withDetachedTimeout(limit, clock: clock) { Task.name }
            let named = try await withDetachedTimeout(limit, name: "its own", clock: clock) { Task.name }
            #expect(inside == "mine" && detached == "mine" && named == "its own")
        }.value
    }

    @Test func aClockThatCannotSleepIsNoCancellation() async throws {
        let gate = Gate()
        await #expect(throws: BrokenClock.Broken.self) {
            try await withTimeout(limit, clock: BrokenClock()) { try await gate.wait() }
        }
        await #expect(throws: BrokenClock.Broken.self) {
            try await withDetachedTimeout(limit, clock: BrokenClock()) { try await gate.wait() }
        }
        #expect(!Task.isCancelled)
        let value = try await withTimeout(limit, clock: BrokenClock()) {
            await Task { for _ in 0..<100 { await Task.yield() } }.value
            return 7
        }
        #expect(value == 7, "what the operation returned all the same counts")
    }

    // MARK: withDetachedTimeout

    /// An actor on a queue of its own, which can be kept busy without a thread of the pool.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    private actor Busy {
        private final class Executor: SerialExecutor {
            let queue = DispatchQueue(label: "busy")

            func enqueue(_ job: consuming ExecutorJob) {
                let job = UnownedJob(job)
                queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
            }
        }

        private nonisolated let executor = Executor()

        nonisolated var queue: DispatchQueue { executor.queue }

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func ask(
            _ limit: Duration,
            _ clock: TestClock,
            _ operation: @escaping @Sendable @isolated(any) () async throws -> Int
        ) async throws -> Int { try await withDetachedTimeout(limit, clock: clock, operation: operation) }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test(arguments: [false, true])
    func whatDetachedWorkBringsInTimeCountsWheneverTheCallerHearsOfIt(fails: Bool) async throws {
        let (busy, gate, free) = (Busy(), Gate(), DispatchSemaphore(value: 0))
        let place = Locked<Place?>(nil)
        let caller = Task {
            try await busy.ask(limit, clock) {
                place.withLock { $0 = _Places.local.get().innermost }
                await gate.waitIgnoringCancellation()
                if fails { throw MarkedError() }
                return 7
            }
        }
        try await gate.waitForWaiters()
        try await clock.waitForSleepers()
        busy.queue.async { free.wait() }
        gate.open()
        // The work has ended, and its caller can't receive the result yet.
        while let place = place.withLock({ $0 }), place.isHeld { await Task.yield() }
        await clock.advance(by: limit)
        free.signal()
        if fails {
            await #expect(throws: MarkedError.self) { try await caller.value }
        } else {
            #expect(try await caller.value == 7)
        }
    }

    /// The caller's actor is busy here from the end of the work until the caller is cancelled.
    @Test @MainActor func anErrorOfDetachedWorkReachesACancelledCallerAsItsCancellation() async throws {
        let (gate, place) = (Gate(), Locked<Place?>(nil))
        let caller = Task { @MainActor in
            try await withDetachedTimeout(limit, clock: clock) { @concurrent in
                place.withLock { $0 = _Places.local.get().innermost }
                await gate.waitIgnoringCancellation()
                throw MarkedError()
            }
        }
        try await gate.waitForWaiters()
        gate.open()
        blockThread {
            let place = place.withLock { $0 }
            return place.map { !$0.isHeld } ?? true
        }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
    }

    @Test func itReturnsAtTheLimitWhateverTheWorkDoes() async throws {
        let (deaf, cancelled, error) = (Gate(), Gate(), MarkedError())
        let task = Task {
            try await withDetachedTimeout(limit, name: "legacy", clock: clock) {
                await withTaskCancellationHandler {
                    await deaf.waitIgnoringCancellation()
                } onCancel: {
                    cancelled.open()
                }
                throw error
            }
        }
        try await clock.waitForSleepers()
        try await deaf.waitForWaiters()
        await clock.advance(by: limit)
        await #expect(throws: TimeoutError(duration: limit)) { try await task.value }
        // The caller returns at the same time as the work is cancelled.
        try await cancelled.wait()
        #expect(Incidents.shared.abandoned(error).isEmpty, "it still runs")
        deaf.open()
        try await Incidents.shared.wait { !$0.abandoned(error).isEmpty }
        #expect(Incidents.shared.abandoned(error) == [readable("legacy")])
    }

    @Test func aCancelledCallerLeavesDetachedWorkAtOnce() async throws {
        let deaf = Gate()
        let task = Task {
            try await withDetachedTimeout(limit, clock: clock) { await deaf.waitIgnoringCancellation() }
        }
        try await deaf.waitForWaiters()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        deaf.open()
    }

    @Test func detachedWorkThatEndsInTimeIsNoNews() async throws {
        #expect(try await withDetachedTimeout(limit, clock: clock) { 7 } == 7)
        await #expect(throws: MarkedError.self) {
            try await withDetachedTimeout(limit, clock: clock) { throw MarkedError() }
        }
        #expect(Incidents.shared.abandoned(MarkedError()).isEmpty)
        await #expect(throws: TimeoutError.self) {
            try await withDetachedTimeout(.zero, clock: clock) { _ = Issue.record("it does not run") }
        }
    }

    @Test @MainActor func detachedWorkRunsWhereItIsWritten() async throws {
        var count = 0
        try await withDetachedTimeout(limit, clock: clock) {
            MainActor.assertIsolated()
            count += 1
        }
        #expect(count == 1)
    }

    // MARK: Computed limits

    @Test(arguments: [Duration.seconds(-1), .seconds(Int64.min)])
    func aNegativeLimitIsOverBeforeTheOperationBegins(_ limit: Duration) async {
        await #expect(throws: TimeoutError(duration: limit)) {
            try await withTimeout(limit) { Issue.record("the operation began") }
        }
        await #expect(throws: TimeoutError(duration: limit)) {
            try await withDetachedTimeout(limit) { Issue.record("the operation began") }
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension HeldActor {
    fileprivate func limit(
        _ limit: Duration,
        _ clock: TestClock,
        _ operation: @concurrent () async throws -> Void
    ) async throws { try await withTimeout(limit, clock: clock) { try await operation() } }
}
