/// A task whose lifetime must be chosen where the task is created. An ``AsyncLifetime`` starts such a task with
/// ``AsyncLifetime/addTask(name:priority:mustFinish:operation:onError:)``.
///
/// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
///
/// ```swift
/// AsyncTask { await model.load() }.bind(to: lifetime)          // as long as `lifetime`: the usual choice
/// AsyncTask { await model.load() }.store(in: &cancellables)    // until the set releases it
/// AsyncTask { await log(.screenViewed) }.detached()            // without an owner, to its end
/// ```
///
/// The initializer enqueues the task, as `Task { }` does, with the isolation, priority and task-locals of the code that
/// creates it. The compiler warns if you do nothing with the new task. If you keep it in a variable, call one of these
/// three functions later, cancel the task, or await its ``value``: a task that is released before it has ended, and for
/// which none of these was done, is cancelled and reported to diagnostics. A second initializer also accepts a closure,
/// `onError`, which receives the error that the operation throws.
///
/// An operation that captures the object that declares the lifetime retains that object, and with it the lifetime that
/// should end with the object: for such work use `run(for:)` of an ``AsyncLifetime``.
///
/// ## Ordering
/// The task is enqueued before the initializer returns: tasks of one actor and one priority start in the order in which
/// they were created. Tasks without an actor start in no particular order. A task whose operation throws ends when
/// `onError` has returned. The task then leaves its lifetime, and ``value`` returns.
///
/// ## Cancellation
/// ``cancel()``, or the end of the lifetime that the task is bound to, cancels the task. A task that is cancelled
/// before it has started never runs its operation. Errors that a cancelled task throws are treated as part of its
/// cancellation, and are not passed to `onError`.
public final class AsyncTask: Sendable {
    let task: Task<Void, Never>
    let life = Locked(Life())
    /// Whether the task is known to have been bound, stored, detached or cancelled: `deinit` then has nothing to
    /// report, and need not take the lock of `life`.
    // Written under the lock of `life`; read by `deinit` alone, which comes after everything else.
    nonisolated(unsafe) private var isDecided = false
    private let name: String?

