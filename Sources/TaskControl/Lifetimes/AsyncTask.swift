/// A task that must state its lifetime where it is created.
///
/// ```swift
/// AsyncTask { await model.load() }.bind(to: lifetime)          // as long as `lifetime`: the usual choice
/// AsyncTask { await model.load() }.store(in: &cancellables)    // until the set releases it
/// AsyncTask { await log(.screenViewed) }.detached()            // without an owner, to its end
/// ```
///
/// The task starts at once, with the isolation, priority and task-locals of the code that creates it, as `Task { }` does. If you call none of the
/// three functions, the compiler warns; when such a task is released, it is cancelled and reported to diagnostics. If you keep the task in a variable
/// instead, cancel it or await its ``value``.
///
/// A body that uses its owner retains the owner, and so the lifetime that should end with the owner: for such work use
/// `run(for:)` of an ``AsyncLifetime``.
///
/// ## Ordering
/// The initializer enqueues the task before it returns, as that of `Task { }` does: tasks of one actor and one priority start in the order in which
/// they were created. Tasks without an actor start in no particular order. A task that fails ends when its handler has returned. It then leaves its
/// lifetime, and ``value`` returns.
///
/// ## Cancellation
/// ``cancel()``, or the end of the lifetime that the task is bound to, cancels it. A task that is cancelled before it started does not start.
/// Errors that a cancelled task throws are treated as part of its cancellation, and are not passed to a handler.
public final class AsyncTask: Sendable {
    let task: Task<Void, Never>
    let life = Locked(Life())
    /// Whether the task was bound, stored, detached or cancelled, so that `deinit` has nothing to report.
    // Written under the lock of `life`; read by `deinit` alone, which comes after everything else.
    nonisolated(unsafe) private var isDecided = false

    /// Creates a task and starts it.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs in the isolation of the code that creates the task. An error that the operation throws goes to diagnostics, unless the
    ///     task was cancelled.
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext
        operation: sending @escaping @isolated(any) () async throws -> Void
    ) {
        Diagnostics.open(Self.identity(of: life))
        let operation = received(operation)
        task = spawn(
            name: name,
            priority: priority,
            isolatedTo: operation.isolation,
            Body(life: life, operation: operation, handler: NoErrorHandling())
        )
        emitCreated(name)
    }

    /// Creates a task whose errors are handled, and starts it.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs in the isolation of the code that creates the task.
    ///   - onError: Receives the error that the operation throws, in the isolation of the code that creates the task; not called for a task that was
    ///     cancelled. A `CancellationError` of a task that was not cancelled is passed on like any other error.
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext
        operation: sending @escaping @isolated(any) () async throws -> Void,
        @_inheritActorContext
        onError: @escaping @isolated(any) @Sendable (any Error) async -> Void
    ) {
        Diagnostics.open(Self.identity(of: life))
        let operation = received(operation)
        task = spawn(
            name: name,
            priority: priority,
            isolatedTo: operation.isolation,
            Body(life: life, operation: operation, handler: ErrorHandler(onError: onError))
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

    // MARK: What it lives for

    /// Binds the task to a lifetime, which cancels the task when the lifetime ends. A finished task leaves the lifetime by itself.
    ///
    /// A task has one lifetime at most: binding it again moves it. A lifetime that is closed cancels the task at once.
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
        // Earlier events, or the place that it has left, have settled its identity.
        if subject == nil, let settled { lifetime.registry.setSubject(settled, of: id) }
        // If the task has ended meanwhile, it did not know that it had something to leave.
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

    /// Lets the task run to its end without an owner. A lifetime that the task was bound to no longer cancels it. A set that it was stored in still
    /// does.
    @discardableResult
    public func detached() -> Self {
        let moment = Diagnostics.moment
        if let binding = decide({ $0.change { $0.release() } }) { leave(binding) }
        Self.emit(.detached, of: life, at: moment)
        return self
    }

    // MARK: What becomes of it

    /// Cancels the task, which may still run. To wait for its end, await ``value``.
    public func cancel() {
        // A caller that cancels the task decides about it: dropping its handle afterwards is not reported.
        let binding = decide { $0.change { $0.decide() } }
        // Cancelled is not finished, but it no longer counts.
        if let binding {
            binding.registry.cancel(binding.id, because: .requested(reason: nil))
            task.cancel()
        } else {
            Self.cancel(task, life, because: .requested(reason: nil))
        }
    }

    /// Whether the task was cancelled; it may still run.
    public var isCancelled: Bool { task.isCancelled }

    /// An empty value that is available when the task has ended. Never throws: an error of the operation goes to `onError`, or to diagnostics.
    ///
    /// ## Cancellation
    /// A cancelled caller continues to wait, and the task continues.
    public var value: Void {
        get async { await task.value }
    }

    /// Removes the task from a lifetime. The lifetime may have recorded a cause of cancellation after the task had ended, which is removed too.
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
    fileprivate struct Body<Handling: ErrorHandling>: _TaskBody {
        let life: Locked<Life>
        let operation: ThrowingOperation
        let handler: Handling

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
                await settle(error, in: .asyncTask) { await handler.handle(error) }
            }
            let moment = Diagnostics.moment
            let binding = life.withLock { $0.change { $0.finish() } }
            if let binding { binding.registry.finish(binding.id) }
            CancellationCauses.forget(.running)
            if let moment { AsyncTask.emitEnd(end, life, binding, at: moment) }
        }
    }
}
