/// The code that a task with a key runs. It waits until the ``TaskStoreDuplicateKeyBehavior`` lets the task begin, runs
/// the work, and removes the task from the registry.
struct RegisteredBody<Work: OwnedWork>: _TaskBody {
    let registry: TaskRegistry
    let id: TaskRegistry.ID
    let work: Work

    @inline(__always)
    nonisolated(nonsending) func run() async -> Work.Success {
        let mayRun =
            switch registry.begin(id, isDelivery: Work.isDelivery) {
            case .run: true
            case .skip: false
            case .wait, .quiet, .throttle: await registry.waitAndBegin(id, isDelivery: Work.isDelivery)
            }
        guard mayRun else {
            let value = await work.skipped(Work.isDelivery ? registry.cause(ofSkipped: id) : .unknown)
            registry.leave(id, hasRun: false)
            return value
        }
        registry.emit(.started, .entered(.running), id)
        let value = await work.run()
        registry.leave(id, hasRun: true)
        return value
    }
}

/// The code that a task without a key runs. It waits for no other task. Separate from ``RegisteredBody``, because its
/// async frame is smaller, and because it seldom takes the lock of the registry before it begins.
struct FreeBody<Work: OwnedWork>: _TaskBody {
    let registry: TaskRegistry
    let id: TaskRegistry.ID
    let work: Work

    @inline(__always)
    nonisolated(nonsending) func run() async -> Work.Success {
        guard registry.mayBegin(id, isDelivery: Work.isDelivery) else {
            let value = await work.skipped(Work.isDelivery ? registry.cause(ofSkipped: id) : .unknown)
            registry.leave(id, hasRun: false)
            return value
        }
        registry.emit(.started, .entered(.running), id)
        let value = await work.run()
        registry.leave(id, hasRun: true)
        return value
    }
}

extension TaskRegistry {
    /// Removes the current task from the registry, and emits the event of its end. Called when the work of the task has
    /// ended, or was skipped because the task was cancelled.
    ///
    /// - Parameters:
    ///   - id: The ID of the current task.
    ///   - hasRun: Whether the work of the task has run.
    func leave(_ id: ID, hasRun: Bool) {
        let moment = Diagnostics.moment
        finish(id)
        CancellationCauses.forget(.running)
        emitEnd(of: id, hasRun: hasRun, at: moment)
    }
}
