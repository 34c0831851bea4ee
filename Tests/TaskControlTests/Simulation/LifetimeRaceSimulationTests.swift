import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// The races of the laws, by name, under 10,000 schedules each.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct LifetimeRaceSimulationTests {
    /// Ends some steps after it was cancelled, and has something to put in order until then.
    @Sendable private func lingers() async {
        try? await Task.sleep(for: .milliseconds(5))
        for _ in 0..<3 { await Task.yield() }
    }

    /// Every entry has a generation.
    @Test func aLateFinisherLeavesItsSuccessorAlone() async throws {
        try await race { sim in
            let (bag, store, gate) = (IdentifiableTaskBag<Int>(), TaskStore<Int>(), Gate())
            sim.atAnyPoint {
                bag.cancel(id: 1)
                store.cancelTask(forKey: 1)
            }
            bag.addTask(id: 1) { await lingers() }
            store.addTask(forKey: 1) { await lingers() }
            for _ in 0..<4 { await Task.yield() }
            bag.cancel(id: 1)
            sim.expect(bag.addTask(id: 1) { await gate.waitIgnoringCancellation() }, "the ID is free")
            let task = store.addTask(forKey: 1) { await gate.waitIgnoringCancellation() }
            try await Task.sleep(for: .milliseconds(20))
            // Tasks that the action cancelled are not checked here.
            sim.expect(task.isCancelled || store.taskIsRunning(forKey: 1), "the new task is in the store")
            gate.open()
            try await store.drain()
            while bag.count > 0 { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    /// Every entry has a generation, with no cancellation of the successor.
    @Test func theSuccessorOfATaskThatIsEndingIsKept() async throws {
        try await race { sim in
            let (store, gate) = (TaskStore<Int>(), Gate())
            store.addTask(forKey: 1) { for _ in 0..<3 { await Task.yield() } }
            for _ in 0..<3 { await Task.yield() }
            store.addTask(forKey: 1) { await gate.waitIgnoringCancellation() }
            for _ in 0..<20 {
                await Task.yield()
                sim.expect(store.count >= 1 && store.taskIsRunning(forKey: 1), "the new task is in the store")
            }
            gate.open()
            try await store.drain()
            sim.expect(store.count == 0)
        }
    }

    @MainActor private final class Search {
        let tasks = TaskStore<Int>()
        var shown: [Int] = []

        func type(_ query: Int) {
            tasks.run(forKey: 1, for: self) {
                // Takes no notice of its cancellation.
                for _ in 0..<4 { await Task.yield() }
                return query
            } deliver: { search, found in
                search.shown.append(found)
            }
        }
    }

    /// A result on its way to its owner's actor, and a newer call there.
    @Test func anOldResultNeverFollowsANewOne() async throws {
        try await race { sim in
            let search = Search()
            for query in 1...3 {
                for _ in 0..<query { await Task.yield() }
                await search.type(query)
            }
            try await search.tasks.drain()
            let shown = await search.shown
            sim.expect(shown == shown.sorted() && shown.last == 3, "shown: \(shown)")
        }
    }

    private struct Broken: Error {}

    /// A cancellation and the end of the task: whichever comes first, it is removed once, and an error that it throws after it was
    /// cancelled reaches no handler.
    @Test func cancelAndCompletion() async throws {
        try await race { sim in
            let (lifetime, errors) = (AsyncLifetime(), OrderRecorder<Bool>())
            let task = AsyncTask {
                for _ in 0..<2 { await Task.yield() }
                throw Broken()
            } onError: { _ in
                errors.record(Task.isCancelled)
            }
            task.bind(to: lifetime)
            sim.atAnyPoint { task.cancel() }
            await task.value
            sim.expect(!errors.events.contains(true), "no handler after a cancellation")
            // A caller that awaits it may be resumed before the task has left.
            try await lifetime.drain()
            sim.expect(lifetime.count == 0 && errors.count <= 1)
        }
    }

    /// Closing and binding: what is bound before is cancelled by it, what is bound after never starts.
    @Test func closeAndBind() async throws {
        try await race { sim in
            let (lifetime, started) = (AsyncLifetime(), OrderRecorder<Bool>())
            let closed = OrderRecorder<Bool>()
            sim.atAnyPoint {
                lifetime.close()
                closed.record(true)
            }
            for _ in 0..<4 {
                AsyncTask {
                    started.record(closed.count > 0)
                    try await Task.sleep(for: .seconds(1_000))
                }
                .bind(to: lifetime)
                await Task.yield()
            }
            lifetime.close()
            try await lifetime.drain()
            sim.expect(!started.events.contains(true), "nothing starts after the close")
            sim.expect(lifetime.isEmpty && sim.now < .seconds(1_000), "all was cancelled")
        }
    }

    /// Draining and binding: a drain that returns has seen the end of all that was bound before.
    @Test func drainAndBind() async throws {
        try await race { sim in
            let (lifetime, ended) = (AsyncLifetime(), OrderRecorder<Int>())
            let bound = OrderRecorder<Int>()
            @Sendable func bind(_ number: Int) {
                AsyncTask {
                    await Task.yield()
                    ended.record(number)
                }
                .bind(to: lifetime)
                bound.record(number)
            }
            bind(0)
            async let drained: [Int] = {
                try await lifetime.drain()
                // Tasks that were bound when the last of the others left had ended then, or came after.
                return ended.events
            }()
            async let more: Void = {
                for number in 1..<4 {
                    bind(number)
                    await Task.yield()
                }
            }()
            _ = try await (drained, more)
            sim.expect(try await drained.contains(0), "what was there before the drain has ended")
            try await lifetime.drain()
            sim.expect(Set(ended.events) == Set(bound.events) && lifetime.count == 0)
        }
    }

    /// A drainer that is cancelled at any moment leaves with that error or with success, and the bound tasks continue.
    @Test func drainAndCancel() async throws {
        try await race { sim in
            let (lifetime, ended) = (AsyncLifetime(), OrderRecorder<Bool>())
            AsyncTask {
                for _ in 0..<3 { await Task.yield() }
                ended.record(Task.isCancelled)
            }
            .bind(to: lifetime)
            let drain = Task { try await lifetime.drain() }
            sim.cancelAtAnyPoint(drain)
            switch await drain.result {
            case .success: break
            case .failure(let error): sim.expect(error is CancellationError && drain.isCancelled)
            }
            try await lifetime.drain()
            sim.expect(ended.events == [false])
        }
    }

    /// The end of an owner, at any moment of the work that is done for it.
    @Test func theEndOfAnOwnerAndADelivery() async throws {
        final class Model: Sendable {
            let lifetime = AsyncLifetime()
            let delivered: OrderRecorder<Int>

            init(_ delivered: OrderRecorder<Int>) { self.delivered = delivered }

            func load() {
                lifetime.run(for: self) {
                    for _ in 0..<3 { await Task.yield() }
                    return 1
                } deliver: { model, value in
                    model.delivered.record(value)
                }
            }
        }
        try await race { sim in
            let delivered = OrderRecorder<Int>()
            let owner = Locked<Model?>(Model(delivered))
            owner.withLock { $0 }?.load()
            weak let model = owner.withLock { $0 }
            let gone = OrderRecorder<Int>()
            sim.atAnyPoint {
                // Released outside the lock.
                _ = owner.withLock { owner in
                    defer { owner = nil }
                    return owner
                }
                gone.record(delivered.count)
            }
            for _ in 0..<40 { await Task.yield() }
            sim.expect(delivered.count <= 1)
            if gone.count > 0 { sim.expect(model == nil, "nobody keeps the owner") }
            _ = owner.withLock { owner in
                defer { owner = nil }
                return owner
            }
        }
    }

    /// Adopted and cancelled: the ID is free, and the end of the adopted task is seen.
    @Test func adoptAndCancel() async throws {
        try await race { sim in
            let bag = IdentifiableTaskBag<Int>()
            let task = Task { for _ in 0..<2 { await Task.yield() } }
            sim.cancelAtAnyPoint(task)
            bag.add(task, id: 1)
            await task.value
            // Time moves when nothing else can.
            try await Task.sleep(for: .milliseconds(1))
            sim.expect(!bag.contains(1) && bag.count == 0)
            sim.expect(bag.addTask(id: 1) {})
        }
    }

    /// Binding and the end of the task: whichever comes first, the books are left.
    @Test func bindAndCompletion() async throws {
        try await race { sim in
            let (one, other) = (AsyncLifetime(), AsyncLifetime())
            let task = AsyncTask { for _ in 0..<2 { await Task.yield() } }
            sim.atAnyPoint { task.bind(to: one) }
            sim.atAnyPoint { task.bind(to: other) }
            sim.atAnyPoint { task.detached() }
            await task.value
            // Whatever happens at a moment of the seed's has happened when time moves.
            try await Task.sleep(for: .milliseconds(1))
            try await one.drain()
            try await other.drain()
            sim.expect(one.isEmpty && other.isEmpty)
        }
    }

    /// Cancelled is not finished. A drain waits for the end of a task that continues although it was cancelled.
    @Test func drainAndCancelAll() async throws {
        try await race { sim in
            let (lifetime, ended) = (AsyncLifetime(), OrderRecorder<Int>())
            let begun = OrderRecorder<Int>()
            for number in 0..<3 {
                AsyncTask {
                    begun.record(number)
                    for _ in 0...(2 * number) { await Task.yield() }
                    ended.record(number)
                }
                .bind(to: lifetime)
            }
            sim.atAnyPoint { lifetime.cancelAll() }
            for _ in 0..<2 { await Task.yield() }
            try await lifetime.drain()
            sim.expect(ended.count == begun.count, "\(begun.events) have begun, \(ended.events) ended")
        }
    }

    /// A drainer that is cancelled leaves, whatever it waits for.
    @Test func aCancelledDrainDoesNotWaitForTheEnd() async throws {
        try await race { sim in
            let (lifetime, gate) = (AsyncLifetime(), Gate())
            let task = AsyncTask { await gate.waitIgnoringCancellation() }.bind(to: lifetime)
            let drain = Task { try await lifetime.drain() }
            sim.cancelAtAnyPoint(drain)
            // Nothing ends before it has left.
            switch await drain.result {
            case .success: sim.expect(false, "it waits for one that goes on")
            case .failure(let error): sim.expect(error is CancellationError)
            }
            gate.open()
            await task.value
        }
    }

    /// Closing and binding, with the tasks in hand: it is the lifetime that cancels them, not their `deinit`.
    @Test func closeAndBindOfTasksInHand() async throws {
        try await race { sim in
            let lifetime = AsyncLifetime()
            sim.atAnyPoint { lifetime.close() }
            var tasks: [AsyncTask] = []
            for _ in 0..<4 {
                tasks.append(AsyncTask { try await Task.sleep(for: .seconds(1_000)) }.bind(to: lifetime))
                await Task.yield()
            }
            lifetime.close()
            sim.expect(
                tasks.allSatisfy(\.isCancelled) && lifetime.count == 0,
                "all are cancelled, those that were refused too"
            )
            for task in tasks { await task.value }
            sim.expect(sim.now < .seconds(1_000))
        }
    }

    /// An error whose task is cancelled on the way to the handler does not reach the handler.
    @Test func cancelAndAHandlerOnAnActor() async throws {
        try await race { sim in
            let seen = OrderRecorder<Bool>()
            let task = AsyncTask {
                await Task.yield()
                throw Broken()
            } onError: { @MainActor _ in
                seen.record(Task.isCancelled)
            }
            sim.atAnyPoint { task.cancel() }
            await task.value
            sim.expect(!seen.events.contains(true), "no handler after a cancellation")
        }
    }

    /// Cancelled is not finished: a task that is cancelled no longer counts, whether before it was bound or after.
    @Test func aCancelledTaskDoesNotCount() async throws {
        try await race { sim in
            let lifetime = AsyncLifetime()
            let task = AsyncTask { await lingers() }
            sim.atAnyPoint {
                task.cancel()
                sim.expect(lifetime.count == 0, "cancelled, and counts")
            }
            await Task.yield()
            await Task.yield()
            task.bind(to: lifetime)
            sim.expect(!task.isCancelled || lifetime.count == 0, "cancelled before, and counts")
            try await lifetime.drain()
        }
    }
}
