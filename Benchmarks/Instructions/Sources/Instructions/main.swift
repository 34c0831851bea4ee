// Runs one operation of the library a given number of times, for scripts/benchmark instructions, which counts the instructions.
import TaskControl
import TaskControlResilience

#if canImport(TaskControlCaching)
import TaskControlCaching
#endif
#if canImport(TaskControlFanOut)
import TaskControlFanOut
#endif

@MainActor final class Model {
    var count = 0
    let lifetime = AsyncLifetime()
}

actor Counter {
    var count = 0

    func add() { count += 1 }

    /// Sends tasks to this actor, which is busy with the call until it returns: so each task finds the actor as the last one did.
    func send(_ count: Int, on queue: ActorQueue<Counter>) -> [Task<Void, Never>] {
        (0..<count).map { _ in Task(on: queue) { counter in counter.count += 1 } }
    }
}

/// The handle of a callback API that answers at once.
struct Handle: Cancellable {
    func cancel() {}
}

/// Calls `body` once per hundred operations.
@MainActor func inHundreds(_ count: Int, _ body: () async throws -> Void) async rethrows {
    for _ in 0..<count / 100 { try await body() }
}

nonisolated func fetch(_ number: Int) async throws -> Int { number }

/// Returns the results of an operation for each number, from a task group with at most 8 tasks.
nonisolated func mapByHand(_ count: Int) async throws -> [Int] {
    var results = [Int?](repeating: nil, count: count)
    try await withThrowingTaskGroup(of: (Int, Int).self) { group in
        var running = 0
        for number in 0..<count {
            if running == 8, let (position, result) = try await group.next() {
                results[position] = result
                running -= 1
            }
            group.addTask { (number, try await fetch(number)) }
            running += 1
        }
        for try await (position, result) in group { results[position] = result }
    }
    return results.map { $0! }
}

// Outside the main actor, as the task group by hand.

nonisolated func mapByFanOut(_ count: Int) async throws -> [Int] {
    try await (0..<count).concurrentMap(limit: 8) { try await fetch($0) }
}

nonisolated func forEachByFanOut(_ count: Int) async throws {
    try await (0..<count).concurrentForEach(limit: 8) { _ = try await fetch($0) }
}

nonisolated func runTurns(_ count: Int) async throws {
    let queue = FIFOQueue()
    for _ in 0..<count { try await queue.run {} }
}

nonisolated func takePermits(_ count: Int) async throws {
    let semaphore = AsyncSemaphore(value: 1)
    for _ in 0..<count { try await semaphore.withPermit {} }
}

/// Sends hundreds of tasks behind a turn that is held until all of them are there.
nonisolated func sendInHundreds(_ count: Int, _ send: @Sendable (FIFOQueue) -> Task<Void, Never>) async throws {
    let queue = FIFOQueue()
    for _ in 0..<count / 100 {
        let last = try await queue.run {
            (0..<100).map { _ in send(queue) }.last
        }
        await last?.value
    }
}

@MainActor func flyByHand(_ count: Int, _ promises: LoneFlight.Promises) async {
    for _ in 0..<count { _ = await LoneFlight.run(promises) }
}

@concurrent func awaitTasks(_ count: Int) async {
    for number in 0..<count { _ = await Task { number }.value }
}

@concurrent func fly(_ count: Int) async throws {
    let flights = SingleFlight<Int, Int>()
    for _ in 0..<count { _ = try await flights.value(for: 1) { 1 } }
}

/// With all promises, of which the mark is the last.
@concurrent func flyByHandElsewhere(_ count: Int) async {
    for _ in 0..<count { _ = await LoneFlight.run(.marked) }
}

@concurrent func flyWithTaskPerKey(_ count: Int) async throws {
    let flights = TaskPerKey()
    for _ in 0..<count { _ = try await flights.value(for: 1) { 1 } }
}

