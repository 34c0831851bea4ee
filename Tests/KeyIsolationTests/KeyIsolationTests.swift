import TaskControl
import TaskControlCaching
import TaskControlSnapshot
import TaskControlTesting
import TaskControlTrace
import TestSupport
import Testing

/// A key that needs no object, whose code runs on the main actor only, as that of each type in a project with default
/// isolation. All hashes are equal, so each search compares keys.
@MainActor private struct SmallKey: Hashable, CustomStringConvertible {
    let number: Int

    static func == (one: Self, other: Self) -> Bool {
        MainActor.preconditionIsolated("a comparison")
        return one.number == other.number
    }

    func hash(into hasher: inout Hasher) { MainActor.preconditionIsolated("a hash") }

    var description: String {
        MainActor.preconditionIsolated("a description")
        return "key \(number)"
    }
}

/// A key that is kept in an object of the library.
@MainActor private struct LargeKey: Hashable, CustomStringConvertible {
    let key: SmallKey
    let name: String

    init(number: Int) { (key, name) = (SmallKey(number: number), "a rather long name of key \(number)") }

    var description: String { key.description }
}

@MainActor private final class ObjectKey: Hashable, CustomStringConvertible {
    let key: SmallKey

    init(number: Int) { key = SmallKey(number: number) }

    static func == (one: ObjectKey, other: ObjectKey) -> Bool { one.key == other.key }

    func hash(into hasher: inout Hasher) { key.hash(into: &hasher) }

    var description: String { key.description }
}

@MainActor @Suite(.timeLimit(.minutes(5)))
struct KeyIsolationTests {
    @Test func theCodeOfAKeyRunsOnItsActorOnly() async throws {
        for _ in 0..<10 { try await playAll() }
    }

    @Test func theCodeOfAKeyRunsOnItsActorOnlyWhileEventsAreObserved() async throws {
        let (tracker, recorder) = (TaskTracker(), TraceRecorder())
        let observations = [TaskDiagnostics.observe(tracker), TaskDiagnostics.observe(recorder)]
        for _ in 0..<5 {
            try await playAll()
            await read(tracker, recorder)
        }
        for observation in observations { observation.end() }
    }

    /// The text of a key that was added before there is an observer is made without its code.
    @Test func theCodeOfAKeyRunsOnItsActorOnlyIfTheObserverComesLater() async throws {
        let store = TaskStore<SmallKey>()
        let gate = Gate()
        store.addTask(forKey: SmallKey(number: 1)) { try? await gate.wait() }
        let small = Task { try await withSingleFlight(key: SmallKey(number: 9)) { try await gate.wait() } }
        let large = Task { try await withSingleFlight(key: LargeKey(number: 9)) { try await gate.wait() } }
        try await gate.waitForWaiters(count: 3)
        let (tracker, recorder) = (TaskTracker(), TraceRecorder())
        let observations = [TaskDiagnostics.observe(tracker), TaskDiagnostics.observe(recorder)]
        store.addTask(forKey: SmallKey(number: 1), duplicateKeyBehavior: .preferPrevious) {}
        gate.open()
        _ = try await (small.value, large.value)
        await end(store)
        await read(tracker, recorder)
        for observation in observations { observation.end() }
    }

    #if os(Linux)
    @Test(.tags(.schedules))
    func theCodeOfAKeyRunsOnItsActorOnlyInEachOrder() throws {
        try simulate(seeds: 0..<UInt64(fullSize(300, inDebug: 20))) { _ in try await KeyIsolationTests().playAll() }
    }
    #endif

    func playAll() async throws {
        try await play { SmallKey(number: $0) }
        try await play { LargeKey(number: $0) }
        try await play { ObjectKey(number: $0) }
        let small = CachedFlight<SmallKey, Int>(capacity: 2, policy: policy) { try await load($0.number) }
        try await play(small) { SmallKey(number: $0) }
        let large = CachedFlight<LargeKey, Int>(capacity: 2, policy: policy) { try await load($0.key.number) }
        try await play(large) { LargeKey(number: $0) }
        let objects = CachedFlight<ObjectKey, Int>(capacity: 2, policy: policy) { try await load($0.key.number) }
        try await play(objects) { ObjectKey(number: $0) }
    }

    private func play<Key: Hashable>(_ key: @escaping @MainActor (Int) -> sending Key) async throws {
        try await playStores(key)
        await playBag(key)
        await playFlights(key)
        try await playReplies(key)
        await playTurns(key)
    }

    private func playStores<Key: Hashable>(_ key: @escaping @MainActor (Int) -> sending Key) async throws {
        let behaviors: [TaskStoreDuplicateKeyBehavior] = [
            .cancelPrevious(wait: false), .cancelPrevious(wait: true), .wait, .keepLatest, .runConcurrently,
            .preferPrevious, .debounce(for: .microseconds(1)), .throttle(for: .microseconds(1)),
        ]
        for limit in [nil, 2] {
            let store = TaskStore<Key>(maxConcurrentTasks: limit)
            let gate = Gate()
            for behavior in behaviors {
                for number in 0..<3 {
                    store.addTask(forKey: key(number), duplicateKeyBehavior: behavior) { await elsewhere() }
                }
            }
            for number in 3..<6 { store.addTask(forKey: key(number)) { try? await gate.wait() } }
            _ = store.taskIsRunning(forKey: key(0)) && store.taskIsWaiting(forKey: key(1))
            store.cancelTask(forKey: key(3))
            store.cancelAll { $0 == key(4) }
            _ = store.runningKeys
            let waiting = Task(priority: .background) { await elsewhere() }
            await Task(priority: .high) { await waiting.value }.value
            gate.open()
            for number in 0..<6 { try await store.drain(forKey: key(number)) }
            store.addTask(forKey: key(1)) { try? await Gate().wait() }
            await end(store)
        }
        let released = TaskStore<Key>()
        released.addTask(forKey: key(1)) { try? await Gate().wait() }
        await release(released)
    }

