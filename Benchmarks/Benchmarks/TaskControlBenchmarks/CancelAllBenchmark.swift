import Benchmark
import TaskControl

/// Registers the benchmark of cancelling all tasks of an owner, compared with an array of tasks that are cancelled one by one. Only the cancellation
/// is timed.
func registerCancelAll() {
    let (few, many) = (Scale.tasks / 10, Scale.tasks)
    for count in [few, many] {
        // A task that only notes its cancellation shows what the lifetime itself costs; a task that ends by it is resumed by the same
        // call, and ends on another core during the call.
        for parking in [Parking.untilLetGo, .untilCancelled] {
            let tasks = parking == .untilLetGo ? "live tasks" : "live tasks that end by it"
            Benchmark.row("AsyncLifetime.cancelAll, \(count) \(tasks)") {
                var row = Row(
                    primitive: "`cancelAll()`, \(count.grouped) \(tasks)",
                    baseline: "`for task in tasks { task.cancel() }`",
                    turns: await Turns.take(
                        operations: Scale.tasks,
                        baseline: { await cancelArrays(of: count, parking) },
                        primitive: { await cancelLifetimes(of: count, parking) }
                    )
                )
                row.target = .nanoseconds(atMost: 1000)
                return row
            }
        }
    }
    Benchmark.row("AsyncLifetime.cancelAll, growth") {
        var row = Row(
            primitive: "`cancelAll()`, a task of \(many.grouped)",
            baseline: "a task of \(few.grouped)",
            turns: await Turns.take(
                operations: Scale.tasks,
                baseline: { await cancelLifetimes(of: few, .untilLetGo) },
                primitive: { await cancelLifetimes(of: many, .untilLetGo) }
            )
        )
        // Quadratic would be ten. More tasks miss the caches more often, which is no fault of the lifetime's.
        row.target = .growth(atMost: 2)
        return row
    }
}

private enum Parking {
    case untilLetGo, untilCancelled
}

/// Cancels as many tasks as all sides do in their turn, `count` at a time.
@concurrent private func cancelArrays(of count: Int, _ parking: Parking) async -> Duration {
    var time = Duration.zero
    for _ in 0..<Scale.tasks / count {
        let lot = ParkingLot(count)
        var tasks: [Task<Void, Never>] = []
        tasks.reserveCapacity(count)
        for index in 0..<count {
            tasks.append(Task { await lot.park(index, parking) })
        }
        await lot.waitUntilFull()
        time += ContinuousClock().measure {
            for task in tasks { task.cancel() }
        }
        if parking == .untilLetGo { lot.letAllGo() }
        await lot.waitUntilEmpty()
    }
    return time
}

/// Measures the cancellation of all tasks of several lifetimes, each with `count` tasks.
@concurrent private func cancelLifetimes(of count: Int, _ parking: Parking) async -> Duration {
    var time = Duration.zero
    for _ in 0..<Scale.tasks / count {
        let lot = ParkingLot(count)
        let lifetime = AsyncLifetime()
        for index in 0..<count {
            AsyncTask { await lot.park(index, parking) }.bind(to: lifetime)
        }
        await lot.waitUntilFull()
        time += ContinuousClock().measure {
            lifetime.cancelAll()
        }
        if parking == .untilLetGo { lot.letAllGo() }
        await lot.waitUntilEmpty()
    }
    return time
}

extension ParkingLot {
    fileprivate func park(_ index: Int, _ parking: Parking) async {
        switch parking {
        case .untilLetGo: await park(index)
        case .untilCancelled: await parkUntilCancelled(index)
        }
    }
}
