/// The body of a registered task: waits until it may run, runs its operation, and leaves the registry.
struct RegisteredBody: TaskBody {
    let registry: TaskRegistry
    let id: TaskRegistry.ID
    let operation: Operation

    nonisolated(nonsending) func run() async {
        var mayRun = registry.begin(id)
        if mayRun == nil { mayRun = await registry.waitAndBegin(id) }
        if mayRun == true {
            Diagnostics.emit(
                isInside: true,
                registry.source.event(.started, .entered(.running), about: registry.subject(id))
            )
            await operation()
        }
        let moment = Diagnostics.moment
        registry.finish(id)
        registry.emitEnd(of: id, hasRun: mayRun == true, at: moment)
    }
}

/// Waits for a task that somebody else has made, and takes it out of the books.
struct WatchingBody: TaskBody {
    let registry: TaskRegistry
    let id: TaskRegistry.ID
    let job: TaskRegistry.Job

    nonisolated(nonsending) func run() async {
        await job.value
        let (moment, isCancelled) = (Diagnostics.moment, job.isCancelled)
        registry.finish(id)
        Diagnostics.emit(
            at: moment,
            registry.source.event(
                .completed,
                .ended(.completed),
                about: registry.subject(id),
                isCancelled: isCancelled
            )
        )
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