    private func playBag<Key: Hashable>(_ key: @escaping @MainActor (Int) -> sending Key) async {
        let bag = IdentifiableTaskBag<Key>()
        for number in [0, 1, 0] { bag.addTask(id: key(number)) { try? await Gate().wait() } }
        let contains = bag.contains(key(1))
        #expect(contains)
        bag.cancel(id: key(1))
        let addsTwice = bag.add(Task {}, id: key(0))
        let adds = bag.add(Task { try? await Gate().wait() }, id: key(2))
        #expect(adds && !addsTwice)
        bag.addDetachedTask(id: key(3)) {}
        await end(bag)
    }

    private func playFlights<Key: Hashable>(_ key: @escaping @MainActor (Int) -> sending Key) async {
        let flights = SingleFlight<Key, Int>()
        let (asked, shared) = (Gate(), Gate())
        let callers = [
            Task {
                try? await flights.value(for: key(0)) {
                    try await asked.wait(); return 1
                }
            },
            Task { try? await flights.value(for: key(0)) { 2 } },
            Task {
                try? await flights.value(for: key(1)) {
                    try await asked.wait(); return 3
                }
            },
            Task {
                try? await withSingleFlight(key: key(0)) {
                    try await shared.wait(); return 4
                }
            },
            Task { try? await withSingleFlight(key: key(0)) { 5 } },
            Task {
                try? await withSingleFlight(key: key(1)) {
                    try await Gate().wait(); return 6
                }
            },
        ]
        await elsewhere()
        callers[5].cancel()
        flights.forget(key(1))
        asked.open()
        shared.open()
        for caller in callers { _ = await caller.value }
        await end(flights)
    }

    private func playReplies<Key: Hashable>(_ key: @escaping @MainActor (Int) -> sending Key) async throws {
        let replies = PendingReplies<Key, Int>()
        let callers = try (0..<5).map { number in
            let reply = try replies.expect(key(number))
            return Task { try? await reply.value }
        }
        let again = try replies.expect(key(1))
        await elsewhere()
        replies.resume(key(0), returning: 1)
        replies.resume(key(2), throwing: Failure())
        replies.resume(key(9), returning: 2)
        callers[3].cancel()
        replies.close()
        for caller in callers { _ = await caller.value }
        withExtendedLifetime(again) {}
    }

    private func playTurns<Key: Hashable>(_ key: @escaping @MainActor (Int) -> sending Key) async {
        let (queue, gate) = (KeyedFIFOQueue<Key>(), Gate())
        let callers = [0, 0, 1, 2, 2].map { number in
            Task { try? await queue.run(forKey: key(number)) { try await gate.wait() } }
        }
        await elsewhere()
        callers[1].cancel()
        callers[3].cancel()
        gate.open()
        for caller in callers { _ = await caller.value }
    }

    private let policy = CachePolicy(
        timeToLive: .nanoseconds(1),
        staleWhileRevalidate: .seconds(1_000),
        staleIfError: .seconds(1_000),
        patience: .nanoseconds(1)
    )

    private func load(_ number: Int) async throws -> Int {
        await elsewhere()
        if number == 3 { throw Failure() }
        return number
    }

    private struct Failure: Error {}

    private func play<Key: Hashable>(
        _ cache: CachedFlight<Key, Int>,
        _ key: @escaping @MainActor (Int) -> sending Key
    ) async throws {
        for number in [0, 1, 2, 0, 0, 3, 1] { _ = try? await cache.value(for: key(number)) }
        let readers = [
            Task { try? await cache.value(for: key(0)) }, Task { try? await cache.value(for: key(1)) },
            Task { try? await cache.fresh(for: key(0)) },
        ]
        await elsewhere()
        cache.update(5, for: key(1))
        cache.invalidate(key(2))
        _ = cache.peek(key(0))
        let values = cache.values(for: key(1))
        for try await value in values { #expect(value == 1 || value == 5) }
        for reader in readers { _ = await reader.value }
        cache.removeAll(olderThan: .zero)
        cache.removeAll()
        await end(cache)
    }
}

@concurrent private func elsewhere() async {}

/// Ends all tasks of an owner in another isolation, where the type of its keys has no name.
@concurrent private func end(_ owner: any TaskOwner) async {
    owner.cancelAll()
    try? await owner.drain()
    owner.close()
    _ = owner.count
    await owner.shutdown(grace: .zero)
}

/// Releases the last reference to an owner in another isolation.
@concurrent private func release(_ owner: sending any TaskOwner) async {}

@concurrent private func read(_ tracker: TaskTracker, _ recorder: TraceRecorder) async {
    #expect(!recorder.text(as: .perfetto).isEmpty)
    #expect(!tracker.snapshot().description.isEmpty)
}
