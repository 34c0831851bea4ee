import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Permits as values that cannot be copied.
@Suite(.timeLimit(.minutes(15)))
struct PermitTests {
    @Test func aPermitIsReleasedWhenItIsDestroyed() async throws {
        let semaphore = AsyncSemaphore(value: 3)
        do {
            let permit = try await semaphore.acquirePermit(2)
            let count = permit.count
            #expect(count == 2 && semaphore.available == 1)
        }
        #expect(semaphore.available == 3)
    }

    @Test func releaseReleasesOnceAndAtOnce() async throws {
        let semaphore = AsyncSemaphore(value: 1)
        let permit = try await semaphore.acquirePermit()
        #expect(!semaphore.tryAcquire())
        permit.release()
        #expect(semaphore.available == 1)
    }

    @Test func anErrorDestroysThePermit() async {
        let semaphore = AsyncSemaphore(value: 1)
        func fail() async throws {
            let permit = try await semaphore.acquirePermit()
            #expect(semaphore.available == 0)
            if permit.count == 1 { throw MarkedError() }
        }
        await #expect(throws: MarkedError.self) { try await fail() }
        #expect(semaphore.available == 1)
    }

    @Test func itWaitsForItsTurnAndMovesToAnotherTask() async throws {
        let (semaphore, order) = (AsyncSemaphore(value: 1), OrderRecorder<Int>())
        let first = try await semaphore.acquirePermit()
        let task = Task {
            let second = try await semaphore.acquirePermit()
            order.record(2)
            second.release()
        }
        try await wait(forBooksOf: semaphore.source.number) { 1 - semaphore.waiterCount }
        order.record(1)
        first.release()
        try await task.value
        #expect(order.events == [1, 2] && semaphore.available == 1)
    }

    @Test func aCancelledCallerHasNoPermit() async throws {
        let semaphore = AsyncSemaphore(value: 1)
        try await semaphore.acquire()
        let task = Task {
            _ = try await semaphore.acquirePermit()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        semaphore.release()
        #expect(semaphore.available == 1)
    }

    @Test func itsEventsAreThoseOfHeldPermits() async throws {
        let events = try await EventLog.events {
            let semaphore = AsyncSemaphore(name: "PermitTests", value: 1)
            let permit = try await semaphore.acquirePermit()
            permit.release()
        }
        #expect(events.filter { $0.subject != nil }.map(\.kind) == [.acquired, .released])
        #expect(events.compactMap(\.outcome) == [.completed])
    }
}
