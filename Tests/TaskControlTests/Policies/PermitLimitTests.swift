import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Permits that a caller waits for with a time limit, and keeps.
@Suite(.timeLimit(.minutes(15)))
struct PermitLimitTests {
    private let semaphore = AsyncSemaphore(value: 3)

    private func waitForWaiters(_ count: Int) async throws {
        try await wait(forBooksOf: semaphore.source.number) { count - semaphore.waiterCount }
    }

    @Test(arguments: [.seconds(-5), .zero, .seconds(5), .seconds(Int64.max)] as [Duration])
    func aFreePermitIsTakenWhateverTheLimit(_ limit: Duration) async throws {
        try await semaphore.acquire(within: limit)
        try await semaphore.acquire(2, within: limit)
        #expect(semaphore.available == 0)
    }

    @Test(arguments: [.seconds(Int64.min), .seconds(-5), .zero] as [Duration])
    func anElapsedLimitThrowsAtOnceIfNoPermitIsFree(_ limit: Duration) async throws {
        try await semaphore.acquire(2)
        let error = await #expect(throws: TimeoutError.self) { try await semaphore.acquire(2, within: limit) }
        #expect(error?.duration == limit && semaphore.available == 1 && semaphore.waiterCount == 0)
        let waiter = Task { try await semaphore.acquire(2) }
        try await waitForWaiters(1)
        await #expect(throws: TimeoutError.self, "it overtakes nobody") { try await semaphore.acquire(within: limit) }
        semaphore.release(1)
        try await waiter.value
    }

    @Test func aCallerKeepsItsPlaceUntilItsLimit() async throws {
        let clock = TestClock()
        try await semaphore.acquire(3)
        let limited = Task { try await semaphore.acquire(3, within: .seconds(10), clock: clock) }
        try await waitForWaiters(1)
        let later = Task { try await semaphore.acquire() }
        try await waitForWaiters(2)
        await clock.advance(by: .seconds(9))
        semaphore.release(2)
        #expect(semaphore.waiterCount == 2, "the later caller does not overtake it")
        semaphore.release(1)
        try await limited.value
        #expect(semaphore.waiterCount == 1)
        semaphore.release(3)
        try await later.value
        #expect(semaphore.available == 2)
    }

    @Test func aCallerLeavesAtItsLimitAndTheCallersBehindMoveUp() async throws {
        let clock = TestClock()
        try await semaphore.acquire(2)
        let limited = Task { try await semaphore.acquire(2, within: .seconds(10), clock: clock) }
        try await waitForWaiters(1)
        let small = Task { try await semaphore.acquire() }
        try await waitForWaiters(2)
        await clock.advance(by: .seconds(10))
        let error = await #expect(throws: TimeoutError.self) { try await limited.value }
        #expect(error?.duration == .seconds(10))
        try await small.value
        #expect(semaphore.available == 0 && semaphore.waiterCount == 0)
    }

    @Test(arguments: [false, true])
    func aCancelledCallerLeavesAtOnce(isCancelledBefore: Bool) async throws {
        if !isCancelledBefore { try await semaphore.acquire(3) }
        let caller = Task {
            if isCancelledBefore { withUnsafeCurrentTask { $0?.cancel() } }
            try await semaphore.acquire(within: .seconds(1_000))
        }
        if !isCancelledBefore {
            try await waitForWaiters(1)
            caller.cancel()
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(semaphore.waiterCount == 0 && semaphore.available == (isCancelledBefore ? 3 : 0))
    }

    @Test func aClockThatCannotSleepEndsTheWaitWithItsError() async throws {
        try await semaphore.acquire(3)
        await #expect(throws: BrokenClock.Broken.self) {
            try await semaphore.acquire(within: .seconds(1), clock: BrokenClock())
        }
        #expect(semaphore.waiterCount == 0)
    }

    /// A clock whose sleeps end only when they are cancelled, as if the task of the limit had no thread.
    private final class SleeplessClock: Clock {
        let offset = Locked(Duration.zero)
        let isAsleep = Gate()

        var now: TestClock.Instant { TestClock().now.advanced(by: offset.withLock { $0 }) }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws { try await isAsleep.wait() }
    }

    @Test(arguments: [999, 1_000, 5_000])
    func aPermitAtTheLimitOrLaterIsPassedOn(milliseconds: Int) async throws {
        let clock = SleeplessClock()
        try await semaphore.acquire(3)
        let caller = Task { try await semaphore.acquire(within: .seconds(1), clock: clock) }
        try await waitForWaiters(1)
        clock.offset.withLock { $0 = .milliseconds(milliseconds) }
        semaphore.release(3)
        if milliseconds < 1_000 {
            try await caller.value
        } else {
            await #expect(throws: TimeoutError.self) { try await caller.value }
        }
        #expect(semaphore.available == (milliseconds < 1_000 ? 2 : 3))
    }

    /// A clock whose sleeps end late, as if the task of the limit had no thread when it was cancelled.
    private final class LateClock: Clock {
        let offset = Locked(Duration.zero)

        var now: TestClock.Instant { TestClock().now.advanced(by: offset.withLock { $0 }) }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
            try? await Gate().wait()
            offset.withLock { $0 = .seconds(5) }
        }
    }

    @Test func aPermitThatCameInTimeIsReceivedAlsoIfTheTaskOfTheLimitEndsLate() async throws {
        try await semaphore.acquire(3)
        let caller = Task { try await semaphore.acquire(within: .seconds(1), clock: LateClock()) }
        try await waitForWaiters(1)
        semaphore.release(3)
        try await caller.value
        #expect(semaphore.available == 2)
    }

    @Test func theEndOfALimitedWaitIsAnEvent() async throws {
        let semaphore = AsyncSemaphore(name: "limited", value: 1)
        let events = await EventLog.events {
            try? await semaphore.acquire()
            try? await semaphore.acquire(within: .nanoseconds(1))
        }
        let left = events.filter { $0.kind == .left }
        #expect(left.map(\.outcome) == [.timedOut] && left.allSatisfy { !$0.isCancelled })
        #expect(events.filter { $0.subject != nil }.unpaired.isEmpty)
    }

    /// Grants, limits, and a cancellation, at the same moments and in every order: each permit is held by one caller, or is available.
    @Test(.tags(.schedules)) func noPermitIsLostAtALimit() async throws {
        try simulate(seeds: Schedules.seeds(4_000, inDebug: 300)) { sim in
            let semaphore = AsyncSemaphore(value: 2)
            try await semaphore.acquire(2)
            let held = Locked(2)
            let callers = [1, 2, 1, 2].map { weight in
                Task {
                    let start = sim.now
                    do {
                        try await semaphore.acquire(weight, within: .seconds(weight))
                        sim.expect(sim.now - start < .seconds(weight), "in time")
                    } catch let error as TimeoutError {
                        sim.expect(error.duration == .seconds(weight) && sim.now - start >= .seconds(weight))
                        return
                    }
                    held.withLock { $0 += weight }
                    sim.expect(held.withLock { $0 } <= 2)
                    try? await Task.sleep(for: .milliseconds(500))  // simulated time
                    held.withLock { $0 -= weight }
                    semaphore.release(weight)
                }
            }
            sim.cancelAtAnyPoint(callers[1])
            for _ in 0..<2 {
                try await Task.sleep(for: .milliseconds(500))  // simulated time
                held.withLock { $0 -= 1 }
                semaphore.release()
            }
            for caller in callers {
                if case .failure(let error) = await caller.result { sim.expect(error is CancellationError) }
            }
            sim.expect(semaphore.available == 2 && semaphore.waiterCount == 0)
        }
    }
}