let rows: [(name: String, run: @MainActor (Int) async throws -> Void)] = [
    (
        "Task { }, awaited by hundreds",
        { count in
            await inHundreds(count) {
                let tasks = (0..<100).map { _ in Task {} }
                for task in tasks { await task.value }
            }
        }
    ),
    ("await Task { }.value", { count in for _ in 0..<count { await Task {}.value } }),
    (
        "AsyncTask { }.bind(to:)",
        { count in
            let lifetime = AsyncLifetime()
            try await inHundreds(count) {
                for _ in 0..<100 { AsyncTask {}.bind(to: lifetime) }
                try await lifetime.drain()
            }
        }
    ),
    (
        "TaskBag.addTask",
        { count in
            let bag = TaskBag()
            try await inHundreds(count) {
                for _ in 0..<100 { bag.addTask {} }
                try await bag.drain()
            }
        }
    ),
    (
        "IdentifiableTaskBag.addTask",
        { count in
            let bag = IdentifiableTaskBag<Int>()
            try await inHundreds(count) {
                for id in 0..<100 { bag.addTask(id: id) {} }
                try await bag.drain()
            }
        }
    ),
    (
        "TaskStore.addTask",
        { count in
            let store = TaskStore<Int>()
            try await inHundreds(count) {
                for key in 0..<100 { store.addTask(forKey: key) {} }
                try await store.drain()
            }
        }
    ),
    (
        "AsyncLifetime.run(for:)",
        { count in
            let model = Model()
            try await inHundreds(count) {
                for _ in 0..<100 {
                    model.lifetime.run(for: model) {
                        1
                    } deliver: {
                        $0.count += $1
                    }
                }
                try await model.lifetime.drain()
            }
        }
    ),
    (
        "Task(on: FIFOQueue)",
        { count in
            let queue = FIFOQueue()
            await inHundreds(count) {
                let tasks = (0..<100).map { _ in Task(on: queue) {} }
                for task in tasks { await task.value }
            }
        }
    ),
    (
        "Task(on: FIFOQueue), throwing",
        { count in
            let queue = FIFOQueue()
            try await inHundreds(count) {
                let tasks = (0..<100).map { _ in Task(on: queue) { try Task.checkCancellation() } }
                for task in tasks { try await task.value }
            }
        }
    ),
    (
        "Task(on: ActorQueue)",
        { count in
            let (counter, queue) = (Counter(), ActorQueue<Counter>())
            queue.adoptExecutionContext(of: counter)
            await inHundreds(count) {
                for task in await counter.send(100, on: queue) { await task.value }
            }
        }
    ),
    (
        "FIFOQueue.run, free",
        { count in
            let queue = FIFOQueue()
            for _ in 0..<count { try await queue.run {} }
        }
    ),
    (
        "withPermit, free",
        { count in
            let semaphore = AsyncSemaphore(value: 1)
            for _ in 0..<count { try await semaphore.withPermit {} }
        }
    ),
    ("FIFOQueue.run, free, nonisolated", { count in try await runTurns(count) }),
    ("withPermit, free, nonisolated", { count in try await takePermits(count) }),
    (
        "Task { }, nonisolated, in hundreds",
        { count in try await sendInHundreds(count) { _ in Task { @concurrent in } } }
    ),
    (
        "Task(on: FIFOQueue), waiting hundreds",
        { count in try await sendInHundreds(count) { queue in Task(on: queue) { @concurrent in } } }
    ),
    ("a held first job, by hand", { count in await startHeldTurns(count) { $0.start($1) } }),
    ("a held first job with a mark, by hand", { count in await startHeldTurns(count) { $0.startMarked($1) } }),
    (
        "withPermit, contended",
        { count in
            let semaphore = AsyncSemaphore(value: 1)
            try await inHundreds(count) {
                try await withThrowingTaskGroup { group in
                    for _ in 0..<100 { group.addTask { try await semaphore.withPermit { await Task.yield() } } }
                    try await group.waitForAll()
                }
            }
        }
    ),
    (
        "SingleFlight.value, alone",
        { count in
            let flights = SingleFlight<Int, Int>()
            for _ in 0..<count { _ = try await flights.value(for: 1) { 1 } }
        }
    ),
    ("a flight by hand: a task of its own", { count in await flyByHand(count, .outliving) }),
    ("a flight by hand: and cancellation", { count in await flyByHand(count, .cancellable) }),
    ("a flight by hand: and priority", { count in await flyByHand(count, .escalating) }),
    ("a flight by hand: and a mark", { count in await flyByHand(count, .marked) }),
    ("await Task { }.value, nonisolated", { count in await awaitTasks(count) }),
    ("SingleFlight.value, nonisolated", { count in try await fly(count) }),
    ("a flight by hand, nonisolated", { count in await flyByHandElsewhere(count) }),
    ("a task per key, nonisolated", { count in try await flyWithTaskPerKey(count) }),
    (
        "SingleFlight.value, a hundred callers",
        { count in
            let flights = SingleFlight<Int, Int>()
            try await inHundreds(count) {
                try await withThrowingTaskGroup { group in
                    for _ in 0..<100 {
                        group.addTask {
                            _ = try await flights.value(for: 1) {
                                await Task.yield()
                                return 1
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    ),
    (
        "CachedFlight.value, hit",
        { count in
            let cache = CachedFlight<Int, Int>(
                capacity: 100,
                policy: CachePolicy(timeToLive: .seconds(1_000))
            ) { $0 }
            for number in 0..<count { _ = try await cache.value(for: number % 10) }
        }
    ),
    ("a task group by hand, limit 8", { count in _ = try await mapByHand(count) }),
    ("concurrentMap, limit 8", { count in _ = try await mapByFanOut(count) }),
    ("concurrentForEach, limit 8", { count in try await forEachByFanOut(count) }),
    (
        "retry, first attempt succeeds",
        { count in for _ in 0..<count { try await retry(attempts: 3, backoff: .none) {} } }
    ),
    (
        "retry with the default delays",
        { count in for _ in 0..<count { try await retry(attempts: 3) {} } }
    ),
    (
        "withCancellableContinuation",
        { count in
            for _ in 0..<count {
                _ = try await withCancellableContinuation { (continuation: CancellableContinuation<Int>) in
                    continuation.resume(returning: 1)
                    return Handle()
                }
            }
        }
    ),
    (
        "withDeadline, inherited",
        { count in
            let late = Deadline(in: .seconds(100))
            try await withDeadline(in: .seconds(60)) {
                for _ in 0..<count { try await withDeadline(late) {} }
            }
        }
    ),
    (
        "withPolicy, four parts",
        { count in
            let policy = ResiliencePolicy(
                breaker: CircuitBreaker(),
                retry: RetryPolicy(),
                permits: AsyncSemaphore(value: 100),
                rate: RateLimiter(rate: 1_000_000_000, burst: 1_000_000_000)
            )
            for _ in 0..<count { try await withPolicy(policy) {} }
        }
    ),
    (
        "withTimeout",
        { count in for _ in 0..<count { try await withTimeout(.seconds(60)) {} } }
    ),
    (
        "withDetachedTimeout",
        { count in for _ in 0..<count { try await withDetachedTimeout(.seconds(60)) {} } }
    ),
]

let arguments = CommandLine.arguments
if arguments.count < 3 {
    for row in rows { print(row.name) }
} else if let row = rows.first(where: { $0.name == arguments[1] }), let count = Int(arguments[2]) {
    try await row.run(count)
} else {
    fatalError("usage: Instructions [NAME COUNT]")
}
