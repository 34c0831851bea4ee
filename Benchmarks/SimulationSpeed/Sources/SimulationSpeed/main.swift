import TaskControlTesting

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

// Prints the processor time of one seed of each program, in microseconds, its number of steps, and the peak memory of the process in kilobytes. With
// the name of a program, runs that one alone. Uses only what old versions have, too.

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

struct Failure: Error {}

/// The body that leaves ten tasks, which hold memory and wait forever.
let failing: Body = { _ in
    for _ in 0..<10 {
        Task {
            let held = [UInt8](repeating: 1, count: 100_000)
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            withExtendedLifetime(held) {}
        }
    }
    await Task.yield()
    throw Failure()
}

/// The programs to measure. Without a strategy, a program runs with the default strategy of the version.
let programs: [(name: String, strategy: Simulation.Strategy?, seeds: UInt64, body: Body)] = [
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
    ("10 tasks stay, each with 100 kB", nil, 50, failing),
]

func usage() -> rusage {
    var usage = rusage()
    getrusage(0, &usage)
    return usage
}

func processorTime() -> Double {
    let usage = usage()
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) * 1e6 + Double($1.tv_usec) }
}

#if os(Linux)
/// Measures the least additional cost of a step if each task ran on a thread of its own, and only the thread that holds the baton ran: the hand-over of
/// a baton between two threads, pinned to one core by the script. A step takes one of them if the next task is another one.
func measureBaton() {
    let batons = UnsafeMutablePointer<sem_t>.allocate(capacity: 2)
    for index in 0..<2 { sem_init(batons + index, 0, 0) }
    nonisolated(unsafe) let shared = batons
    let rounds = 100_000
    var thread = pthread_t()
    let start = processorTime()
    pthread_create(
        &thread,
        nil,
        { batons in
            let batons = batons!.assumingMemoryBound(to: sem_t.self)
            for _ in 0..<100_000 {
                sem_wait(batons)
                sem_post(batons + 1)
            }
            return nil
        },
        shared
    )
    for _ in 0..<rounds {
        sem_post(shared)
        sem_wait(shared + 1)
    }
    pthread_join(thread, nil)
    print("baton\t\((processorTime() - start) / Double(2 * rounds))\t1\t\(usage().ru_maxrss)")
}
#endif

/// Returns the number of steps, whose name differs between versions. The call costs more than an empty schedule, so it is not made while time is
/// measured.
func count(_ run: Simulation.Run) -> Int {
    Mirror(reflecting: run).children.first { $0.label == "stepCount" || $0.label == "steps" }?.value as? Int ?? 0
}

let chosen = CommandLine.arguments.dropFirst().first

for (name, strategy, seeds, body) in programs where chosen == nil || chosen == name {
    var last: Simulation.Run?
    func run(_ seed: UInt64) {
        last =
            if let strategy {
                try? simulate(seed: seed, strategy: strategy, maxSteps: 1_000_000, body)
            } else {
                try? simulate(seed: seed, maxSteps: 1_000_000, body)
            }
    }
    var least = Double.infinity
    for _ in 0..<2 {
        let start = processorTime()
        for seed in 0..<seeds { run(seed) }
        least = min(least, (processorTime() - start) / Double(seeds))
    }
    // The programs that must pass do: a program that fails has no steps, which the table shows.
    let steps = last.map(count) ?? 0
    print("\(name)\t\(least)\t\(steps)\t\(usage().ru_maxrss)")
}

#if os(Linux)
if chosen == nil || chosen == "baton" { measureBaton() }
#endif
