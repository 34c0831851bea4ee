import Benchmark
import TaskControl

/// Registers the benchmark of a task that is bound to a lifetime.
func registerAsyncTask() {
    Benchmark.runToTheEnd(
        "AsyncTask.bind",
        primitive: "`AsyncTask { }.bind(to:)`",
        headline: 100,
        target: .ratio(atMost: 1.3),
        liveBytesAtMost: 200
    ) {
        let lifetime = AsyncLifetime()
        return Contender(
            start: { _, countdown in AsyncTask { countdown.hit() }.bind(to: lifetime) },
            park: { index, lot in AsyncTask { await lot.park(index) }.bind(to: lifetime) }
        )
    }
}
