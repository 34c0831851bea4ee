/// The body of a task with a key: waits until it may run, runs its operation, and leaves the registry.
struct RegisteredBody<Work: OwnedWork>: _TaskBody {
    let registry: TaskRegistry
    let id: TaskRegistry.ID
    let work: Work

    @inline(__always)
    nonisolated(nonsending) func run() async -> Work.Success {
        let mayRun =
            switch registry.begin(id) {
            case .run: true
            case .skip: false
            case .wait, .quiet, .throttle: await registry.waitAndBegin(id)
            }
        guard mayRun else {
            registry.leave(id, hasRun: false)
            return Work.skipped
        }
        registry.emit(.started, .entered(.running), id)
        let value = await work.run()
        registry.leave(id, hasRun: true)
        return value
    }
}

/// The body of a task without a key, which waits for no other task. A body of its own: its frame is smaller, and it seldom takes the lock to begin.
struct FreeBody<Work: OwnedWork>: _TaskBody {
    let registry: TaskRegistry
    let id: TaskRegistry.ID
    let work: Work

    @inline(__always)
    nonisolated(nonsending) func run() async -> Work.Success {
        guard registry.mayBegin(id) else {
            registry.leave(id, hasRun: false)
            return Work.skipped
        }
        registry.emit(.started, .entered(.running), id)
        let value = await work.run()
        registry.leave(id, hasRun: true)
        return value
    }
}

extension TaskRegistry {
    /// The body of a task has ended, or never runs.
    func leave(_ id: ID, hasRun: Bool) {
        let moment = Diagnostics.moment
        finish(id)
        CancellationCauses.forget(.running)
        emitEnd(of: id, hasRun: hasRun, at: moment)
    }
}
