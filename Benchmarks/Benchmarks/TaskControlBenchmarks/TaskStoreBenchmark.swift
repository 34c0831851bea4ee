import Benchmark
import TaskControl

/// Tasks that each have a key of their own. At the headline's depth, all keys are in use at a time.
func registerTaskStore() {
    Benchmark.runToTheEnd(
        "TaskStore.addTask",
        primitive: "`TaskStore.addTask`, \(Scale.tasks.grouped) keys",
        headline: Scale.tasks,
        target: .ratio(atMost: 1.6)
    ) {
        let store = TaskStore<Int>()
        return Contender(
            start: { key, countdown in store.addTask(forKey: key) { countdown.hit() } },
            park: { key, lot in store.addTask(forKey: key) { await lot.park(key) } }
        )
    }
}
