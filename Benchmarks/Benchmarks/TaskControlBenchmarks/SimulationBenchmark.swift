import Benchmark
import TaskControlTesting

/// Registers the cost of a schedule. The baseline is the same program, run for real.
func registerSimulation() {
    guard Simulation.isSupported else { return }
    Benchmark.row("simulate, 20 jobs a schedule") {
        let steps = (try? simulate(seed: 1) { _ in await program(sleeping: .milliseconds(1)) })?.stepCount ?? 0
        var row = Row(
            primitive: "`simulate`, a schedule of \(steps) jobs (10,000 of them)",
            baseline: "the same tasks on the pool, without their sleeps",
            turns: await Turns.take(
                operations: schedules,
                baseline: {
                    await ContinuousClock().measure { for _ in 0..<schedules { await program(sleeping: nil) } }
                },
                primitive: {
                    ContinuousClock().measure {
                        _ = try? simulate(seeds: 0..<UInt64(schedules)) { _ in await program(sleeping: .milliseconds(1))
                        }
                    }
                }
            )
        )
        // 10,000 schedules in five seconds.
        row.target = .nanoseconds(atMost: 500_000)
        row.weight = .init(live: bytes(after: schedules), left: bytes(after: schedules * 10), liveAtMost: 1)
        return row
    }
    Benchmark.row("simulate, a virtual hour") {
        var row = Row(
            primitive: "`simulate`, a virtual hour in 3,600 sleeps",
            baseline: "3,600 times `Task.yield()`",
            turns: await Turns.take(
                operations: 1,
                baseline: { await ContinuousClock().measure { for _ in 0..<3_600 { await Task.yield() } } },
                primitive: {
                    ContinuousClock().measure {
                        _ = try? simulate(seed: 1) { _ in
                            for _ in 0..<3_600 { try await Task.sleep(for: .seconds(1)) }
                        }
                    }
                }
            )
        )
        row.target = .nanoseconds(atMost: 10_000_000)
        return row
    }
}

private let schedules = Scale.isQuick ? 1_000 : 10_000

private actor Counter {
    private var count = 0

    func add() { count += 1 }
}

private func program(sleeping pause: Duration?) async {
    let counter = Counter()
    await withTaskGroup { group in
        for _ in 0..<4 {
            group.addTask {
                if let pause { try? await Task.sleep(for: pause) }
                await counter.add()
            }
        }
    }
}

/// Returns the growth of the heap per schedule, after the given number of schedules.
private func bytes(after count: Int) -> Double {
    _ = try? simulate(seeds: 0..<1_000) { _ in await program(sleeping: .milliseconds(1)) }
    Heap.start()
    _ = try? simulate(seeds: 0..<UInt64(count)) { _ in await program(sleeping: .milliseconds(1)) }
    return Double(max(0, Heap.stop())) / Double(count)
}
