/// What a registered task does: waits until it may, runs its operation, and leaves the books.
struct RegisteredBody: TaskBody {
    let registry: TaskRegistry
    let id: TaskRegistry.ID
    let mustBegin: Bool
    let operation: Operation

    nonisolated(nonsending) func run() async {
        let mayRun = mustBegin ? await registry.begin(id) : registry.mayStart(id)
        if mayRun { await operation() }
        registry.finish(id)
    }
}

/// Stands for a task whose handle does not exist yet: ends when it ends, and cancels it when it is cancelled itself.
struct FollowingBody: TaskBody {
    let registry: TaskRegistry
    let id: TaskRegistry.ID
    /// If not, the followed task has ended already.
    let mustBegin: Bool
    let followed: TaskRegistry.ID

    nonisolated(nonsending) func run() async {
        if mustBegin {
            _ = await withTaskCancellationHandler {
                await registry.begin(id)
            } onCancel: {
                registry.cancel(followed)
            }
        }
        registry.finish(id)
    }
}
