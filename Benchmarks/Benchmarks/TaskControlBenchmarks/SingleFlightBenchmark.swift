import Benchmark
import TaskControl
import TaskControlTesting

/// Registers the benchmark of work that is shared, compared with a task whose value is awaited.
func registerSingleFlight() {
    Benchmark.row("withSingleFlight, uncontended") {
        var row = Row(
            primitive: "`await withSingleFlight(key:) { }`, uncontended",
            baseline: "`await Task { }.value`",
            turns: await Turns.take(
                operations: Scale.tasks,
                baseline: {
                    await ContinuousClock().measure {
                        for number in 0..<Scale.tasks { _ = await Task { number }.value }
                    }
                },
                primitive: {
                    await ContinuousClock().measure {
                        for number in 0..<Scale.tasks { _ = try? await withSingleFlight(key: "token") { number } }
                    }
                }
            )
        )
        row.target = .ratio(atMost: 1.6)
        return row
    }
    Benchmark.row("SingleFlight, beside a task per key") {
        var row = Row(
            primitive: "`await flights.value(for:) { }`, uncontended, on the pool",
            baseline: "an actor with a task per key, whose callers cannot leave",
            turns: await Turns.take(
                operations: Scale.tasks,
                baseline: { await fetchInTurn(from: TaskPerKey()) },
                primitive: { await fetchInTurn(from: SingleFlight()) }
            )
        )
        row.target = .ratio(atMost: 1)
        return row
    }
    Benchmark.row("SingleFlight, joining") {
        var row = Row(
            primitive: "\(herd.grouped) callers on one flight",
            baseline: "\(herd.grouped) awaiters of one task",
            turns: await Turns.take(
                operations: herd,
                baseline: { await ContinuousClock().measure { await awaitOneTask() } },
                primitive: { await ContinuousClock().measure { await joinOneFlight() } }
            )
        )
        row.target = .ratio(atMost: 1.2)
        return row
    }
    Benchmark.row("SingleFlight, leaving") {
        var row = Row(
            primitive: "leaving a flight of \(herd.grouped)",
            baseline: "leaving a flight of \((herd / 10).grouped)",
            turns: await Turns.take(
                operations: leavers,
                baseline: { await leave(herd / 10) },
                primitive: { await leave(herd) }
            )
        )
        row.target = .growth(atMost: 2)
        return row
    }
}

/// The flights of most packages. A caller that is cancelled waits for the end, the work has the priority of its first caller, and work that waits for
/// its own key never ends.
private actor TaskPerKey {
    private var tasks: [String: Task<Int, any Error>] = [:]

    func value(for key: String, operation: @escaping @Sendable () async throws -> Int) async throws -> Int {
        if let task = tasks[key] { return try await task.value }
        let task = Task { try await operation() }
        tasks[key] = task
        defer { tasks[key] = nil }
        return try await task.value
    }
}

@concurrent private func fetchInTurn(from flights: TaskPerKey) async -> Duration {
    await ContinuousClock().measure {
        for number in 0..<Scale.tasks { _ = try? await flights.value(for: "token") { number } }
    }
}

@concurrent private func fetchInTurn(from flights: SingleFlight<String, Int>) async -> Duration {
    await ContinuousClock().measure {
        for number in 0..<Scale.tasks { _ = try? await flights.value(for: "token") { number } }
    }
}

private let herd = 10_000
private let leavers = 500

/// Lets all callers await one task, which ends when all callers have come and it is in progress.
@concurrent private func awaitOneTask() async {
    let (gate, come, gone) = (Gate(), Countdown(herd), Countdown(herd))
    let shared = Task {
        try? await gate.wait()
        return 42
    }
    for _ in 0..<herd {
        Task {
            come.hit()
            _ = await shared.value
            gone.hit()
        }
    }
    await come.wait()
    try? await gate.waitForWaiters()
    gate.open()
    await gone.wait()
}

private func joinOneFlight() async {
    await fly(herd) { _ in nil }
}

/// Measures the time in which a number of callers leave a flight.
///
/// - Returns: The time in which some of the callers left.
private func leave(_ callers: Int) async -> Duration {
    await fly(callers) { tasks in
        ContinuousClock().measure { for task in tasks.prefix(leavers) { task.cancel() } }
    } ?? .zero
}

/// Puts callers on one flight, and ends it.
///
/// - Parameter act: Called when all have come, and the work is under way.
/// - Returns: The result of the measurement.
@discardableResult
@concurrent private func fly(_ callers: Int, _ act: @Sendable ([Task<Void, Never>]) -> Duration?) async -> Duration? {
    let (flights, gate) = (SingleFlight<Int, Int>(), Gate())
    let (come, gone) = (Countdown(callers), Countdown(callers))
    let tasks = (0..<callers).map { _ in
        Task {
            come.hit()
            _ = try? await flights.value(for: 1) {
                // A caller that comes after the end begins a new flight, and passes.
                try await gate.wait()
                return 42
            }
            gone.hit()
        }
    }
    await come.wait()
    try? await gate.waitForWaiters()
    let time = act(tasks)
    gate.open()
    await gone.wait()
    return time
}
