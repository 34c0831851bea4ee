import Benchmark
import TaskControl

/// Registers the benchmark of a task without a name in a bag.
func registerTaskBag() {
    Benchmark.runToTheEnd(
        "TaskBag.addTask",
        primitive: "`TaskBag.addTask`",
        headline: 100,
        target: .ratio(atMost: 1.25),
        liveBytesAtMost: 200
    ) {
        let bag = TaskBag()
        return Contender(
            start: { _, countdown in bag.addTask { countdown.hit() } },
            park: { index, lot in bag.addTask { await lot.park(index) } }
        )
    }
}
