import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Pauses, bounds, and work that ignores its cancellation.
extension LifetimeRaceSimulationTests {
    /// From the return of `pause()` to the call of `resume()` nothing begins, and everything runs once.
    @Test(arguments: [nil, 1, 2])
    func nothingBeginsInAPauseOfAStore(limit: Int?) async throws {
        try await race { sim in
            let (store, isPaused, begun) = (
                TaskStore<Int>(maxConcurrentTasks: limit), Locked(false), OrderRecorder<Int>()
            )
            let adding = Task {
                for key in 0..<4 {
                    store.addTask(forKey: key % 3, duplicateKeyBehavior: .wait) {
                        sim.expect(!isPaused.withLock { $0 }, "\(key) does not begin in a pause")
                        begun.record(key)
                        try? await Task.sleep(for: .milliseconds(1))
                    }
                    await Task.yield()
                }
            }
            let pausing = Task {
                for _ in 0..<2 {
                    await Task.yield()
                    store.pause()
                    isPaused.withLock { $0 = true }
                    try? await Task.sleep(for: .milliseconds(3))
                    isPaused.withLock { $0 = false }
                    store.resume()
                }
            }
            await adding.value
            await pausing.value
            try await store.drain()
            sim.expect(begun.events.sorted() == [0, 1, 2, 3], "\(begun.events) ran")
        }
    }

    /// The same for a queue, except that one task, whose turn has come, may begin.
    @Test func atMostOneTaskBeginsInAPauseOfAQueue() async throws {
        try await race { sim in
            let (queue, pauses, begun) = (FIFOQueue(), Locked(0), OrderRecorder<Int>())
            let late = Locked([Int: Int]())
            for number in 0..<4 {
                queue.addTask {
                    let pause = pauses.withLock { $0 }
                    if pause % 2 == 1 { late.withLock { $0[pause, default: 0] += 1 } }
                    begun.record(number)
                    try? await Task.sleep(for: .milliseconds(1))
                }
            }
            for _ in 0..<2 {
                await Task.yield()
                queue.pause()
                pauses.withLock { $0 += 1 }
                try? await Task.sleep(for: .milliseconds(3))
                pauses.withLock { $0 += 1 }
                queue.resume()
            }
            try await queue.drain()
            sim.expect(begun.events == [0, 1, 2, 3], "\(begun.events) began")
            sim.expect(late.withLock(\.values).allSatisfy { $0 <= 1 }, "one has its turn")
        }
    }

    /// Each task runs or fails, once, and no more wait than may.
    @Test(arguments: [TaskStore<Int>.OverflowBehavior.refuse, .dropOldest])
    func aBoundHoldsForEveryOrder(behavior: TaskStore<Int>.OverflowBehavior) async throws {
        try await race { sim in
            let store = TaskStore<Int>(maxConcurrentTasks: 1, order: .priority, maxWaiting: 2, whenFull: behavior)
            let ends = OrderRecorder<Int>()
            let tasks = (0..<2).map { half in
                Task {
                    for number in 0..<3 {
                        let key = half * 3 + number
                        store.addTask(forKey: key, priority: key % 2 == 0 ? .high : .low) {
                            ends.record(key)
                            try? await Task.sleep(for: .milliseconds(1))
                        } onError: { error in
                            sim.expect(error is TaskStoreFullError, "\(error)")
                            ends.record(key)
                        }
                        let waiting = (0..<6).count { store.taskIsWaiting(forKey: $0) }
                        // Each of two threads may have added one and not yet removed one.
                        sim.expect(waiting <= 3, "\(waiting) wait")
                        await Task.yield()
                    }
                }
            }
            sim.atAnyPoint { store.moveToFront(forKey: 5) }
            sim.atAnyPoint { store.setPriority(.high, forKey: 1) }
            for task in tasks { await task.value }
            try await store.drain()
            sim.expect(ends.events.sorted() == Array(0..<6), "\(ends.events) ended")
        }
    }

    /// The wait of a shutdown ends by its two limits, and the report has what still runs, and nothing else.
    @Test func aShutdownEndsByItsLimits() async throws {
        try await race { sim in
            let (lifetime, isOver) = (AsyncLifetime(), Locked([String]()))
            for (name, time) in [("obeys", 0), ("slow", 4), ("deaf", 60)] {
                lifetime.addTask(name: name) {
                    await withoutCancellation { try? await Task.sleep(for: .milliseconds(time)) }
                    isOver.withLock { $0.append(name) }
                }
            }
            lifetime.addTask(name: "payment", mustFinish: true) {
                try await Task.sleep(for: .milliseconds(2))
                isOver.withLock { $0.append("payment") }
            }
            let begin = sim.now
            let report = await lifetime.shutdown(grace: .milliseconds(5), cancellationGrace: .milliseconds(5))
            sim.expect(sim.now - begin < .milliseconds(12), "it took \(sim.now - begin)")
            sim.expect(report.leftBehind == ["\"deaf\" of AsyncLifetime"], "\(report)")
            sim.expect(isOver.withLock(\.self).contains("payment"), "the payment is made")
            try await lifetime.drain()
        }
    }
}

/// Runs an operation in a task that the cancellation of the caller does not reach.
private func withoutCancellation(_ operation: @escaping @Sendable () async -> Void) async {
    await Task { await operation() }.value
}
