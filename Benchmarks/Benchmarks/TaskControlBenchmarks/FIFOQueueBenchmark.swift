import Benchmark
import TaskControl

/// Tasks that take their turns, beside tasks that take none.
func registerFIFOQueue() {
    for depth in [1, 100, Scale.tasks] {
        Benchmark.row("FIFOQueue, empty, depth \(depth)") {
            let queue = FIFOQueue()
            let ordered = Contender.started { countdown in Task(on: queue) { countdown.hit() } }
            var row = await Contender.compare(
                "`Task(on: fifoQueue) { }`, depth \(depth.grouped)",
                ordered,
                to: "`Task { }`",
                .bareTask,
                depth: depth
            )
            row.target = .ratio(atMost: 1.25)
            guard depth == 100 else { return row }
            row.allocations = (
                await Heap.allocations(of: .bareTask, tasks: Scale.tasks, depth: depth),
                await Heap.allocations(of: ordered, tasks: Scale.tasks, depth: depth)
            )
            row.weight = await weigh { queue, ended in Task(on: queue) { ended.hit() } }
            return row
        }
        Benchmark.row("FIFOQueue, one suspension, depth \(depth)") {
            let queue = FIFOQueue()
            var row = await Contender.compare(
                "`Task(on: fifoQueue)` with one suspension, depth \(depth.grouped)",
                .started { countdown in
                    Task(on: queue) {
                        await Task.yield()
                        countdown.hit()
                    }
                },
                to: "`Task` with one",
                .started { countdown in
                    Task {
                        await Task.yield()
                        countdown.hit()
                    }
                },
                depth: depth
            )
            row.target = .ratio(atMost: 1.5)
            return row
        }
    }
    Benchmark.row("FIFOQueue, throwing, depth 100") {
        let queue = FIFOQueue()
        var row = await Contender.compare(
            "`Task(on: fifoQueue) { try … }`, depth 100",
            .started { countdown in Task(on: queue) { () throws in countdown.hit() } },
            to: "`Task { try … }`",
            .started { countdown in Task { () throws in countdown.hit() } },
            depth: 100
        )
        row.target = .ratio(atMost: 1.25)
        row.weight = await weigh { queue, ended in Task(on: queue) { () throws in ended.hit() } }
        return row
    }
    Benchmark.row("FIFOQueue.run") {
        let (queue, place) = (FIFOQueue(), Place())
        var row = Row(
            primitive: "`queue.run { }`, uncontended",
            baseline: "`await actor.f()`, uncontended",
            turns: await Turns.take(
                operations: Scale.tasks,
                baseline: { await ContinuousClock().measure { for _ in 0..<Scale.tasks { await place.nothing() } } },
                primitive: {
                    await ContinuousClock().measure {
                        for _ in 0..<Scale.tasks { try? await queue.run {} }
                    }
                }
            )
        )
        row.target = .nanoseconds(atMost: 150)
        return row
    }
}

private actor Place {
    private var visits = 0

    func nothing() { visits += 1 }
}

/// Measures the heap bytes per task of tasks that wait for their turn, minus those of bare tasks that wait, and the bytes per task that remain after
/// the turns. The limit of the additional bytes is a fifth of those of a bare task.
@concurrent private func weigh(_ send: @Sendable (FIFOQueue, Countdown) -> Void) async -> Row.Weight {
    let bare = await Heap.weight(tasks: Scale.tasks) { .bareTask }
    let pending = await weighPending(Scale.tasks, send)
    return Row.Weight(live: pending.live - bare.live, left: pending.left - bare.left, liveAtMost: bare.live * 0.2)
}

@concurrent private func weighPending(
    _ tasks: Int,
    _ send: (FIFOQueue, Countdown) -> Void
) async -> (live: Double, left: Double) {
    var least = (live: Int.max, left: Int.max)
    for _ in 0..<3 {
        let (queue, lot, ended) = (FIFOQueue(), ParkingLot(1), Countdown(tasks))
        Heap.start()
        Task(on: queue) { await lot.park(0) }
        for _ in 0..<tasks { send(queue, ended) }
        await lot.waitUntilFull()
        least.live = min(least.live, await Heap.settledBytes())
        lot.letAllGo()
        await ended.wait()
        least.left = min(least.left, await Heap.settledBytes())
        _ = Heap.stop()
        withExtendedLifetime(queue) {}
    }
    return (Double(least.live) / Double(tasks), Double(least.left) / Double(tasks))
}
