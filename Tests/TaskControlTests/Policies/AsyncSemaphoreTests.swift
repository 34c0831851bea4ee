import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The promises of a semaphore.
@Suite(.timeLimit(.minutes(15)))
struct AsyncSemaphoreTests {
    private func waitForWaiters(_ count: Int, at semaphore: AsyncSemaphore) async throws {
        try await wait(forBooksOf: semaphore.source.number) { count - semaphore.waiterCount }
    }

    @Test func noMoreThanItsPermitsAreInside() async throws {
        let semaphore = AsyncSemaphore(value: 3)
        let steps = OrderRecorder<Int>()
        try await withThrowingTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    try await semaphore.withPermit {
                        steps.record(1)
                        await Task.yield()
                        steps.record(-1)
                    }
                }
            }
            try await group.waitForAll()
        }
        var (inside, most) = (0, 0)
        for step in steps.events {
            inside += step
            most = max(most, inside)
        }
        #expect(steps.count == 400 && most <= 3)
        #expect(semaphore.available == 3 && semaphore.waiterCount == 0)
    }

    /// Permits change hands between the word of a free semaphore and the line of a busy one, on many threads. ThreadSanitizer sees here that a
    /// permit orders the memory that it protects.
    @Test func aPermitProtectsMemoryThatHasNoLock() async throws {
        final class Unprotected: @unchecked Sendable { var count = 0 }
        let (semaphore, memory) = (AsyncSemaphore(value: 2), Unprotected())
        await withTaskGroup(of: Int.self) { group in
            for number in 0..<8 {
                group.addTask {
                    var entered = 0
                    for round in 0..<500 {
                        if (number + round).isMultiple(of: 7) { await Task.yield() }
                        if (number + round).isMultiple(of: 5), semaphore.tryAcquire(2) {
                            memory.count += 1
                            entered += 1
                            semaphore.release(2)
                        }
                        try? await semaphore.withPermits(2) {
                            memory.count += 1
                            entered += 1
                        }
                    }
                    return entered
                }
            }
            let entered = await group.reduce(0, +)
            #expect(memory.count == entered && entered >= 4_000)
        }
        #expect(semaphore.available == 2 && semaphore.waiterCount == 0)
    }

    @Test func permitsAreGivenInTheOrderOfTheCalls() async throws {
        let (semaphore, order) = (AsyncSemaphore(value: 1), OrderRecorder<Int>())
        try await semaphore.acquire()
        var waiters: [Task<Void, any Error>] = []
        for number in 0..<20 {
            let priority: TaskPriority = number.isMultiple(of: 2) ? .low : .high
            waiters.append(Task(priority: priority) { try await semaphore.withPermit { order.record(number) } })
            try await waitForWaiters(number + 1, at: semaphore)
        }
        semaphore.release()
        for waiter in waiters { try await waiter.value }
        #expect(order.events == Array(0..<20))
    }

    @Test func nobodyOvertakesALargeRequest() async throws {
        let semaphore = AsyncSemaphore(value: 3)
        try await semaphore.acquire(2)
        let large = Task { try await semaphore.acquire(3) }
        try await waitForWaiters(1, at: semaphore)
        #expect(!semaphore.tryAcquire(), "there is one, and somebody in line")
        let small = Task { try await semaphore.acquire(1) }
        try await waitForWaiters(2, at: semaphore)
        #expect(semaphore.available == 1)
        semaphore.release()
        #expect(semaphore.waiterCount == 2 && semaphore.available == 2)
        semaphore.release()
        try await large.value
        #expect(semaphore.waiterCount == 1 && semaphore.available == 0)
        // Permits that were acquired together are released in parts.
        semaphore.release(1)
        try await small.value
        semaphore.release(2)
        semaphore.release(1)
        #expect(semaphore.available == 3)
    }

    @Test func aCancelledWaiterLeavesAtOnceAndThoseBehindMoveUp() async throws {
        let semaphore = AsyncSemaphore(value: 3)
        try await semaphore.acquire(2)
        let large = Task { try await semaphore.acquire(2) }
        try await waitForWaiters(1, at: semaphore)
        let small = Task { try await semaphore.acquire(1) }
        try await waitForWaiters(2, at: semaphore)
        large.cancel()
        await #expect(throws: CancellationError.self) { try await large.value }
        try await small.value
        #expect(semaphore.available == 0 && semaphore.waiterCount == 0)
    }

    @Test func whoIsCancelledBeforehandTakesNothing() async throws {
        let semaphore = AsyncSemaphore(value: 1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await semaphore.withPermit { _ = Issue.record("it does not run") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(semaphore.available == 1)
    }

    @Test func anErrorInsideGivesThePermitBack() async throws {
        let semaphore = AsyncSemaphore(value: 2)
        await #expect(throws: MarkedError.self) { try await semaphore.withPermits(2) { throw MarkedError() } }
        #expect(semaphore.available == 2)
    }

    @Test func tryAcquireTakesWhatIsThere() {
        let semaphore = AsyncSemaphore(value: 2)
        #expect(semaphore.tryAcquire(2))
        #expect(!semaphore.tryAcquire())
        semaphore.release(2)
        #expect(semaphore.tryAcquire())
    }

    private actor Account {
        private let semaphore = AsyncSemaphore(value: 1)
        private var log = NotSendable()

        /// Touches the actor's state inside, and returns what is not Sendable.
        func touch() async throws -> Int {
            let inside = try await semaphore.withPermit {
                assertIsolated()
                log.count += 1
                await Task.yield()
                return log
            }
            return inside.count
        }
    }

    private final class NotSendable { var count = 0 }

    @Test func theBodyIsInTheCallersIsolation() async throws {
        #expect(try await Account().touch() == 1)
    }

    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func releasingMoreThanWasAcquiredTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            AsyncSemaphore(value: 2).release()
        }
        #expect(text(result).contains("more permits are released than were acquired"))
    }
    #endif
}
