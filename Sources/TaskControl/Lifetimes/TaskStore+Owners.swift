/// Work that does not keep its owner alive: see `_WeakOwner`.
extension TaskStore {
    /// Does work that never sees its owner, under a key, then hands the result to the owner, if that is still there.
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
    /// As ``addTask(forKey:duplicateKeyBehavior:name:priority:operation:)`` for the key, and as `run(for:)` of an ``AsyncLifetime`` for the
    /// owner: that may go while the work is under way, and then the result is discarded.
    ///
    /// ## Cancellation
    /// Once the task is cancelled, by a newer one of its key too, neither `deliver` nor `onError` is begun. So where they are of an actor, and use
    /// what they are handed before they wait for anything, an old result never comes after a new one. The work sees the cancellation as any
    /// task does.
    ///
    /// - Parameters:
    ///   - key: May have any number of tasks.
    ///   - duplicateKeyBehavior: What happens to them and to this one; see ``TaskStoreDuplicateKeyBehavior``.
    ///   - owner: Not kept alive.
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the caller's.
    ///   - work: Runs on the global executor, not on the owner's actor. Takes what it needs in its capture list. To mention the owner here
    ///     keeps it alive: where that is `self`, the compiler refuses it unless it is written, and what it then proposes is not what is meant.
    ///   - deliver: Runs in the isolation of the code that calls this. Keeps the owner alive until it returns, so the waiting belongs in `work`.
    ///   - onError: As `deliver`, for an error that the work threw. Without it, or without an owner, the error goes to diagnostics. Of a task
    ///     that was not cancelled, it is in the outcome too.
    /// - Returns: The new task, whose value is how it has ended; under ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property`` the one that is there, if
    ///   there is one. If that was created by `addTask`, the returned task ends with it, cancels it, and has the outcome ``DeliveryOutcome/duplicate``.
    /// - Complexity: O(1); for a behavior that cancels, O(*n*) in the number of tasks it cancels.
    @discardableResult
    public func run<Owner: AnyObject & Sendable, Value: Sendable>(
        forKey key: Key,
        duplicateKeyBehavior: TaskStoreDuplicateKeyBehavior = .cancelPrevious(wait: false),
        for owner: Owner,
        name: String? = nil,
        priority: TaskPriority? = nil,
        work: @escaping @Sendable () async throws -> Value,
        @_inheritActorContext deliver: @escaping @isolated(any) @Sendable (Owner, Value) async -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)? = nil
    ) -> Task<DeliveryOutcome, Never> {
        let delivery = _WeakOwner(owner).work(work, deliver, onError, in: .storeRun)
        return registry.addDelivery(_ErasedKey(key), duplicateKeyBehavior, name, priority, delivery)
    }

    /// Does work that never sees its owner, under a key, then hands the result to the owner, an actor, if that is still there.
    ///
    /// As `run(forKey:for:)` for an owner that is no actor, with `deliver` and `onError` running on the owner.
    ///
    /// - Parameters:
    ///   - key: May have any number of tasks.
    ///   - duplicateKeyBehavior: What happens to them and to this one; see ``TaskStoreDuplicateKeyBehavior``.
    ///   - owner: Not kept alive.
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the caller's.
    ///   - work: Runs on the global executor. Takes what it needs in its capture list.
    ///   - deliver: Runs on the owner, and keeps it alive until it returns.
    ///   - onError: As `deliver`, for an error that the work threw. Without it, or without an owner, the error goes to diagnostics. Of a task
    ///     that was not cancelled, it is in the outcome too.
    /// - Returns: The new task, whose value is how it has ended; under ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property`` the one that is there, if
    ///   there is one. If that was created by `addTask`, the returned task ends with it, cancels it, and has the outcome ``DeliveryOutcome/duplicate``.
    /// - Complexity: O(1); for a behavior that cancels, O(*n*) in the number of tasks it cancels.
    @discardableResult
    public func run<Owner: Actor, Value: Sendable>(
        forKey key: Key,
        duplicateKeyBehavior: TaskStoreDuplicateKeyBehavior = .cancelPrevious(wait: false),
        for owner: Owner,
        name: String? = nil,
        priority: TaskPriority? = nil,
        work: @escaping @Sendable () async throws -> Value,
        deliver: @escaping @Sendable (isolated Owner, Value) async -> Void,
        onError: (@Sendable (isolated Owner, any Error) async -> Void)? = nil
    ) -> Task<DeliveryOutcome, Never> {
        let delivery = _WeakOwner(owner).work(work, deliver, onError, in: .storeRun)
        return registry.addDelivery(_ErasedKey(key), duplicateKeyBehavior, name, priority, delivery)
    }
}
