import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Numbers that a program computes: none of them ends the process.
@Suite(.timeLimit(.minutes(15)))
struct ComputedNumberTests {
    @Test(arguments: [0, -1, Int.min]) func aQueueRunsAtLeastOneTask(_ width: Int) async {
        let queue = ConcurrentQueue(maxConcurrentTasks: width)
        #expect(queue.maxConcurrentTasks == 1)
        #expect(await queue.addTask { 7 }.value == 7)
    }

    @Test(arguments: [0, -1, Int.min]) func aSemaphoreWithoutPermitsGrantsNone(_ value: Int) async throws {
        let semaphore = AsyncSemaphore(value: value)
        #expect(semaphore.available == 0 && !semaphore.tryAcquire())
        let waiting = Task { try await semaphore.withPermit {} }
        try await wait(forBooksOf: semaphore.source.number) { 1 - semaphore.waiterCount }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(semaphore.waiterCount == 0)
    }

    @Test(arguments: [(0, 1), (-3, 1), (Int.min, 1), (4, 3), (Int.max, 3)] as [(Int, Int)])
    func aRequestTakesAtLeastOnePermitAndAtMostAll(_ request: Int, _ taken: Int) async throws {
        let semaphore = AsyncSemaphore(value: 3)
        try await semaphore.withPermits(request) { #expect(semaphore.available == 3 - taken) }
        try await semaphore.acquire(request)
        #expect(semaphore.available == 3 - taken)
        semaphore.release(request)
        #expect(semaphore.available == 3)
        #expect(semaphore.tryAcquire(request) && semaphore.available == 3 - taken)
        semaphore.release(request)
        let permit = try await semaphore.acquirePermit(request)
        #expect(permit.count == taken && semaphore.available == 3 - taken)
        permit.release()
        #expect(semaphore.available == 3)
    }

    @Test(
        arguments: [(0.0, 1.0), (0.999, 1), (-2, 1), (-Double.infinity, 1), (Double.nan, 2), (2.5, 2.5)]
            as [(Double, Double)]
    )
    func aDelayNeverShrinks(_ factor: Double, _ used: Double) {
        var schedule = RetrySchedule(.exponential(base: .seconds(1), factor: factor))
        #expect(schedule.delay(afterAttempt: 1, error: MarkedError(), hint: nil) == .seconds(1))
        #expect(schedule.delay(afterAttempt: 2, error: MarkedError(), hint: nil) == .seconds(used))
    }

    @Test func anInfiniteFactorIsTheLongestDelay() {
        var schedule = RetrySchedule(.exponential(base: .seconds(1), factor: .infinity))
        #expect(schedule.delay(afterAttempt: 3, error: MarkedError(), hint: nil) == .longestWait)
    }

    @Test func aBudgetOfLessThanNothingAllowsNoRetryAndARetryCostsAtLeastOneToken() {
        #expect(RetryBudget(capacity: -1).capacity == 0)
        #expect(RetryBudget(capacity: .min).take(isThrottled: false) == nil)
        let budget = RetryBudget(capacity: 2, cost: 0, throttledCost: -5)
        #expect(budget.take(isThrottled: false) == 1 && budget.take(isThrottled: true) == 1)
        #expect(budget.available == 0)
    }

    @Test(arguments: [0, -1, Int.min]) func noAttemptIsAnErrorThatSaysSo(_ attempts: Int) async {
        let calls = OrderRecorder<Int>()
        await #expect(throws: NoAttemptError(attempts: attempts)) {
            try await retry(attempts: attempts) { calls.record(1) }
        }
        await #expect(throws: NoAttemptError(attempts: attempts)) {
            try await retry(RetryPolicy(attempts: attempts)) { calls.record($0) }
        }
        #expect(calls.events.isEmpty)
        #expect("\(NoAttemptError(attempts: 0))" == "retry: 0 attempts are allowed, so the operation was not called")
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await retry(attempts: 0) {}
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test func aNumberIsReportedOncePerParameter() {
        let events = EventLog.events {
            for value in [0, -1, 1, 2] {
                #expect(ComputedNumber.count(value, "aNumberIsReportedOnce(count:)", .retry) == max(1, value))
                #expect(
                    ComputedNumber.count(value, in: 0...1, "aNumberIsReportedOnce(range:)", .retry)
                        == min(max(0, value), 1)
                )
            }
            #expect(
                ComputedNumber.number(.nan, in: 0...1, default: 0.5, "aNumberIsReportedOnce(number:)", .retry) == 0.5
            )
            #expect(ComputedNumber.number(7, in: 0...1, default: 0.5, "aNumberIsReportedOnce(number:)", .retry) == 1)
        }
        let details = events.compactMap(\.detail).filter { $0.hasPrefix("aNumberIsReportedOnce") }
        #expect(
            details == [
                "aNumberIsReportedOnce(count:): 0 counts as 1", "aNumberIsReportedOnce(range:): -1 counts as 0",
                "aNumberIsReportedOnce(number:): nan counts as 0.5",
            ]
        )
        #expect(events.allSatisfy { $0.kind != .adjusted || $0.severity == .warning })
    }
}
