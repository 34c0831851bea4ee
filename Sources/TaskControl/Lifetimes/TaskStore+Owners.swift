/// Functions that do work for an object, its owner, under a key, without retaining the owner while the work runs.
extension TaskStore {
    /// Does work for an object, under a key, and passes the result to the object if it still exists. The work does not
    /// retain the object.
    ///
    /// ```swift
    /// tasks.run(forKey: .search, duplicateKeyBehavior: .debounce(for: .milliseconds(300)), for: self) { [api] in
    ///     try await api.search(text)
    /// } deliver: { model, found in
    ///     model.results = found
    /// } onError: { model, error in
    ///     model.alert = Alert(error)
    /// }
    /// ```
    ///
    /// The key has the same effect as in ``addTask(forKey:duplicateKeyBehavior:name:priority:operation:onError:)``. The object,
    /// `owner`, may be deallocated while the work is in progress: its result is then discarded.
    ///
    /// ## Cancellation
    /// Once the task is cancelled, for example by a newer task of its key, neither `deliver` nor `onError` begins. So
    /// if both closures are isolated to the same actor, and use the result before they suspend, an old result never
    /// replaces a new one. The work can check `Task.isCancelled`, as in any task.
    ///
    /// - Parameters:
    ///   - key: The key of the task. A key may have any number of tasks.
    ///   - duplicateKeyBehavior: The rule for the new task and for the present tasks of the key: see
    ///     ``TaskStoreDuplicateKeyBehavior``.
    ///   - owner: The object that receives the result. Held weakly.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - work: Runs on the global executor, not on the owner's actor. List what it needs in its capture list, and not
    ///     the owner, which it would retain: if the compiler asks for an explicit `self`, capture the property instead.
    ///   - deliver: Runs in the isolation of the code that calls this function. Retains the owner until it returns, so
    ///     do the waiting in `work`.
    ///   - onError: Receives the error that the work threw; runs like `deliver`. If `nil`, the error is reported to
    ///     diagnostics instead. If the owner was deallocated, it is neither received nor reported. In each of these cases
    ///     the outcome is ``DeliveryOutcome/failed(_:)``. The error of a cancelled task is not received: the outcome is
    ///     ``DeliveryOutcome/cancelled(_:)``.
    ///   - onEnd: Receives the outcome of the new task, once, when the work has ended, after `deliver` or `onError`, or
    ///     was cancelled, also before it began or because the store is closed. It is a part of the task, which is removed
    ///     from the store after it has returned. Called as long as the owner exists, and not for a present task that is
    ///     returned in place of a new one. If `onError` is `nil`, an error is received here and not reported.
    /// - Returns: The new task, whose value is its outcome. With
    ///   ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property``, if there is a present task: the present task,
    ///   or a proxy for it. A proxy is a task that waits for the present task and has the same outcome, or
    ///   ``DeliveryOutcome/duplicate`` if `addTask` created the present task; cancelling the proxy cancels the present
    ///   task. If the store is closed, nothing is started, and the outcome is ``DeliveryOutcome/cancelled(_:)``.
    /// - Complexity: O(1) amortized; for a behavior that cancels, O(*n*) in the number of cancelled tasks. With
    ///   ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property``, O(*n*) in the number of tasks under the key.
    @discardableResult
    public func run<Owner: AnyObject & Sendable, Value: Sendable>(
        forKey key: sending Key,
        duplicateKeyBehavior: TaskStoreDuplicateKeyBehavior = .cancelPrevious(wait: false),
        for owner: Owner,
        name: String? = nil,
        priority: TaskPriority? = nil,
        work: @escaping @Sendable () async throws -> Value,
        @_inheritActorContext deliver: @escaping @isolated(any) @Sendable (Owner, Value) async -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)? = nil,
        @_inheritActorContext onEnd: (@isolated(any) @Sendable (Owner, DeliveryOutcome) async -> Void)? = nil
    ) -> Task<DeliveryOutcome, Never> {
        if deliver.isolation == nil { _reportUnisolatedDelivery(to: Owner.self, in: .storeRun) }
        let receiver = _IsolatedReceiver(deliver, onError, onEnd)
        let work = _WeakOwner(owner).work(work, receiver, in: .storeRun)
        return registry.addTask(_ErasedKey(key), duplicateKeyBehavior, name, priority, work)
    }

    /// Does work for an actor, under a key, and passes the result to the actor if it still exists. The work does not
    /// retain the actor.
    ///
    /// `deliver`, `onError` and `onEnd` run on the actor, to which they are isolated by their parameter. In all other respects,
    /// such as cancellation, parameters and outcome, this function is the same as `run(forKey:for:)` for an object that is
    /// not an actor.
    @discardableResult
    public func run<Owner: Actor, Value: Sendable>(
        forKey key: sending Key,
        duplicateKeyBehavior: TaskStoreDuplicateKeyBehavior = .cancelPrevious(wait: false),
        for owner: Owner,
        name: String? = nil,
        priority: TaskPriority? = nil,
        work: @escaping @Sendable () async throws -> Value,
        deliver: @escaping @Sendable (isolated Owner, Value) async -> Void,
        onError: (@Sendable (isolated Owner, any Error) async -> Void)? = nil,
        onEnd: (@Sendable (isolated Owner, DeliveryOutcome) async -> Void)? = nil
    ) -> Task<DeliveryOutcome, Never> {
        let receiver = ActorReceiver(deliver: deliver, onError: onError, onEnd: onEnd)
        let work = _WeakOwner(owner).work(work, receiver, in: .storeRun)
        return registry.addTask(_ErasedKey(key), duplicateKeyBehavior, name, priority, work)
    }
}
