import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Random programs of all primitives, whose observer calls back into them at each event: no event is emitted while a lock is held, and whatever
/// begins ends, once.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct EventSimulationTests {
    @Test func everySubjectBeginsAndEndsOnceUnderEverySchedule() async throws {
        let seen = Locked<Set<String>>([])
        try await offThePool {
            try simulate(seeds: Schedules.seeds(10_000, inDebug: 100)) { sim in
                let world = World()
                let events = await EventLog.events { _ in
                    world.lookAround()
                } of: {
                    await world.run(sim)
                }
                let wrong = events.unpaired
                sim.expect(wrong.isEmpty, "\(wrong)")
                // In the order in which the task does it.
                for list in events.bySubject {
                    let own = list.filter { $0.kind == .started && !$0.isBeginning || $0.outcome != nil }
                    sim.expect(own.last?.outcome != nil && own.count <= 2, "\(list.lines)")
                    sim.expect(own.last?.kind != .skipped || own.count == 1, "\(list.lines)")
                }
                sim.expect(events.count > 10)
                seen.withLock { $0.formUnion(events.map(\.name)) }
            }
        }
        if Schedules.areAll {
            // A part of the seeds may miss some of them.
            for name in [
                "AsyncTask.skipped", "TaskBag.skipped", "TaskStore.skipped", "FIFOQueue.skipped",
                "SingleFlight.skipped",
                "AsyncSemaphore.left", "retry.gaveUp", "TaskStore.cancelled", "TaskBag.cancelled",
                "SingleFlight.cancelled",
                "CancellableQueue.cancelledAll", "withTimeout.timedOut", "SingleFlight.joined", "FIFOQueue.waiting",
            ] {
                #expect(seen.withLock { $0.contains(name) }, "\(name) never happened")
            }
        }
    }

    private struct World {
        let lifetime = AsyncLifetime()
        let bag = TaskBag()
        let store = TaskStore<Int>()
        let queue = FIFOQueue()
        let flights = SingleFlight<Int, Int>()
        let semaphore = AsyncSemaphore(value: 1)
        let group: CancellableQueue<FIFOQueue>

        init() {
            group = CancellableQueue(underlyingQueue: queue)
        }

        /// Takes each of their locks, in debug builds a trap if it is held by the caller.
        func lookAround() {
            _ = (
                lifetime.count, bag.count, store.count, queue.count, flights.count, semaphore.available,
                group.count
            )
        }

        func run(_ sim: Simulation) async {
            var random = sim.random
            var tasks: [Task<Void, Never>] = []
            for number in 0..<16 {
                let key = Int.random(in: 0..<2, using: &random)
                switch Int.random(in: 0..<16, using: &random) {
                case 0, 1: AsyncTask { await Task.yield() }.bind(to: lifetime)
                case 2: AsyncTask { if number > 3 { throw Oops() } }.bind(to: lifetime).cancel()
                case 3: bag.addTask { await Task.yield() }
                case 4, 5: store.addTask(forKey: key, duplicateKeyBehavior: .wait) { await Task.yield() }
                case 6: store.addTask(forKey: key, duplicateKeyBehavior: .debounce(for: .milliseconds(1))) {}
                case 7: store.addTask(forKey: key, duplicateKeyBehavior: .keepLatest) { await Task.yield() }
                case 8, 9:
                    let task = Task(on: group) { try await pause() }
                    sim.cancelAtAnyPoint(task)
                    tasks.append(Task { _ = await task.result })
                case 10:
                    let task = Task { _ = try? await queue.run { try await pause() } }
                    sim.cancelAtAnyPoint(task)
                    tasks.append(task)
                case 11, 12:
                    let task = Task {
                        _ = try? await flights.value(for: key) {
                            try await pause()
                            return 1
                        }
                    }
                    sim.cancelAtAnyPoint(task)
                    tasks.append(task)
                case 13:
                    let task = Task { _ = try? await semaphore.withPermit { try await pause() } }
                    sim.cancelAtAnyPoint(task)
                    tasks.append(task)
                case 14:
                    let task = Task {
                        _ = try? await retry(attempts: 3, backoff: .fixed(.milliseconds(1))) {
                            throw Oops()
                        }
                    }
                    sim.cancelAtAnyPoint(task)
                    tasks.append(task)
                default:
                    let task = Task {
                        _ = try? await withTimeout(.milliseconds(1)) {
                            try await Task.sleep(for: .milliseconds(key + 1))
                        }
                    }
                    sim.cancelAtAnyPoint(task)
                    tasks.append(task)
                }
                if number == 8 {
                    // In a task, since what happens outside of all is not heard here.
                    tasks.append(
                        Task {
                            await Task.yield()
                            bag.cancel()
                            store.cancelTask(forKey: key)
                            await Task.yield()
                            lifetime.cancelAll()
                            group.cancelTasks()
                            flights.cancelAll()
                        }
                    )
                }
            }
            for task in tasks { await task.value }
            try? await lifetime.drain()
            try? await store.drain()
            try? await bag.registry.drain()
            try? await queue.drain()
            while flights._flights.liveCount > 0 { await Task.yield() }
        }
    }

    private struct Oops: Error {}
}

private func pause() async throws {
    await Task.yield()
    try Task.checkCancellation()
}
