/// An owner of the tasks of one purpose, such as the search of a screen: a ``TaskStore`` with one key. The behavior of
/// the slot, a ``TaskStoreDuplicateKeyBehavior``, decides what happens when a task is added while another one runs.
///
/// ```swift
/// @MainActor @Observable final class SearchModel {
///     private let search = TaskSlot(behavior: .debounce(for: .milliseconds(300)))
///     private(set) var results: [Item] = []
///     var isSearching: Bool { search.isRunning }      // observable
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
public final class TaskSlot: TaskOwner, RegistryOwner {
    /// The type of the only key of `store`.
    private enum Purpose { case only }

    /// The only key of `store`, created once, because creating an erased key may allocate.
    private static let key = _ErasedKey(Purpose.only)

    private let store: TaskStore<Purpose>
    private let behavior: TaskStoreDuplicateKeyBehavior

    var registry: TaskRegistry { store.registry }

    /// Creates an empty slot.
    ///
    /// - Parameters:
    ///   - name: The name shown in diagnostics; `nil` for none.
    ///   - behavior: The rule for a new task and for the tasks that run or wait when it is added. By default, the new
    ///     task starts at once and the others are cancelled.
    ///   - clock: Measures the times of ``TaskStoreDuplicateKeyBehavior/debounce(for:)`` and
    ///     ``TaskStoreDuplicateKeyBehavior/throttle(for:)``. Its `sleep` must end when its task is cancelled, as
    ///     `Clock` requires: otherwise a task that is cancelled while it waits for such a time ends only when the time
    ///     has passed.
    public init(
        name: String? = nil,
        behavior: TaskStoreDuplicateKeyBehavior = .cancelPrevious(wait: false),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        store = TaskStore(name: name, clock: clock)
        self.behavior = behavior
    }

    /// Whether the slot has a task that runs or waits to start and that the slot has not cancelled. Observable, as
    /// ``TaskStore/count`` is.
    ///
    /// A running task that was cancelled through its own `Task` handle, not by the slot, counts until it has ended.
    public var isRunning: Bool { store.taskIsRunning(forKey: .only) }

    /// Adds a task, according to the behavior of the slot. Cancellation works as described for
    /// ``TaskStore/addTask(forKey:duplicateKeyBehavior:name:priority:operation:)``.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs with the isolation and task-locals of the code that calls this function.
    /// - Returns: The new task. With ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property``, if there is a
    ///   present task: the present task of the slot or a proxy for it, that is, a task that waits for the present task,
    ///   and whose cancellation cancels the present task. If the slot is closed, a cancelled task that never runs the
    ///   operation.
    /// - Complexity: O(1); for a behavior that cancels, O(*n*) in the number of cancelled tasks.
    @discardableResult
    public func addTask(
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async -> Void
    ) -> Task<Void, Never> {
        registry.addTask(Self.key, behavior, name, priority, OwnedOperation(received(operation)))
    }

