/// The body of a registered task: waits until it may run, runs its operation, and leaves the registry.
struct RegisteredBody<Work: OwnedWork>: _TaskBody {
    let registry: TaskRegistry
    let id: TaskRegistry.ID
    let work: Work

    nonisolated(nonsending) func run() async {
        let mayRun =
            switch registry.begin(id) {
            case .run: true
            case .skip: false
            case .wait, .quiet: await registry.waitAndBegin(id)
            }
        if mayRun {
            registry.emit(.started, .entered(.running), id)
            await work.run()
        }
        let moment = Diagnostics.moment
        registry.finish(id)
        registry.emitEnd(of: id, hasRun: mayRun, at: moment)
    }
}
