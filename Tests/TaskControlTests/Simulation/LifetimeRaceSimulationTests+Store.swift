import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The behaviors of a `TaskStore` for a key that already has a task.
extension LifetimeRaceSimulationTests {
    /// A task that is cancelled during its quiet time does not run. A task that is not cancelled runs once.
    @Test func debounceAndCancel() async throws {
        try await race { sim in
            let (store, ran) = (TaskStore<Int>(), OrderRecorder<Int>())
            let cancelled = OrderRecorder<Bool>()
            for number in 0..<3 {
                store.addTask(forKey: 1, duplicateKeyBehavior: .debounce(for: .milliseconds(2))) {
                    sim.expect(cancelled.count == 0 || Task.isCancelled, "who was cancelled does not start")
                    ran.record(number)
                }
                try await Task.sleep(for: .milliseconds(1))
            }
            sim.atAnyPoint {
                store.cancelTask(forKey: 1)
                cancelled.record(true)
            }
            try await store.drain()
            sim.expect(ran.events == [2] || (ran.events == [] && cancelled.count == 1), "\(ran.events) ran")
        }
    }

    /// A task that is replaced and cancelled at the same time has one cause, that of the first.
    @Test func replacementBesideCancelAll() async throws {
        try await race { sim in
            let (store, first, read) = (
                TaskStore<Int>(), OrderRecorder<CancellationCause>(), OrderRecorder<CancellationCause?>()
            )
            let task = store.addTask(forKey: 1) {
                while !Task.isCancelled {
                    read.record(Task.cancellationCause)
                    await Task.yield()
                }
                for _ in 0..<4 {
                    sim.expect(Task.cancellationCause == first.events.first, "the first cause counts")
                    await Task.yield()
                }
            }
            await withTaskGroup { group in
                group.addTask {
                    await Task.yield()
                    first.record(.requested(reason: "test"))
                    store.cancelAll(because: "test")
                }
                group.addTask {
                    await Task.yield()
                    first.record(.superseded(key: "1"))
                    store.addTask(forKey: 1) {}
                }
            }
            await task.value
            sim.expect(read.events.allSatisfy { $0 == nil }, "a task that is not cancelled has no cause")
            sim.expect(CancellationCauses.cause(of: task.handle.address) == nil, "the cause is forgotten with the task")
        }
    }

    /// Tasks start at intervals, on whichever thread they are added, and the latest one starts unless it is cancelled.
    @Test func throttleFromTwoTasks() async throws {
        try await race { sim in
            let (store, ran) = (TaskStore<Int>(), OrderRecorder<Int>())
            let (last, cancelled) = (Locked(0), OrderRecorder<Bool>())
            let start = Locked<ContinuousClock.Instant?>(nil)
            await withTaskGroup { group in
                for adder in 0..<2 {
                    group.addTask {
                        for step in 1...3 {
                            let number = last.withLock { last in
                                last += 1
                                return last
                            }
                            store.addTask(forKey: 1, duplicateKeyBehavior: .throttle(for: .milliseconds(2))) {
                                let now = ContinuousClock().now
                                let before = start.withLock { start in
                                    defer { start = now }
                                    return start
                                }
                                sim.expect(
                                    before.map { now - $0 >= .milliseconds(2) } ?? true,
                                    "\(number) starts early"
                                )
                                ran.record(number)
                            }
                            try? await Task.sleep(for: .milliseconds(adder + step % 2))
                        }
                    }
                }
                sim.atAnyPoint {
                    store.cancelTask(forKey: 1)
                    cancelled.record(true)
                }
            }
            try await store.drain()
            let isSorted = zip(ran.events, ran.events.dropFirst()).allSatisfy { $0 < $1 }
            sim.expect(isSorted && (ran.events.last == 6 || cancelled.count == 1), "\(ran.events) ran")
            // The last interval ends, and the store keeps nothing of the key.
            try await Task.sleep(for: .milliseconds(3))
            sim.expect(
                store.registry.state.withLock { $0.machine.intervals.isEmpty && $0.machine.lanes.isEmpty },
                "kept"
            )
        }
    }

    /// Waiting tasks may be cancelled at any moment. The others run in order.
    @Test func waitAndCancel() async throws {
        try await race { sim in
            let (store, ran) = (TaskStore<Int>(), OrderRecorder<Int>())
            let tasks = (0..<4).map { number in
                store.addTask(forKey: 1, duplicateKeyBehavior: .wait) {
                    ran.record(number)
                    await Task.yield()
                }
            }
            sim.cancelAtAnyPoint(tasks[1])
            sim.cancelAtAnyPoint(tasks[2])
            for task in tasks { await task.value }
            try await store.drain()
            sim.expect(ran.events == ran.events.sorted(), "in the order of the calls: \(ran.events)")
            sim.expect(ran.events.contains(0) && ran.events.contains(3))
        }
    }

    /// The older task is cancelled when the quiet time ends, and not earlier.
    @Test func theEndOfAQuietTimeCancelsTheOlder() async throws {
        try await race { sim in
            let (store, seen) = (TaskStore<Int>(), OrderRecorder<Bool>())
            store.addTask(forKey: 1) {
                try? await Task.sleep(for: .seconds(1_000))
                seen.record(Task.isCancelled && sim.now == .milliseconds(2))
            }
            await Task.yield()
            store.addTask(forKey: 1, duplicateKeyBehavior: .debounce(for: .milliseconds(2))) {}
            try await store.drain()
            // A task that has not started is cancelled too, and does not start.
            sim.expect(!seen.events.contains(false), "cancelled when the quiet time ended")
            sim.expect(sim.now < .seconds(1_000), "\(sim.now)")
        }
    }

    /// A task that was cancelled through its handle is not preferred to a new task, and does not delay the tasks behind it.
    @Test func preferPreviousAndCancelByHandle() async throws {
        try await race { sim in
            let (store, ran) = (TaskStore<Int>(), OrderRecorder<Int>())
            let tasks = (0..<3).map { number in
                store.addTask(forKey: 1, duplicateKeyBehavior: .wait) {
                    await Task.yield()
                    ran.record(number)
                }
            }
            sim.cancelAtAnyPoint(tasks[1])
            sim.atAnyPoint { store.addTask(forKey: 1, duplicateKeyBehavior: .preferPrevious) { ran.record(3) } }
            for task in tasks { await task.value }
            try await store.drain()
            sim.expect(ran.events.contains(0) && ran.events.contains(2), "\(ran.events) ran")
            let alone = store.addTask(forKey: 2) { try? await Task.sleep(for: .seconds(1_000)) }
            await Task.yield()
            alone.cancel()
            let next = store.addTask(forKey: 2, duplicateKeyBehavior: .preferPrevious) {}
            sim.expect(next != alone, "a cancelled task stands for nobody")
            await next.value
        }
    }
}
