#if os(Linux)
import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// Locks that a task holds over an await.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.capabilities == .all), .tags(.schedules))
struct LockTests {
    /// A lock whose functions may be called in an async function.
    private final class Lock: @unchecked Sendable {
        private let lock: any NSLocking
        init(_ lock: any NSLocking) { self.lock = lock }
        func acquire() { lock.lock() }
        func release() { lock.unlock() }
    }

    private final class SharedLock: NSObject, NSLocking {
        private nonisolated(unsafe) let primitive = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
        override init() { pthread_rwlock_init(primitive, nil) }
        func lock() { pthread_rwlock_wrlock(primitive) }
        func unlock() { pthread_rwlock_unlock(primitive) }
    }

    private static let locks: [@Sendable () -> any NSLocking] = [
        { NSLock() }, { NSCondition() }, { NSRecursiveLock() }, { SharedLock() },
    ]

    @Test func aLockHeldOverAnAwaitIsADeadlockThatNamesBothTasks() throws {
        for make in Self.locks {
            let failure = try #require(throws: Simulation.Failure.self) {
                try simulate(seeds: 0..<100, strategy: .random) { _ in
                    let lock = Lock(make())
                    @Sendable func work() async {
                        lock.acquire()
                        await Task.yield()
                        lock.release()
                    }
                    async let one: Void = Task(name: "one") { await work() }.value
                    async let two: Void = Task(name: "two") { await work() }.value
                    _ = await (one, two)
                }
            }
            guard case .blocked(let what) = failure.reason else { Issue.record("\(failure)"); continue }
            let isOneWaiting = what.contains("one waits in pthread_") && what.contains("two holds over an await")
            let isTwoWaiting = what.contains("two waits in pthread_") && what.contains("one holds over an await")
            #expect(isOneWaiting || isTwoWaiting, "\(what)")
            #expect(what.contains(", called by") && what.contains("LockTests"), "\(what)")
            #expect(failure.shrunk != nil)
        }
    }

    @Test func aTaskThatAcquiresItsOwnLockAgainIsADeadlock() throws {
        let failure = try #require(
            failure { _ in
                let lock = Lock(NSLock())
                lock.acquire()
                lock.acquire()
            }
        )
        guard case .blocked(let what) = failure.reason else { Issue.record("\(failure)"); return }
        #expect(what.hasPrefix("#0 body waits in pthread_mutex_lock for a lock that it holds itself"))
    }

    @Test func locksThatAreReleasedBeforeTheAwaitAreNoDeadlock() throws {
        for make in Self.locks {
            try simulate(seeds: 0..<100, strategy: .random.withEarlyStarts()) { sim in
                let (lock, count) = (Lock(make()), Locked(0))
                await withTaskGroup { group in
                    for _ in 0..<4 {
                        group.addTask {
                            lock.acquire()
                            count.withLock { $0 += 1 }
                            lock.release()
                            await Task.yield()
                            lock.acquire()
                            lock.release()
                        }
                    }
                }
                sim.expect(count.withLock { $0 }, equals: 4)
            }
        }
    }

    @Test func aRecursiveLockMayBeAcquiredTwiceByOneTask() throws {
        try simulate(seeds: 0..<10) { _ in
            let lock = Lock(NSRecursiveLock())
            for _ in 0..<2 { lock.acquire() }
            for _ in 0..<2 { lock.release() }
        }
    }

    /// On another thread, the task would wait for the lock.
    @Test func aTaskThatIsCreatedUnderALockDoesNotStartEarly() throws {
        try simulate(seeds: 0..<200, strategy: .swarm.withEarlyStarts()) { _ in
            let lock = Lock(NSLock())
            lock.acquire()
            let task = Task {
                lock.acquire()
                lock.release()
            }
            lock.release()
            await task.value
        }
    }

    /// A thread outside the simulation holds it for a moment.
    @Test func aLockThatAnotherThreadReleasesIsAwaited() throws {
        let (lock, isHeld) = (Lock(NSLock()), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            lock.acquire()
            isHeld.signal()
            usleep(20_000)
            lock.release()
        }
        isHeld.wait()
        try simulate(seed: 1) { _ in
            lock.acquire()
            lock.release()
        }
    }
}
#endif
