import Benchmark
import TaskControl

/// Tasks that each have an ID of their own. At the headline's depth, all IDs are in use at a time.
func registerIdentifiableTaskBag() {
    Benchmark.runToTheEnd(
        "IdentifiableTaskBag.addTask",
        primitive: "`IdentifiableTaskBag.addTask`, \(Scale.tasks.grouped) IDs",
        headline: Scale.tasks
    ) {
        let bag = IdentifiableTaskBag<Int>()
        return Contender(
            start: { id, countdown in bag.addTask(id: id) { countdown.hit() } },
            park: { id, lot in bag.addTask(id: id) { await lot.park(id) } }
        )
    }
}
