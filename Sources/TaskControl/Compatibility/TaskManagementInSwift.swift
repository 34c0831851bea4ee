extension TaskStore {
    /// Adds a task to a key, with the isolation of its operation as a parameter.
    ///
    /// - Note: A spelling of the series *Task Management in Swift*: see <doc:MovingFromATaskStore>.
    @available(
        *,
        deprecated,
        message: "The operation has the isolation of the code that calls this: leave `isolation:` out."
    )
    @discardableResult
    public func addTask(
        forKey key: sending Key,
        duplicateKeyBehavior: TaskStoreDuplicateKeyBehavior = .cancelPrevious(wait: false),
        priority: TaskPriority? = nil,
        isolation: isolated (any Actor)?,
        operation: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        addTask(forKey: key, duplicateKeyBehavior: duplicateKeyBehavior, priority: priority) { await operation() }
    }
}

/// The options of a behavior.
extension TaskStoreDuplicateKeyBehavior {
    /// Whether the present task of a key, if it has one, is kept and no new task is created. `true` only for
    /// ``preferPrevious-type.property``.
    ///
    /// - Note: A spelling of the series *Task Management in Swift*: see <doc:MovingFromATaskStore>.
    public var preferPrevious: Bool { kind == .preferPrevious }

    /// Whether the new task replaces the running tasks of the key, which are then cancelled.
    ///
    /// `true` for ``cancelPrevious(wait:)``, which cancels them at once, and for ``debounce(for:then:)`` and
    /// ``throttle(for:)``, which cancel them when the new task starts; `false` for every other behavior, and for
    /// `debounce(for:then: .keepLatest)`.
    ///
    /// - Note: A spelling of the series *Task Management in Swift*: see <doc:MovingFromATaskStore>.
    public var cancelPrevious: Bool {
        switch kind {
        case .debounce(_, then: .keepLatest): false
        case .cancelPrevious, .debounce, .throttle: true
        case .wait, .runConcurrently, .preferPrevious, .keepLatest: false
        }
    }

    /// Whether a new task starts only when the present tasks of the key have ended.
    ///
    /// `true` for `cancelPrevious(wait: true)`, ``wait``, ``keepLatest`` and `debounce(for:then: .keepLatest)`, and for
    /// ``preferPrevious-type.property``, which creates a new task only if the key has no present task; `false` for every other behavior.
    ///
    /// - Note: A spelling of the series *Task Management in Swift*: see <doc:MovingFromATaskStore>.
    public var waitForPrevious: Bool {
        switch kind {
        case .cancelPrevious(let wait): wait
        case .wait, .keepLatest, .preferPrevious, .debounce(_, then: .keepLatest): true
        case .runConcurrently, .debounce, .throttle: false
        }
    }

    /// Whether a new task is created even if the key has a present task. `false` only for
    /// ``preferPrevious-type.property``.
    ///
    /// - Note: A spelling of the series *Task Management in Swift*: see <doc:MovingFromATaskStore>.
    public var runNewTask: Bool { !preferPrevious }
}