    /// Adds a task that may throw, according to the behavior of the slot, and handles its error. Cancellation works as
    /// described for ``TaskStore/addTask(forKey:duplicateKeyBehavior:name:priority:operation:)``.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs with the isolation and task-locals of the code that calls this function.
    ///   - onError: Receives the error that the operation throws, in the isolation of the code that calls this
    ///     function; not called for a task that was cancelled.
    /// - Returns: The new task. With ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property``, if there is a
    ///   present task: the present task of the slot or a proxy for it, that is, a task that waits for the present task,
    ///   and whose cancellation cancels the present task. If the slot is closed, a cancelled task that never runs the
    ///   operation.
    /// - Complexity: O(1); for a behavior that cancels, O(*n*) in the number of cancelled tasks.
    @discardableResult
    public func addTask(
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async throws -> Void,
        @_inheritActorContext onError: @escaping @isolated(any) @Sendable (any Error) async -> Void
    ) -> Task<Void, Never> {
        let handler = ErrorHandler(onError: onError)
        let work = HandledOperation(origin: .taskStore, operation: received(operation), handler: handler)
        return registry.addTask(Self.key, behavior, name, priority, work)
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
    ///   - onError: Receives the error that the work threw; runs like `deliver`. If `nil`, or if the owner was
    ///     deallocated, the error is reported to diagnostics instead. Whether it is received or reported, the outcome
    ///     is ``DeliveryOutcome/failed(_:)``. The error of a cancelled task is not received: the outcome is
    ///     ``DeliveryOutcome/cancelled``.
    /// - Returns: The new task, whose value is its outcome. With
    ///   ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property``, if there is a present task: the present task,
    ///   or a proxy for it. A proxy is a task that waits for the present task and has the same outcome, or
    ///   ``DeliveryOutcome/duplicate`` if `addTask` created the present task; cancelling the proxy cancels the present
    ///   task. If the slot is closed, nothing is started, and the outcome is ``DeliveryOutcome/cancelled``.
    /// - Complexity: O(1); for a behavior that cancels, O(*n*) in the number of cancelled tasks.
    @discardableResult
    public func run<Owner: AnyObject & Sendable, Value: Sendable>(
        for owner: Owner,
        name: String? = nil,
        priority: TaskPriority? = nil,
        work: @escaping @Sendable () async throws -> Value,
        @_inheritActorContext deliver: @escaping @isolated(any) @Sendable (Owner, Value) async -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)? = nil
    ) -> Task<DeliveryOutcome, Never> {
        let delivery = _WeakOwner(owner).work(work, deliver, onError, in: .storeRun)
        return registry.addDelivery(Self.key, behavior, name, priority, delivery)
    }

    /// Does work for an actor, according to the behavior of the slot, and passes the result to the actor if it still
    /// exists. The work does not retain the actor.
    ///
    /// `deliver` and `onError` run on the actor. In all other respects, this function is the same as `run(for:)` for an
    /// object that is not an actor.
    ///
    /// ## Cancellation
    /// Once the task is cancelled, for example by a newer task, neither `deliver` nor `onError` begins.
    ///
    /// - Parameters:
    ///   - owner: The actor that receives the result. Held weakly.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - work: Runs on the global executor, not on the owner. List what it needs in its capture list, and not the
    ///     owner.
    ///   - deliver: Runs on the owner, which is retained until the closure returns, so do the waiting in `work`.
    ///   - onError: Receives the error that the work threw; runs like `deliver`. If `nil`, or if the owner was
    ///     deallocated, the error is reported to diagnostics instead. Whether it is received or reported, the outcome
    ///     is ``DeliveryOutcome/failed(_:)``. The error of a cancelled task is not received: the outcome is
    ///     ``DeliveryOutcome/cancelled``.
    /// - Returns: The new task, whose value is its outcome. With
    ///   ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property``, if there is a present task: the present task,
    ///   or a proxy for it. A proxy is a task that waits for the present task and has the same outcome, or
    ///   ``DeliveryOutcome/duplicate`` if `addTask` created the present task; cancelling the proxy cancels the present
    ///   task. If the slot is closed, nothing is started, and the outcome is ``DeliveryOutcome/cancelled``.
    /// - Complexity: O(1); for a behavior that cancels, O(*n*) in the number of cancelled tasks.
    @discardableResult
    public func run<Owner: Actor, Value: Sendable>(
        for owner: Owner,
        name: String? = nil,
        priority: TaskPriority? = nil,
        work: @escaping @Sendable () async throws -> Value,
        deliver: @escaping @Sendable (isolated Owner, Value) async -> Void,
        onError: (@Sendable (isolated Owner, any Error) async -> Void)? = nil
    ) -> Task<DeliveryOutcome, Never> {
        let delivery = _WeakOwner(owner).work(work, deliver, onError, in: .storeRun)
        return registry.addDelivery(Self.key, behavior, name, priority, delivery)
    }
}
