import TaskControlTesting

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

// Prints the user time of one seed of each program, in microseconds, and its number of steps. Uses only what old versions have, too.

typealias Body = @Sendable (Simulation) async throws -> Void

func tasks(_ count: Int, _ work: @escaping @Sendable (Int) async -> Void) -> Body {
    { _ in
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<count { group.addTask { await work(index) } }
        }
    }
}

func yields(_ count: Int) -> Body {
    tasks(count) { _ in for _ in 0..<10 { await Task.yield() } }
}

actor Counter {
    private var count = 0

    func add() { count += 1 }
}

let actorCalls: Body = { simulation in
    let counter = Counter()
    try await tasks(10) { _ in for _ in 0..<10 { await counter.add() } }(simulation)
}

let sleepers = tasks(1_000) { try? await Task.sleep(for: .milliseconds($0 * 7_919 % 1_000)) }

/// Without a strategy, the default of the version.
let programs: [(name: String, strategy: SimulationStrategy?, seeds: UInt64, body: Body)] = [
    ("empty", nil, 2_000, { _ in }),
    ("2 tasks x 10 yields", nil, 500, yields(2)),
    ("10 tasks x 10 yields", nil, 200, yields(10)),
    ("100 tasks x 10 yields", nil, 20, yields(100)),
    ("1000 tasks x 10 yields", nil, 5, yields(1_000)),
    ("10 tasks x 10 actor calls", nil, 200, actorCalls),
    ("1000 sleepers", nil, 10, sleepers),
    ("10000 tasks", nil, 5, tasks(10_000) { _ in }),
    ("1000 x 10 yields, PCT", .pct(depth: 3), 5, yields(1_000)),
    ("empty, random", .random, 2_000, { _ in }),
    ("10 x 10 yields, random", .random, 200, yields(10)),
    ("1000 x 10 yields, random", .random, 5, yields(1_000)),
    ("10 x 10 actor calls, random", .random, 200, actorCalls),
    ("10000 tasks, random", .random, 5, tasks(10_000) { _ in }),
]

func userTime() -> Double {
    var usage = rusage()
    getrusage(0, &usage)
    return Double(usage.ru_utime.tv_sec) * 1e6 + Double(usage.ru_utime.tv_usec)
}

for (name, strategy, seeds, body) in programs {
    func run(_ seed: UInt64) throws -> Int {
        guard let strategy else { return try simulate(seed: seed, maxSteps: 1_000_000, body).steps }
        return try simulate(seed: seed, strategy: strategy, maxSteps: 1_000_000, body).steps
    }
    var (least, steps) = (Double.infinity, 0)
    for _ in 0..<2 {
        let start = userTime()
        for seed in 0..<seeds { steps = try run(seed) }
        least = min(least, (userTime() - start) / Double(seeds))
    }
    print("\(name)\t\(least)\t\(steps)")
}
