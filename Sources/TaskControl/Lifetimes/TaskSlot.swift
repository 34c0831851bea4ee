/// An owner of the tasks of one purpose, such as the search of a screen: like a ``TaskStore`` with one key. The behavior of
/// the slot, a ``TaskStoreDuplicateKeyBehavior``, decides what happens when a task is added while another one runs.
///
/// ```swift
/// @MainActor @Observable final class SearchModel {
///     private let search = TaskSlot(behavior: .debounce(for: .milliseconds(300)))
///     private(set) var results: [Item] = []
///     var isSearching: Bool { search.isRunning }      // observable, and false during the pause
///
///     func textChanged(_ text: String) {
///         search.run(for: self) { [api] in
///             try await api.search(text)
///         } deliver: { model, found in
///             model.results = found
///         }
///     }
/// }
/// ```
///
/// Safe to use from any thread and any isolation. Finished tasks are removed immediately.
///
/// ## Cancellation
/// ``TaskOwner/cancelAll()`` cancels the running and waiting tasks, and ``TaskOwner/close()`` also refuses later ones.
/// A slot that is deallocated is closed.
public final class TaskSlot: TaskOwner, ObservableOwner {
    /// The only key of each slot, created once. Events do not show it.
    private static let key = _ErasedKey(OnlyKey())

    let registry: TaskRegistry
    let observation: OwnerObservation
    private let behavior: TaskStoreDuplicateKeyBehavior

    /// Creates an empty slot.
    ///
    /// - Parameters:
    ///   - name: The name shown in diagnostics; `nil` for none.
    ///   - behavior: The rule for a new task and for the tasks that run or wait when it is added. By default, the new
    ///     task starts at once and the others are cancelled.
    ///   - clock: Measures the times of ``TaskStoreDuplicateKeyBehavior/debounce(for:then:)`` and
    ///     ``TaskStoreDuplicateKeyBehavior/throttle(for:)``. Its `sleep` must end when its task is cancelled, as
    ///     `Clock` requires: otherwise a task that is cancelled while it waits for such a time ends only when the time
    ///     has passed.
    public init(
        name: String? = nil,
        behavior: TaskStoreDuplicateKeyBehavior = .cancelPrevious(wait: false),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        let observation = OwnerObservation()
        self.observation = observation
        registry = TaskRegistry(.taskSlot, name: name, clock: clock, onChange: observation.changed)
        self.behavior = behavior
    }

    deinit {
        registry.release()
    }

    /// Whether a task of the slot runs, or starts at once, and the slot has not cancelled it. A task that waits to start
    /// does not count: see ``isWaiting``. Observable, as ``TaskOwner/count`` is.
    ///
    /// A running task that was cancelled through its own `Task` handle, not by the slot, counts until it has ended.
    ///
    /// - Complexity: O(*n*) in the number of tasks.
    public var isRunning: Bool {
        observation.access()
        return registry.isRunning(Self.key)
    }

    /// Whether a task of the slot waits to start: for older tasks, for a quiet time, or for the end of an interval.
    /// Observable, as ``TaskOwner/count`` is.
    ///
    /// - Complexity: O(*n*) in the number of tasks.
    public var isWaiting: Bool {
        observation.access()
        return registry.isWaiting(Self.key)
    }

