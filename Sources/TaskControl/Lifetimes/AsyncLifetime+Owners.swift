/// Functions that do work for an object, its owner, without retaining the owner while the work runs.
extension AsyncLifetime {
    /// Does work that does not retain its owner, then passes the result to the owner, if the owner still exists.
    ///
    /// ```swift
    /// lifetime.run(for: self) { [api] in
    ///     try await api.fetchFeed()
    /// } deliver: { model, feed in
    ///     model.items = feed
    /// } onError: { model, error in
    ///     model.alert = Alert(error)
    /// }
    /// ```
    ///
    /// The operation of a `Task` that captures the owner retains it until the work has ended, and with the owner the
    /// lifetime that should cancel the work. With this function, the owner may be deallocated while the work is in
    /// progress. If the lifetime is deallocated together with the owner, the work is cancelled; if the lifetime belongs
    /// to another object and outlives the owner, the work continues, and its result is discarded.
    ///
    /// ## Cancellation
    /// The work can check `Task.isCancelled`, as in any task. Once the task is cancelled, neither `deliver` nor
    /// `onError` begins. If the work has returned by then, the outcome is ``DeliveryOutcome/undelivered(_:)``: work that
    /// must not be repeated records in the work itself that it is done.
    ///
    /// ## The end of the task
    /// `onEnd` is called exactly once per call of this function, as long as the owner exists, so a state such as
    /// "sending" always ends:
    ///
    /// ```swift
    /// lifetime.run(for: self) { [api] in
    ///     try await api.fetchFeed()
    /// } deliver: { model, feed in
    ///     model.items = feed
    /// } onEnd: { model, outcome in
    ///     if case .cancelled(let cause) = outcome { print("cancelled: \(cause)") }
    /// }
    /// ```
    ///
    /// It is a part of the task, as `deliver` is: the task is removed from the lifetime after `onEnd` has returned, so
    /// ``TaskOwner/drain()`` waits for it. It also runs in a cancelled task, in which a call that waits may throw at once.
    /// If the lifetime is closed, so that the work is not started, `onEnd` runs in the returned task, which the lifetime
    /// does not own.
    ///
    /// - Parameters:
    ///   - owner: The object that receives the result. Held weakly.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - work: Runs on the global executor, not on the owner's actor. List what it needs in its capture list. Do not
    ///     capture the owner, which the closure would retain: if the compiler asks for an explicit `self`, capture the
    ///     property instead.
    ///   - deliver: Receives the owner and the result of `work`. Runs in the isolation of the code that calls this
    ///     function; on any thread if that code has none, which is reported if the call is made on the main actor. The owner
    ///     is retained until this closure returns, so do the waiting in `work`.
    ///   - onError: Receives the error that the work threw. Runs like `deliver`. If `nil`, the error is
    ///     reported to diagnostics instead. If the owner was deallocated, the error is neither received nor reported. In
    ///     each of these cases the outcome is ``DeliveryOutcome/failed(_:)``. If the task was cancelled, the error is neither received nor
    ///     reported, and the outcome is ``DeliveryOutcome/cancelled(_:)``.
    ///   - onEnd: Receives the outcome when the work has ended, after `deliver` or `onError`, or was cancelled, also before
    ///     it began. See *The end of the task*. If `onError` is `nil`, an error is received here and not reported.
    /// - Returns: The task, whose value is its outcome. If the lifetime is closed, the work is not started, and the
    ///   outcome is ``DeliveryOutcome/cancelled(_:)``.
    @discardableResult
    @export(implementation)
    public func run<Owner: AnyObject & Sendable, Value: Sendable>(
        for owner: Owner,
        name: String? = nil,
        priority: TaskPriority? = nil,
        work: @escaping @Sendable () async throws -> Value,
        @_inheritActorContext deliver: @escaping @isolated(any) @Sendable (Owner, Value) async -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)? = nil,
        @_inheritActorContext onEnd: (@isolated(any) @Sendable (Owner, DeliveryOutcome) async -> Void)? = nil
    ) -> Task<DeliveryOutcome, Never> {
        if deliver.isolation == nil { _reportUnisolatedDelivery(to: Owner.self, in: .lifetimeRun) }
        if let onEnd {
            return _run(_WeakOwner(owner), name, priority, work, _IsolatedReceiver(deliver, onError, onEnd))
        }
        guard let place = _enter(name) else { return _refused(name) }
        let body = _DeliveryBody(
            place: place,
            owner: _WeakOwner(owner),
            work: work,
            deliver: deliver,
            onError: onError,
            origin: .lifetimeRun
        )
        let task = spawn(name: name, priority: priority, isolatedTo: nil, body)
        place.attach(task, name)
        return task
    }

    /// Does work without retaining its owner, an actor, and then passes the result to the actor if it still exists.
    ///
    /// `deliver`, `onError` and `onEnd` run on the actor, to which they are isolated by their parameter. In all other respects,
    /// such as cancellation, parameters and outcome, this function is the same as `run(for:)` for an object that is
    /// not an actor.
    @discardableResult
    public func run<Owner: Actor, Value: Sendable>(
        for owner: Owner,
        name: String? = nil,
        priority: TaskPriority? = nil,
        work: @escaping @Sendable () async throws -> Value,
        deliver: @escaping @Sendable (isolated Owner, Value) async -> Void,
        onError: (@Sendable (isolated Owner, any Error) async -> Void)? = nil,
        onEnd: (@Sendable (isolated Owner, DeliveryOutcome) async -> Void)? = nil
    ) -> Task<DeliveryOutcome, Never> {
        _run(_WeakOwner(owner), name, priority, work, ActorReceiver(deliver: deliver, onError: onError, onEnd: onEnd))
    }

    /// Passes each element of a sequence to an owner, for as long as the owner exists.
    ///
    /// ```swift
    /// lifetime.forEach(updates, for: self) { model, update in
    ///     await model.apply(update)
    /// }
    /// ```
    ///
    /// The owner is kept alive while it handles an element, and not while the next one is awaited. The iteration ends
    /// when the sequence ends or throws, or when the task is cancelled, for example because the lifetime was
    /// deallocated together with the owner. If the lifetime outlives the owner, the iteration continues until the next
    /// element arrives, which is discarded, or until the sequence ends. The outcome of the task shows why the iteration
    /// has ended:
    ///
    /// ```swift
    /// let listening = lifetime.forEach(updates, for: self) { model, update in await model.apply(update) }
    /// if case .delivered = await listening.value { reconnect() }       // `updates` has ended
    /// ```
    ///
    /// A connection whose other side has vanished ends neither with an error nor with an element. A limit on silence makes
    /// a failure of it:
    ///
    /// ```swift
    /// lifetime.forEach(updates, for: self, silenceLimit: .seconds(30)) { model, update in
    ///     await model.apply(update)
    /// } onError: { model, error in                   // a TimeoutError, after 30 seconds without an update
    ///     model.alert = Alert(error)
    /// }
    /// ```
    ///
    /// ## Ordering
    /// Elements are handled one after the other: the next element is awaited when the previous one has been handled.
    ///
    /// ## Cancellation
    /// Cancelling the task cancels the wait for the next element; no element is delivered once the task is cancelled.
    ///
    /// - Parameters:
    ///   - elements: The sequence, which only the task iterates.
    ///   - owner: The object that receives the elements. Held weakly, except while it handles an element.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - silenceLimit: The time for which the iteration waits for an element, including the first one. The wait begins
    ///     when the previous element has been handled, so the time that the owner needs does not count. At the limit, the
    ///     wait is cancelled and awaited, and the iteration fails with ``TimeoutError``; an element, an error or an end
    ///     that comes at the limit or later, by the clock, does not count. Zero or less: the first wait fails. `nil`, the
    ///     default: no limit.
    ///   - clock: Measures `silenceLimit`.
    ///   - perform: Handles an element. Runs in the isolation of the code that calls this function.
    ///   - onError: Receives the error that ended the sequence. Runs like `perform`. If `nil`, the error is
    ///     reported to diagnostics instead. If the owner was deallocated, the error is neither received nor reported. In
    ///     each of these cases the outcome is ``DeliveryOutcome/failed(_:)``. If the task was cancelled, the error is neither received nor
    ///     reported, and the outcome is ``DeliveryOutcome/cancelled(_:)``.
    ///   - onEnd: Receives the outcome, once per call, as long as the owner exists: when the sequence has ended, after `onError`,
    ///     or when the task was cancelled, also before it began or because the lifetime is closed. It is a part of the task, as in
    ///     `run(for:)`. If `onError` is `nil`, an error is received here and not reported.
    /// - Returns: The task, whose value is its outcome. If the lifetime is closed, the work is not started, and the
    ///   outcome is ``DeliveryOutcome/cancelled(_:)``.
    @discardableResult
    public func forEach<Owner: AnyObject & Sendable, Elements: AsyncSequence & SendableMetatype>(
        _ elements: sending Elements,
        for owner: Owner,
        name: String? = nil,
        priority: TaskPriority? = nil,
        silenceLimit: Duration? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        @_inheritActorContext perform: @escaping @isolated(any) @Sendable (Owner, Elements.Element) async -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)? = nil,
        @_inheritActorContext onEnd: (@isolated(any) @Sendable (Owner, DeliveryOutcome) async -> Void)? = nil
    ) -> Task<DeliveryOutcome, Never> where Elements.Element: Sendable, Elements.AsyncIterator: SendableMetatype {
        if perform.isolation == nil { _reportUnisolatedDelivery(to: Owner.self, in: .lifetimeForEach) }
        let receiver = _IsolatedReceiver(perform, onError, onEnd)
        let silence = silenceLimit.map { SilenceLimit($0, clock: clock) }
        let work = _WeakOwner(owner).iteration(of: elements, receiver, silence, in: .lifetimeForEach)
        return registry.addTask(nil, .runConcurrently, name, priority, work)
    }

    /// Passes each element of a sequence to an owner, an actor, for as long as the owner exists.
    ///
    /// `perform`, `onError` and `onEnd` run on the actor, to which they are isolated by their parameter. In all other respects,
    /// such as cancellation, parameters and outcome, this function is the same as `forEach(_:for:)` for an object that is
    /// not an actor.
    @discardableResult
    public func forEach<Owner: Actor, Elements: AsyncSequence & SendableMetatype>(
        _ elements: sending Elements,
        for owner: Owner,
        name: String? = nil,
        priority: TaskPriority? = nil,
        silenceLimit: Duration? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        perform: @escaping @Sendable (isolated Owner, Elements.Element) async -> Void,
        onError: (@Sendable (isolated Owner, any Error) async -> Void)? = nil,
        onEnd: (@Sendable (isolated Owner, DeliveryOutcome) async -> Void)? = nil
    ) -> Task<DeliveryOutcome, Never> where Elements.Element: Sendable, Elements.AsyncIterator: SendableMetatype {
        let receiver = ActorReceiver(deliver: perform, onError: onError, onEnd: onEnd)
        let silence = silenceLimit.map { SilenceLimit($0, clock: clock) }
        let work = _WeakOwner(owner).iteration(of: elements, receiver, silence, in: .lifetimeForEach)
        return registry.addTask(nil, .runConcurrently, name, priority, work)
    }

    /// Starts a task of `run(for:)`.
    @usableFromInline
    func _run<Receiver: _Receiver>(
        _ owner: _WeakOwner<Receiver.Owner>,
        _ name: String?,
        _ priority: TaskPriority?,
        _ work: @escaping @Sendable () async throws -> Receiver.Value,
        _ receiver: Receiver
    ) -> Task<DeliveryOutcome, Never> {
        registry.addTask(nil, .runConcurrently, name, priority, owner.work(work, receiver, in: .lifetimeRun))
    }

    /// Registers a task that `run(for:)` is about to create.
    ///
    /// - Parameter name: The name of the task; `nil` if it has none.
    /// - Returns: The registration of the task; `nil` if the lifetime is closed.
    @usableFromInline
    func _enter(_ name: String?) -> _DeliveryPlace? {
        var effects = TaskRegistry.Effects()
        let registration = registry.enter(nil, .runConcurrently, nil, &effects)
        if case .added(let id) = registration { return _DeliveryPlace(registry: registry, id: id) }
        registry.emitEntered(registration, name, nil)
        return nil
    }

    @usableFromInline
    func _refused(_ name: String?) -> Task<DeliveryOutcome, Never> {
        registry.refusedTask(name) { [outcome = DeliveryOutcome.cancelled(registry.refusal)] in outcome }
    }
}
