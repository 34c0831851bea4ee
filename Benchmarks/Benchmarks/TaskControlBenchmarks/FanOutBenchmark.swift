import Benchmark
import TaskControl
import TaskControlFanOut

/// Registers the cost of a bounded fan-out, beside a task group that is written by hand with the same limit.
func registerFanOut() {
    Benchmark.row("concurrentMap, array") {
        await row(
            "`try await numbers.concurrentMap(limit: 8) { … }`",
            { _ = try? await numbers.concurrentMap(limit: limit) { try await fetch($0) } },
            beside: "a task group, at most 8 tasks, an array by position",
            { _ = try? await mapByHand(limit: limit) }
        )
    }
    // The caller of a public package whose limit is the number of cores, and whose caller is an actor.
    Benchmark.row("concurrentMap, main actor") {
        await row(
            "`concurrentMap(limit: 2)` on the main actor",
            { @MainActor in _ = try? await numbers.concurrentMap(limit: 2) { try await fetch($0) } },
            beside: "a task group on the main actor, at most 2 tasks, an array by position",
            { @MainActor in _ = try? await mapByHand(limit: 2) },
            target: nil
        )
    }
    Benchmark.row("concurrentForEach") {
        await row(
            "`try await numbers.concurrentForEach(limit: 8) { … }`",
            { _ = try? await numbers.concurrentForEach(limit: limit) { _ = try await fetch($0) } },
            beside: "a task group, at most 8 tasks",
            { _ = try? await forEachByHand() }
        )
    }
}

private let limit = 8
private let numbers = 0..<Scale.tasks

private func row(
    _ primitive: String,
    _ call: @escaping @Sendable () async -> Void,
    beside baseline: String,
    _ byHand: @escaping @Sendable () async -> Void,
    target: Row.Target? = .ratio(atMost: 1.15)
) async -> Row {
    var row = Row(
        primitive: primitive,
        baseline: baseline,
        turns: await Turns.take(
            operations: numbers.count,
            baseline: { await ContinuousClock().measure { await byHand() } },
            primitive: { await ContinuousClock().measure { await call() } }
        )
    )
    row.target = target
    row.allocations = (
        await Heap.allocations(numbers.count) { await byHand() },
        await Heap.allocations(numbers.count) { await call() }
    )
    return row
}

@inline(never)
private func fetch(_ number: Int) async throws -> Int { number }

nonisolated(nonsending) private func mapByHand(limit: Int) async throws -> [Int] {
    var results = [Int?](repeating: nil, count: numbers.count)
    try await withThrowingTaskGroup(of: (Int, Int).self) { group in
        var running = 0
        for number in numbers {
            if running == limit, let (position, result) = try await group.next() {
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

private func forEachByHand() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        var running = 0
        for number in numbers {
            if running == limit {
                try await group.next()
                running -= 1
            }
            group.addTask { _ = try await fetch(number) }
            running += 1
        }
        try await group.waitForAll()
    }
}
