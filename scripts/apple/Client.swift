// Calls each function whose body lives in its client: `@export(implementation)` compiles it nowhere else. `emission.py` compares the names.

import TaskControl
import TaskControlCaching
import TaskControlFanOut
import TaskControlResilience

struct Key: Hashable { var number = 0 }

final class Owner: Sendable {}

actor Account {}

/// A handle that is cancelled with its caller.
struct Handle: Cancellable, Sendable {
    func cancel() {}
}

func value() async throws -> Int { 1 }

func numbers() -> AsyncStream<Int> { AsyncStream { $0.finish() } }

func callLifetimes(_ lifetime: AsyncLifetime, _ store: TaskStore<Key>, _ bag: IdentifiableTaskBag<Key>) {
    lifetime.run(for: Owner(), work: { try await value() }, deliver: { _, _ in })
    store.addTask(forKey: Key()) { _ = try await value() }
    _ = bag.addTask(id: Key()) {}
}

func callQueues(_ account: Account) async throws {
    let (fifo, concurrent, queue) = (FIFOQueue(), ConcurrentQueue(maxConcurrentTasks: 2), ActorQueue<Account>())
    let (onAccount, onMain) = (CancellableQueue(underlyingQueue: queue), ActorQueue<MainActor>())
    queue.adoptExecutionContext(of: account)
    _ = try await fifo.run(value) + concurrent.run(value) + KeyedFIFOQueue<Key>().run(forKey: Key(), value)
    fifo.addTask { 1 }
    fifo.addTask { try await value() }
    onAccount.addTask { _ in 1 }
    onAccount.addTask { _ in try await value() }
    onMain.addTask { 1 }
    onMain.addTask { try await value() }
    Task(on: fifo) { 1 }
    Task(on: fifo) { try await value() }
    Task(on: fifo, isolatedTo: account) { _ in 1 }
    Task(on: fifo, isolatedTo: account) { _ in try await value() }
    Task(on: queue) { _ in 1 }
    Task(on: queue) { _ in try await value() }
    Task(on: onMain) { 1 }
    Task(on: onMain) { try await value() }
    Task(isolatedTo: account) { _ in 1 }
    _ = Task(isolatedTo: account) { _ in try await value() }
}

func callSharing(_ flight: SingleFlight<Key, Int>, _ cache: CachedFlight<Key, Int>) async throws {
    _ = try await flight.value(for: Key()) { 1 }
    _ = try await withSingleFlight(key: Key()) { 1 }
    _ = try await cache.value(for: Key()) + cache.fresh(for: Key())
    cache.update(1, for: Key())
    cache.invalidate(Key())
    _ = cache.peek(Key())
    _ = CachedFlight<Key, Int>(capacity: 1, policy: CachePolicy(timeToLive: .seconds(1))) { _ in 1 }
}

func callPolicies(_ semaphore: AsyncSemaphore, _ policy: ResiliencePolicy, _ budget: RetryBudget) async throws {
    _ = try await retry(attempts: 2, operation: value)
    _ = try await retry(attempts: 2) { attempt in attempt }
    _ = try await retry(attempts: 2) {
        try await value()
    } shouldRetry: { _ in
        true
    }
    _ = try await retry(.default, operation: value)
    _ = try await retry(.default) { attempt in attempt }
    _ = try await withTimeout(.seconds(1), operation: value)
    _ = try await withDetachedTimeout(.seconds(1)) { try await value() }
    _ = try await withDeadline(in: .seconds(1), operation: value)
    _ = try await semaphore.withPermit(value) + semaphore.withPermits(2, value)
    _ = try await withPolicy(policy) { try await value() }
    _ = try await withHedging(after: .fixed(.seconds(1)), budget: budget) { try await value() }
    _ = try await withHedging(after: .fixed(.seconds(1)), budget: budget) { attempt in attempt }
}

func callBridges() async throws {
    _ = try await withCancellableContinuation(of: Int.self) { continuation in
        continuation.resume(returning: 1)
        continuation.resume(throwing: CancellationError())
        continuation.resume(with: Result<Int, any Error>.success(1))
        return {}
    }
    try await withCancellableContinuation(of: Void.self) { continuation in
        continuation.resume()
        return Handle()
    }
}

func callPromises(_ replies: PendingReplies<Key, Int>, _ promise: AsyncPromise<Int>) async throws {
    let reply = try replies.expect(Key())
    replies.resume(Key(), returning: 1)
    replies.resume(Key(), throwing: CancellationError())
    replies.resume(Key(), with: Result<Int, any Error>.success(1))
    promise.succeed(1)
    promise.fail(CancellationError())
    promise.complete(with: Result<Int, any Error>.success(1))
    _ = promise.result
    _ = try await promise.value + reply.value
    promise.reset()
    AsyncPromise<Void>().succeed()
}

func callFanOut() async throws {
    _ = try await [1].concurrentMap(limit: 2) { try await value() + $0 }
    try await [1].concurrentMap(limit: 2) {
        $0
    } forEach: { _ in
    }
    try await [1].concurrentForEach(limit: 2) { _ in _ = try await value() }
    try await numbers().concurrentMap(limit: 2) {
        $0
    } forEach: { _ in
    }
    try await numbers().concurrentForEach(limit: 2) { _ in }
    var iterator = numbers().concurrentMap(limit: 2) { $0 }.makeAsyncIterator()
    _ = try await iterator.next()
}
