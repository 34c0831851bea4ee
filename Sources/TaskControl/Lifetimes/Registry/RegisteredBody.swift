/// The body of a registered task: waits until it may run, runs its operation, and leaves the registry.
struct RegisteredBody<Work: OwnedWork>: _TaskBody {
    let registry: TaskRegistry
    let id: TaskRegistry.ID
    let work: Work

    nonisolated(nonsending) func run() async -> Work.Success {
        let mayRun =
            switch registry.begin(id) {
            case .run: true
            case .skip: false
            case .wait, .quiet, .throttle: await registry.waitAndBegin(id)
            }
        guard mayRun else {
            leave(hasRun: false)
            return Work.skipped
        }
        registry.emit(.started, .entered(.running), id)
        let value = await work.run()
        leave(hasRun: true)
        return value
    }
    @inline(__always)
    private func leave(hasRun: Bool) {
        let moment = Diagnostics.moment
        registry.finish(id)
        registry.emitEnd(of: id, hasRun: hasRun, at: moment)
    }
}