    /// Creates a task and enqueues it.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs in the isolation of the code that creates the task. An error that the operation throws is
    ///     reported to diagnostics, unless the task was cancelled.
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext
        operation: sending @escaping @isolated(any) () async throws -> Void
    ) {
        self.name = name
        Diagnostics.open(Self.identity(of: life))
        let operation = received(operation)
        task = spawn(
            name: name,
            priority: priority,
            isolatedTo: operation.isolation,
            Body(life: life, operation: operation, onError: nil)
        )
        emitCreated(name)
    }

    /// Creates a task whose errors are passed to a closure, and enqueues it.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs in the isolation of the code that creates the task.
    ///   - onError: Receives the error that the operation throws, in the isolation of the code that creates the task;
    ///     not called for a task that was cancelled. If the operation throws `CancellationError` although the task was
    ///     not cancelled, `onError` receives it like any other error.
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext
        operation: sending @escaping @isolated(any) () async throws -> Void,
        @_inheritActorContext
        onError: @escaping @isolated(any) @Sendable (any Error) async -> Void
    ) {
        self.name = name
        Diagnostics.open(Self.identity(of: life))
        let operation = received(operation)
        task = spawn(
            name: name,
            priority: priority,
            isolatedTo: operation.isolation,
            Body(life: life, operation: operation, onError: onError)
        )
        emitCreated(name)
    }

    deinit {
        if isDecided || !life.withLock({ $0.machine.isUndecided }) { return }
        Self.record(.ownerDeallocated(name: nil), of: task, life)
        task.cancel()
        Diagnostics.report(
            TaskEvent(.asyncTask, .dropped, subject: Diagnostics.whileObserved(Self.identity(of: life))),
            advice:
                "AsyncTask: dropped and cancelled; call .bind(to:), .store(in:) or .detached() where it is created, or keep it"
        )
    }

    // MARK: Choosing the lifetime

    /// Binds the task to a lifetime, which cancels the task when the lifetime is deallocated or closed. A finished task
    /// leaves the lifetime by itself.
    ///
    /// A task has at most one lifetime: binding the task again moves it to the new lifetime. A lifetime that is already
    /// closed cancels the task at once.
    ///
    /// - Complexity: O(1).
    @discardableResult
    public func bind(to lifetime: AsyncLifetime) -> Self {
        let (subject, moment) = (Diagnostics.whileObserved(Self.identity(of: life)), Diagnostics.moment)
        // Does not capture `self`: the compiler then sees that the object does not escape, and clients can allocate it on the stack.
        let registration = lifetime.registry.insert(task, subject: subject) { [task, life, name = lifetime.name] in
            life.withLock { _ = $0.change { $0.decide() } }
            Self.cancel(task, life, because: .shutdown(name: name))
        }
        guard let id = registration else { return self }
        var settled: TaskEvent.Identity?
        let obsolete = decide { life in
            defer { settled = life.settledSubject }
            return life.change { $0.bind(Binding(registry: lifetime.registry, id: id)) }
        }
        // Earlier events, or the lifetime that the task has left, have settled the identity of the task.
        if subject == nil, let settled { lifetime.registry.setSubject(settled, of: id) }
        if let name { lifetime.registry.setName(name, of: id) }
        // The binding that the task has left: the previous one, or the new one if the task has ended meanwhile.
        if let obsolete { leave(obsolete) }
        if let subject {
            let source = lifetime.registry.source
            Diagnostics.emit(
                at: moment,
                TaskEvent(
                    .asyncTask,
                    .boundToLifetime,
                    owner: source.identity,
                    subject: subject,
                    ownerName: source.name
                )
            )
        }
        return self
    }

    /// Lets the task run to its end without an owner. A lifetime that the task was bound to no longer cancels the task.
    /// A set in which the task was stored still cancels the task when the set releases the task's handle.
    @discardableResult
    public func detached() -> Self {
        let moment = Diagnostics.moment
        if let binding = decide({ $0.change { $0.release() } }) { leave(binding) }
        Self.emit(.detached, of: life, at: moment)
        return self
    }

    // MARK: Cancelling and awaiting

    /// Cancels the task, which may still run. To wait for its end, await ``value``.
    public func cancel() {
        // A caller that cancels the task decides about it: dropping its handle afterwards is not reported.
        let binding = decide { $0.change { $0.decide() } }
        // The task stays registered until it has ended, but no longer counts as a task of its lifetime.
        if let binding {
            binding.registry.cancel(binding.id, because: .requested(reason: nil))
            task.cancel()
        } else {
            Self.cancel(task, life, because: .requested(reason: nil))
        }
    }

    /// Whether the task was cancelled; it may still run.
    public var isCancelled: Bool { task.isCancelled }

    /// An empty value that is available when the task has ended. Never throws: the error of the operation is passed to
    /// the `onError` closure, or, if the task was created without this closure, reported to diagnostics. An error that
    /// a cancelled task throws is neither passed on nor reported.
    ///
    /// ## Cancellation
    /// A cancelled caller continues to wait, and the task continues.
    public var value: Void {
        get async { await task.value }
    }

    /// Removes the task from the lifetime that it was registered with. Also removes a cause of cancellation that the
    /// lifetime may have recorded after the task had ended.
    ///
    /// - Parameter binding: The registration.
    private func leave(_ binding: Binding) {
        binding.registry.finish(binding.id)
        if life.withLock({ $0.machine.isFinished }) { CancellationCauses.forget(task.address) }
    }

    private func emitCreated(_ name: String?) {
        Diagnostics.emitBeginning(
            TaskEvent(.asyncTask, .created, .began(.waiting), subject: Self.identity(of: life), taskName: name)
        )
    }

    func decide<Answer>(_ event: (inout Life) -> Answer) -> Answer {
        life.withLock { life in
            isDecided = true
            return event(&life)
        }
    }
}

extension AsyncTask {
    fileprivate struct Body: _TaskBody {
        let life: Locked<Life>
        let operation: ThrowingOperation
        let onError: (@isolated(any) @Sendable (any Error) async -> Void)?

        @inline(__always)
        nonisolated(nonsending) func run() async {
            var end = End.skipped
            do {
                // Cancelled before it started: does not start.
                if !_isTaskCancelled {
                    AsyncTask.emit(.started, .entered(.running), of: life, isInside: true)
                    end = .completed
                    try await operation()
                }
            } catch {
                end = .failed(error)
                await settle(error, in: .asyncTask, onError)
            }
            let moment = Diagnostics.moment
            let binding = life.withLock { $0.change { $0.finish() } }
            if let binding { binding.registry.finish(binding.id) }
            CancellationCauses.forget(.running)
            if let moment { AsyncTask.emitEnd(end, life, binding, at: moment) }
        }
    }
}