    /// Adds a task, according to the behavior of the slot. Cancellation works as described for
    /// ``TaskStore/addTask(forKey:duplicateKeyBehavior:name:priority:operation:onError:)``.
    ///
    /// A delayed action, such as the end of a message on the screen, is a task with a delay, which each call restarts:
    ///
    /// ```swift
    /// func show(_ toast: Toast) {
    ///     self.toast = toast
    ///     hiding.addTask(after: .seconds(3)) { [weak self] in self?.toast = nil }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - delay: The time to wait before the operation, measured by the clock of the slot. The rule for the task is then
    ///     ``TaskStoreDuplicateKeyBehavior/debounce(for:then:)`` with this time, in place of the behavior of the slot: a newer
    ///     task with a delay replaces one that waits, and tasks that run are cancelled when the delay has passed. If the
    ///     behavior of the slot lets them continue or waits for them, the task starts when they have ended instead. Zero or
    ///     less: no wait. `nil`: no delay, and the behavior of the slot.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs with the isolation and task-locals of the code that calls this function.
    ///   - onError: Receives the error that the operation throws, in the isolation of the code that calls this
    ///     function; not called for a task that was cancelled. If `nil`, the error is reported to diagnostics.
    /// - Returns: The new task. With ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property``, if there is a
    ///   present task: the present task of the slot or a proxy for it, that is, a task that waits for the present task,
    ///   and whose cancellation cancels the present task. If the slot is closed, a cancelled task that never runs the
    ///   operation.
    /// - Complexity: O(1) amortized; for a behavior that cancels, O(*n*) in the number of cancelled tasks. With
    ///   ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property``, O(*n*) in the number of tasks of the slot.
    @discardableResult
    public func addTask(
        after delay: Duration? = nil,
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async throws -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (any Error) async -> Void)? = nil
    ) -> Task<Void, Never> {
        let rule = delay.map(behavior.delayed) ?? behavior
        return registry.addTask(.taskSlot, Self.key, rule, name, priority, received(operation), onError)
    }

    /// Does work for an object, according to the behavior of the slot, and passes the result to the object if it still
    /// exists. The work does not retain the object: see `run(forKey:for:)` of a ``TaskStore``.
    ///
    /// ## Cancellation
    /// Once the task is cancelled, for example by a newer task, neither `deliver` nor `onError` begins.
    ///
    /// - Parameters:
    ///   - owner: The object that receives the result. Held weakly.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - work: Runs on the global executor, not on the owner's actor. List what it needs in its capture list, and not
    ///     the owner.
    ///   - deliver: Runs in the isolation of the code that calls this function. Retains the owner until it returns, so
    ///     do the waiting in `work`.
    ///   - onError: Receives the error that the work threw; runs like `deliver`. If `nil`, the error is reported to
    ///     diagnostics instead. If the owner was deallocated, it is neither received nor reported. In each of these cases
    ///     the outcome is ``DeliveryOutcome/failed(_:)``. The error of a cancelled task is not received: the outcome is
    ///     ``DeliveryOutcome/cancelled(_:)``.
    ///   - onEnd: Receives the outcome of the new task, once, when the work has ended, after `deliver` or `onError`, or
    ///     was cancelled, also before it began or because the slot is closed. It is a part of the task, which is removed
    ///     from the slot after it has returned. Called as long as the owner exists, and not for a present task that is
    ///     returned in place of a new one. If `onError` is `nil`, an error is received here and not reported.
    /// - Returns: The new task, whose value is its outcome. With
    ///   ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property``, if there is a present task: the present task,
    ///   or a proxy for it. A proxy is a task that waits for the present task and has the same outcome, or
    ///   ``DeliveryOutcome/duplicate`` if `addTask` created the present task; cancelling the proxy cancels the present
    ///   task. If the slot is closed, nothing is started, and the outcome is ``DeliveryOutcome/cancelled(_:)``.
    /// - Complexity: O(1) amortized; for a behavior that cancels, O(*n*) in the number of cancelled tasks. With
    ///   ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property``, O(*n*) in the number of tasks of the slot.
    @discardableResult
    public func run<Owner: AnyObject & Sendable, Value: Sendable>(
        for owner: Owner,
        name: String? = nil,
        priority: TaskPriority? = nil,
        work: @escaping @Sendable () async throws -> Value,
        @_inheritActorContext deliver: @escaping @isolated(any) @Sendable (Owner, Value) async -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)? = nil,
        @_inheritActorContext onEnd: (@isolated(any) @Sendable (Owner, DeliveryOutcome) async -> Void)? = nil
    ) -> Task<DeliveryOutcome, Never> {
        if deliver.isolation == nil { _reportUnisolatedDelivery(to: Owner.self, in: .slotRun) }
        let receiver = _IsolatedReceiver(deliver, onError, onEnd)
        let work = _WeakOwner(owner).work(work, receiver, in: .slotRun)
        return registry.addTask(Self.key, behavior, name, priority, work)
    }

    /// Does work for an actor, according to the behavior of the slot, and passes the result to the actor if it still
    /// exists. The work does not retain the actor.
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
        let receiver = ActorReceiver(deliver: deliver, onError: onError, onEnd: onEnd)
        let work = _WeakOwner(owner).work(work, receiver, in: .slotRun)
        return registry.addTask(Self.key, behavior, name, priority, work)
    }
}

extension TaskStoreDuplicateKeyBehavior {
    /// The behavior of a task with a delay. Tasks that run are cancelled at its end if this behavior cancels them too.
    fileprivate func delayed(by delay: Duration) -> Self {
        switch kind {
        case .cancelPrevious(wait: false), .throttle, .debounce(_, then: .cancelPrevious): .debounce(for: delay)
        case .cancelPrevious, .wait, .runConcurrently, .preferPrevious, .keepLatest, .debounce:
            .debounce(for: delay, then: .keepLatest)
        }
    }
}
