@testable import TaskControl

/// The interface that the owners of tasks have in common, so that one program can be played to each.
struct OwnerFace: Sendable, CustomStringConvertible {
    enum Added {
        /// - cancel: Cancels the task through its own handle, if the owner gives one.
        case started(cancel: (@Sendable () -> Void)?)
        /// Another task with the same key continues instead; the body is not run.
        case existing
    }

    typealias Body = @Sendable () async -> Void

    let description: String
    var keys: [String?] = [nil]
    var behaviors: [TaskStoreDuplicateKeyBehavior] = [.runConcurrently]
    var canClose = false
    var canAdopt = false
    var limit: Int?

    let add: @Sendable (String?, TaskStoreDuplicateKeyBehavior, @escaping Body) -> Added
    var adopt: @Sendable (String?, Task<Void, Never>) -> Bool = { _, _ in false }
    var cancelKey: @Sendable (String) -> Void = { _ in }
    let cancelAll: @Sendable () -> Void
    var close: @Sendable () -> Void = {}
    let drain: @Sendable () async throws -> Void
    let count: @Sendable () -> Int
    var isLive: @Sendable (String) -> Bool = { _ in false }
    /// Whether an interval of the key has begun, and has not ended.
    var hasInterval: @Sendable (String) -> Bool = { _ in false }

    static func lifetime() -> OwnerFace {
        let lifetime = AsyncLifetime()
        return OwnerFace(
            description: "AsyncLifetime",
            canClose: true,
            add: { _, _, body in
                let task = AsyncTask { await body() }.bind(to: lifetime)
                return .started(cancel: { task.cancel() })
            },
            cancelAll: { lifetime.cancelAll() },
            close: { lifetime.close() },
            drain: { try await lifetime.drain() },
            count: { lifetime.count }
        )
    }

    static func bag() -> OwnerFace {
        let bag = TaskBag()
        return OwnerFace(
            description: "TaskBag",
            canAdopt: true,
            add: { _, _, body in
                bag.addTask { await body() }
                return .started(cancel: nil)
            },
            adopt: { _, task in
                task.stored(in: bag)
                return true
            },
            cancelAll: { bag.cancel() },
            drain: { while bag.count > 0 { try await Task.sleep(for: .milliseconds(1)) } },
            count: { bag.count }
        )
    }

    static func identifiableBag() -> OwnerFace {
        let bag = IdentifiableTaskBag<String>()
        return OwnerFace(
            description: "IdentifiableTaskBag",
            keys: ["a", "b"],
            behaviors: [.preferPrevious],
            canAdopt: true,
            add: { key, _, body in bag.addTask(id: key!) { await body() } ? .started(cancel: nil) : .existing },
            adopt: { key, task in task.stored(in: bag, id: key!) },
            cancelKey: { bag.cancel(id: $0) },
            cancelAll: { bag.cancelAll() },
            drain: { while bag.count > 0 { try await Task.sleep(for: .milliseconds(1)) } },
            count: { bag.count },
            isLive: { bag.contains($0) }
        )
    }

    static func store(limit: Int? = nil) -> OwnerFace {
        let store = TaskStore<String>(maxConcurrentTasks: limit)
        let tasks = Locked<Set<Task<Void, Never>>>([])
        return OwnerFace(
            description: limit.map { "TaskStore that runs \($0)" } ?? "TaskStore",
            keys: ["a", "b"],
            // A quiet time and an interval that end while bodies still run. Not the rules that cancel waiting tasks where the model
            // cannot know which ones wait.
            behaviors: RegistryDriver.behaviors.filter { !$0.isTimed && (limit == nil || $0 != .keepLatest) } + [
                .debounce(for: .milliseconds(2)), .throttle(for: OwnerWorld.interval),
            ],
            limit: limit,
            add: { key, behavior, body in
                let task = store.addTask(forKey: key!, duplicateKeyBehavior: behavior) { await body() }
                return tasks.withLock { $0.insert(task).inserted } ? .started(cancel: { task.cancel() }) : .existing
            },
            cancelKey: { store.cancelTask(forKey: $0) },
            cancelAll: { store.cancelAll() },
            drain: { try await store.drain() },
            count: { store.count },
            isLive: { store.taskIsRunning(forKey: $0) || store.taskIsWaiting(forKey: $0) },
            hasInterval: { key in store.registry.state.withLock { $0.machine.hasInterval(_ErasedKey(key)) } }
        )
    }
}
