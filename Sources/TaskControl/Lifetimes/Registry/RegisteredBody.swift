/// The body of a registered task: waits until it may run, runs its operation, and leaves the registry.
struct RegisteredBody: TaskBody {
    let registry: TaskRegistry
    let id: TaskRegistry.ID
    let operation: Operation

    nonisolated(nonsending) func run() async {
        var mayRun = registry.begin(id)
        if mayRun == nil { mayRun = await registry.waitAndBegin(id) }
        if mayRun == true {
            if Diagnostics.isOn { registry.tell(.started, .goesOn, id, isInside: true) }
            await operation()
        }
        if Diagnostics.isOn { tellEnd(mayRun == true) }
        registry.finish(id)
    }

    @inline(never)
    private func tellEnd(_ hasRun: Bool) {
        registry.tell(hasRun ? .completed : .skipped, .ends, id, isCancelled: Task.isCancelled, isInside: true)
    }
}

/// Waits for a task that somebody else has made, and takes it out of the books.
struct WatchingBody: TaskBody {
    let registry: TaskRegistry
    let id: TaskRegistry.ID
    let job: TaskRegistry.Job

    nonisolated(nonsending) func run() async {
        await job.value
        if Diagnostics.isOn { registry.tell(.completed, .ends, id, isCancelled: job.isCancelled) }
        registry.finish(id)
    }
}

/// Stands for a task whose handle does not exist yet: ends when it ends, and cancels it when it is cancelled itself. In nobody's books.
struct FollowingBody: TaskBody {
    let registry: TaskRegistry
    let followed: TaskRegistry.ID

    nonisolated(nonsending) func run() async {
        await withTaskCancellationHandler {
            await registry.job(of: followed)?.value
        } onCancel: {
            performOutsideHandler { registry.cancel(followed) }
        }
    }
}
