import Benchmark
import TaskControl

/// Registers the costs that a limit on time and a limit on concurrency add to work that meets neither.
func registerPolicies() {
    Benchmark.row("withTimeout") {
        var row = Row(
            primitive: "`withTimeout(.seconds(10)) { }`",
            baseline: "a task group of the work and a sleep",
            turns: await Turns.take(
                operations: Scale.tasks,
                baseline: {
                    await ContinuousClock().measure { for number in 0..<Scale.tasks { _ = await twoChildren(number) } }
                },
                primitive: {
                    await ContinuousClock().measure {
                        for number in 0..<Scale.tasks { _ = try? await withTimeout(.seconds(10)) { number } }
                    }
                }
            )
        )
        row.target = .ratio(atMost: 1.3)
        // The runtime keeps the timer of a cancelled sleep until the sleep would have ended.
        let byHand = await keptBytes { _ = await twoChildren(0) }
        row.baseline += ", which keeps \(byHand.formatted(places: 0)) B until the limit would have passed"
        row.weight = Row.Weight(live: 0, left: await keptBytes { try? await withTimeout(.seconds(10)) {} } - byHand)
        return row
    }
    Benchmark.row("withDetachedTimeout") {
        await detached("`withDetachedTimeout(.seconds(10)) { }`", "two tasks and a stream of the first result") {
            byHand in
            await detachedLimits(byHand)
        }
    }
    Benchmark.row("withDetachedTimeout, main actor") {
        await detached(
            "`withDetachedTimeout(.seconds(10)) { }` on the main actor",
            "two tasks and a stream of the first result, on the main actor"
        ) { @MainActor byHand in
            await detachedLimits(byHand)
        }
    }
    Benchmark.row("AsyncSemaphore.withPermit") {
        let (semaphore, place) = (AsyncSemaphore(value: 4), Place())
        let calls = Scale.tasks * 10
        var row = Row(
            primitive: "`semaphore.withPermit { }`, uncontended",
            baseline: "`await actor.f()`, uncontended",
            turns: await Turns.take(
                operations: calls,
                baseline: { await ContinuousClock().measure { for _ in 0..<calls { await place.nothing() } } },
                primitive: {
                    await ContinuousClock().measure { for _ in 0..<calls { try? await semaphore.withPermit {} } }
                }
            )
        )
        row.target = .nanoseconds(atMost: 60)
        return row
    }
}

private func detached(
    _ primitive: String,
    _ baseline: String,
    _ calls: @escaping @Sendable (_ byHand: Bool) async -> Void
) async -> Row {
    Row(
        primitive: primitive,
        baseline: baseline,
        turns: await Turns.take(
            operations: Scale.tasks,
            baseline: { await ContinuousClock().measure { await calls(true) } },
            primitive: { await ContinuousClock().measure { await calls(false) } }
        )
    )
}

/// Calls an operation that ends at once with a limit that does not wait for it, as often as a row counts.
nonisolated(nonsending) private func detachedLimits(_ byHand: Bool) async {
    for number in 0..<Scale.tasks {
        if byHand {
            _ = await twoTasks { number }
        } else {
            _ = try? await withDetachedTimeout(.seconds(10)) { @concurrent in number }
        }
    }
}

/// Runs an operation with a limit as a public package does: with two unstructured tasks, of which the first that ends writes into
/// a stream.
nonisolated(nonsending) private func twoTasks(_ operation: @escaping @Sendable () async -> Int) async -> Int? {
    let (stream, continuation) = AsyncStream<Int?>.makeStream()
    let work = Task { continuation.yield(await operation()) }
    let limit = Task {
        do { try await Task.sleep(for: .seconds(10)) } catch { return }
        continuation.yield(nil)
    }
    defer {
        limit.cancel()
        work.cancel()
    }
    for await result in stream { return result }
    return nil
}

/// Returns the bytes per call that are allocated while calls are made, and not freed soon afterwards.
@concurrent private func keptBytes(_ call: @Sendable () async -> Void) async -> Double {
    let calls = 10_000
    Heap.start()
    for _ in 0..<calls { await call() }
    return Double(Heap.stop()) / Double(calls)
}

/// Runs an operation with a time limit that is written by hand: two child tasks.
private func twoChildren(_ number: Int) async -> Int? {
    await withTaskGroup(of: Int?.self) { group in
        group.addTask { number }
        group.addTask {
            try? await Task.sleep(for: .seconds(10))
            return nil
        }
        let first = await group.next()
        group.cancelAll()
        return first ?? nil
    }
}

private actor Place {
    private var visits = 0

    func nothing() { visits += 1 }
}
