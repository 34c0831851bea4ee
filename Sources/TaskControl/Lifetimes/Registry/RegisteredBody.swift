/// What a registered task does: waits until it may, runs its operation, and leaves the books.
final class RegisteredBody: TaskBody, @unchecked Sendable {
    private let registry: TaskRegistry
    private let id: TaskRegistry.ID
    /// Let go before the end is reported, with all that it has captured: whoever has waited for that end finds it gone.
    // Sendable: after `init` only the one task that runs this touches it.
    private var operation: Operation?

    init(registry: TaskRegistry, id: TaskRegistry.ID, operation: @escaping Operation) {
        self.registry = registry
        self.id = id
        self.operation = operation
    }

    nonisolated(nonsending) func run() async {
        var start = registry.begin(id)
        if start == .later { start = await registry.beginLater(id) }
        if start == .now, let operation {
            self.operation = nil
            await operation()
        }
        operation = nil
        registry.finish(id)
    }
}

/// Stands for a task whose handle does not exist yet: ends when it ends, and cancels it when it is cancelled itself.
struct FollowingBody: TaskBody {
    let registry: TaskRegistry
    let id: TaskRegistry.ID
    let followed: TaskRegistry.ID

    nonisolated(nonsending) func run() async {
        _ = await withTaskCancellationHandler {
            await registry.beginLater(id)
        } onCancel: {
            registry.cancel(followed)
        }
        registry.finish(id)
    }
}
