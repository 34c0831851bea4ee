/// The implementation of each type that owns tasks: calls a ``TaskRegistryStateMachine`` under a lock, and, after
/// unlocking, carries out the actions that the state machine has requested.
///
/// The public types, such as `AsyncLifetime` and `TaskStore`, add functions, but no state of their tasks. The running
/// tasks retain the registry, so it can outlive the public object, whose `deinit` closes the registry.
final class TaskRegistry: Sendable {
    typealias Key = _ErasedKey
    typealias Job = RegisteredTask
    typealias Waiter = UnsafeContinuation<WaitOutcome, Never>
    typealias Machine = TaskRegistryStateMachine<Key, Job.Unowned, Waiter>
    typealias ID = Machine.ID

    let state: Locked<Books>
    /// A copy of the state machine's `suspectSerial` that can be read without the lock, and is written under it. A task
    /// without a key whose serial number is this value or higher was not cancelled through the registry.
    let suspectSerial: AtomicWord
    /// A copy of the state machine's `attachedSerial` or a lower number, which can be read without the lock, and is
    /// written under it. The handle of a task without a key whose serial number is lower is attached.
    let attachedSerial: AtomicWord
    /// Called without the lock after the number of live tasks, which have neither finished nor been cancelled, has
    /// changed, or one of them no longer waits to start. Not called before `liveCount`, `liveKeys` or `isLive(_:)` of a key has been read; `nil` if the owner is
    /// not observable.
    let onChange: (@Sendable () -> Void)?

    /// The clock that measures the quiet times of the behavior `debounce`, and the intervals of the behavior
    /// `throttle`.
    let clock: any Clock<Duration>

    /// The owner of the tasks in this registry, such as an `AsyncLifetime`, from which the events of the registry come.
    let source: EventSource

    var name: String? { source.name }

    init(
        _ face: TaskEvent.Primitive,
        name: String?,
        limit: Int? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        onChange: (@Sendable () -> Void)? = nil
    ) {
        source = EventSource(face, name: name)
        state = Locked(Books(machine: Machine(limit: limit)))
        (suspectSerial, attachedSerial) = AtomicWord.pair(0, 0)
        self.clock = clock
        self.onChange = onChange
        Diagnostics.emit(source.event(.created))
    }

    deinit {
        suspectSerial.deallocate()
    }

    // MARK: Registering

    /// Registers a new task without a key, and then creates it.
    ///
    /// - Returns: The task; `nil` if the registry is closed.
    @inline(__always)
    func add<Work: OwnedWork>(
        name: String?,
        priority: TaskPriority?,
        _ work: consuming Work
    ) -> Task<Work.Success, Never>? {
        guard let id = enter(name) else { return nil }
        let isolation = work.isolation
        let body = FreeBody(registry: self, id: id, work: work)
        let task = spawn(name: name, priority: priority, isolatedTo: isolation, body)
        attach(id, Work.registered(task))
        emitAdded(id, name)
        return task
    }

    /// Registers a new task without a key, and then creates it as a detached task. Does nothing if the registry is
    /// closed.
    func addDetached(name: String?, priority: TaskPriority?, _ work: OwnedOperation) {
        guard let id = enter(name) else { return }
        let body = FreeBody(registry: self, id: id, work: work)
        attach(id, .plain(spawnDetached(name: name, priority: priority, body)))
        emitAdded(id, name)
    }

    /// Registers a task without a key that is about to be created.
    ///
    /// - Parameter name: The name of the task, for the event that reports a refusal.
    /// - Returns: The ID of the task; `nil` if the registry is closed.
    func enter(_ name: String?) -> ID? {
        let id = change { books, effects in
            let id = books.machine.add(&effects)
            if let id { Diagnostics.open(subject(id)) }
            return id
        }
        if id == nil { Diagnostics.emit(source.event(.refused, taskName: name)) }
        return id
    }

    @inline(__always)
    func emitAdded(_ id: ID, _ name: String?, _ key: Key? = nil) {
        Diagnostics.emitBeginning(
            source.event(.added, .began(.waiting), about: subject(id), taskName: name, key: key?.text)
        )
    }

    /// Registers a new task under a key, and then creates it, if its behavior and the present tasks of the key allow
    /// that.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - behavior: The rule for the new task and for the present tasks of the key.
    ///   - isDetached: Whether the task inherits neither isolation nor priority nor task-local values.
    /// - Returns: The new task; the present task of the key, if `behavior` prefers it; `refused`, if the registry is
    ///   closed.
    @inline(__always)
    func add<Work: OwnedWork>(
        key: Key,
        behavior: TaskStoreDuplicateKeyBehavior,
        name: String?,
        priority: TaskPriority?,
        isDetached: Bool = false,
        _ work: consuming Work
    ) -> Registration<Task<Work.Success, Never>> {
        var outcome = Outcome()
        let registration = enter(key, behavior, &outcome)
        guard case .added(let id) = registration else {
            carryOut(outcome) { emitRejected(registration, name, key) }
            return registration.rejected()
        }
        carryOutFirst(outcome)
        // The task is created before observers are called, because other tasks may wait for it under its key, or for
        // its handle.
        let isolation = work.isolation
        let body = RegisteredBody(registry: self, id: id, work: work)
        let task =
            isDetached
            ? spawnDetached(name: name, priority: priority, body)
            : spawn(name: name, priority: priority, isolatedTo: isolation, body)
        attach(id, Work.registered(task))
        emitAdded(id, name, key)
        carryOutLast(outcome)
        return .added(task)
    }

    private func emitRejected(_ registration: Registration<ID>, _ name: String?, _ key: Key) {
        switch registration {
        case .added: break
        case .existing(let id, _): Diagnostics.emit(source.event(.duplicate, about: subject(id), key: key.text))
        case .refused: Diagnostics.emit(source.event(.refused, taskName: name, key: key.text))
        }
    }

    /// Registers a task that is about to be created under `key`, if `behavior` and the present tasks of the key allow
    /// that. Adds the actions that must be carried out after unlocking to `outcome`.
    private func enter(
        _ key: Key,
        _ behavior: TaskStoreDuplicateKeyBehavior,
        _ outcome: inout Outcome
    ) -> Registration<ID> {
        decide(&outcome, cause: { _ in .superseded(key) }) { books, effects in
            let registration = books.machine.add(
                key: key,
                behavior: behavior,
                isCancelled: { $0.owned.isCancelled },
                &effects
            )
            if case .added(let id) = registration { Diagnostics.open(subject(id)) }
            return Registration(registration)
        }
    }

    /// The result of registering a task: the task was added, the key has a task that is preferred to the new one, or
    /// the registry is closed. The handle of a preferred task is `nil` while that task is being created.
    enum Registration<Added> {
        case added(Added)
        case existing(ID, Job?)
        case refused

        /// Returns this result, which must not be `added`, as the result of registering a task of another type.
        func rejected<Other>() -> Registration<Other> {
            switch self {
            case .added: preconditionFailure("The task was not added.")
            case .existing(let id, let job): .existing(id, job)
            case .refused: .refused
            }
        }
    }

    /// Attaches the handle of a task that has been created. Cancels or escalates the task if that was requested while
    /// the task was being created.
    func attach(_ id: ID, _ job: Job) {
        var outcome = Outcome()
        decide(&outcome, cause: { $0.earlyCauses[id] ?? .known(.unknown) }) {
            $0.machine.attach(id, job: .init(job), &$1)
            attachedSerial.store(Int64($0.machine.attachedSerial))
        }
        if outcome.raisingTo > 0 { TaskControl.raise([job.handle], to: TaskPriority(rawValue: outcome.raisingTo)) }
        carryOut(outcome) {}
    }

    /// Registers a task that the caller is about to create. The caller must attach the handle of the task, decides when
    /// the task begins, and must call `finish(_:)` when the task ends.
    ///
    /// - Parameter subject: The identity of the task in events; `nil` if the task is identified by its ID in this
    ///   registry.
    /// - Returns: The ID of the task; `nil` if the registry is closed.
    func reserve(subject: TaskEvent.Identity? = nil) -> ID? {
        change { books, effects in
            guard case .added(let id) = books.machine.insert(nil, &effects) else { return nil }
            if let subject { books.setSubject(subject, of: id) }
            return id
        }
    }

    /// Registers a task that has already started. The caller must call `finish(_:)` when the task ends, before it
    /// releases the task.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - key: The key; `nil` for none.
    ///   - subject: The identity of the task in events; `nil` if the task is identified by its ID in this registry.
    ///   - opens: Whether the caller will emit the event that reports the beginning of the task. If so, the other
    ///     events about the task are held back until then.
    ///   - refuse: Called if the registry is closed.
    /// - Returns: The ID of the task; `nil` if the registry is closed, or if another task has the key.
    func insert(
        _ task: _TaskHandle,
        key: Key? = nil,
        subject: TaskEvent.Identity? = nil,
        opens: Bool = false,
        ifClosed refuse: () -> Void
    ) -> ID? {
        let registration = change { books, effects in
            let registration = books.machine.insert(
                .init(.plain(task)),
                key: key,
                isCancelled: { $0.owned.isCancelled },
                &effects
            )
            if case .added(let id) = registration {
                if let subject { books.setSubject(subject, of: id) }
                if opens { Diagnostics.open(self.subject(id)) }
            }
            return registration
        }
        switch registration {
        case .added(let id):
            if task.isCancelled { cancel(id, because: .unknown) }
            return id
        case .existing(let id, _):
            Diagnostics.emit(source.event(.duplicate, about: self.subject(id), key: key?.text))
            return nil
        case .refused:
            refuse()
            Diagnostics.emit(source.event(.refused, key: key?.text))
            return nil
        }
    }

    /// Registers a task that code outside this library has created, and removes the task when it ends.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - key: The key; `nil` for none.
    ///   - end: Waits for the end of the task.
    /// - Returns: Whether the task was registered: `false` if the registry is closed, which cancels the task, or if
    ///   another task has the key.
    func adopt(_ task: _TaskHandle, key: Key? = nil, end: @escaping @Sendable () async -> Void) -> Bool {
        guard let id = insert(task, key: key, opens: true, ifClosed: task.cancel) else { return false }
        // Awaiting a task escalates it to the priority of the awaiting task. Utility priority escalates few tasks, and
        // a task with it still runs soon on a busy system.
        _ = Task.detached(name: "TaskControl: waits for an adopted task", priority: .utility) { [self] in
            await end()
            let (moment, isCancelled) = (Diagnostics.moment, task.isCancelled)
            withExtendedLifetime(task) {
                finish(id)
                CancellationCauses.forget(task.address)
            }
            Diagnostics.emit(
                at: moment,
                source.event(.completed, .ended(.completed), about: subject(id), isCancelled: isCancelled)
            )
        }
        Diagnostics.emitBeginning(source.event(.adopted, .began(.running), about: subject(id), key: key?.text))
        return true
    }

    /// Sets the identity in events of a registered task, unless it has finished.
    func setSubject(_ subject: TaskEvent.Identity, of id: ID) {
        state.withLock { $0.setSubject(subject, of: id) }
    }

    /// Removes a task that has ended or will never run. Has no effect if the task was removed before.
    func finish(_ id: ID) {
        let key = change { $0.finish(id, &$1) }
        // Perhaps the last reference to the key: released here, where the lock is not held.
        withExtendedLifetime(key) {}
    }

    // MARK: Queries

    var liveCount: Int { look { $0.liveCount } }

    func isLive(_ key: Key) -> Bool { look { $0.isLive(key) } }

    var liveKeys: [Key] { look { $0.liveKeys } }

    func isRunning(_ key: Key) -> Bool { look { $0.isRunning(key) } }

    func isWaiting(_ key: Key) -> Bool { look { $0.isWaiting(key) } }

    var runningKeys: [Key] { look { machine in machine.liveKeys.filter { machine.isRunning($0) } } }

    private func look<Answer>(_ question: (Machine) -> Answer) -> Answer {
        state.withLock { books in
            books.isWatched = true
            return question(books.machine)
        }
    }

    /// Returns whether the current task is registered and was not cancelled through this registry. Called by the task
    /// before its work begins. Attaches the handle of the task if that has not happened yet.
    ///
    /// - Parameter id: The ID of the current task, whose handle is `plain`.
    func isLive(_ id: ID) -> Bool {
        change { books, effects in
            attachIfNeeded(id, isDelivery: false, &books, &effects)
            return books.machine.phase(of: id)?.isLive ?? false
        }
    }
}

extension TaskRegistry.Registration<TaskRegistry.ID> {
    /// Creates the result of the registry from that of the state machine, which does not retain the handle of an
    /// existing task. Must be called under the lock, which keeps that task alive.
    @inline(__always)
    init(_ registration: TaskRegistry.Machine.Registration<TaskRegistry.ID>) {
        self =
            switch registration {
            case .added(let id): .added(id)
            case .existing(let id, let job): .existing(id, job?.owned)
            case .refused: .refused
            }
    }
}

extension TaskRegistry {
    /// The state that the lock of a registry protects: the state machine, and data that only the registry uses.
    struct Books {
        var machine: Machine
        /// Whether the number or the keys of the tasks have ever been read. Until then, changes need not be reported to observers of the owner.
        var isWatched = false
        /// The identities in events of the tasks that are not identified by their ID in this registry: those of `AsyncTask` and of queues.
        private(set) var subjects: [ID: TaskEvent.Identity] = [:]
        /// The causes of cancellation of tasks that were cancelled before their handles were attached, that is, stored
        /// in the registry.
        private(set) var earlyCauses: [ID: RecordedCause] = [:]

        /// The closures that were passed to `onRefusal(_:)`, which are called when a shutdown of the owner begins,
        /// before its grace period. The key of each closure is a number that increases in the order of registration.
        var refusalHandlers: [UInt64: @Sendable () -> Void] = [:]

        init(machine: Machine = Machine()) {
            self.machine = machine
        }

        /// Sets the identity of a task in events. Does nothing if the task has finished.
        mutating func setSubject(_ subject: TaskEvent.Identity, of id: ID) {
            if machine.phase(of: id) != nil { subjects[id] = subject }
        }

        /// Stores the cause of cancellation of a task whose handle is not attached yet (stored in the registry). Does
        /// nothing if the handle is attached, if a cause is already stored, or if the task has finished.
        mutating func remember(_ cause: RecordedCause, of id: ID) {
            guard earlyCauses[id] == nil, machine.phase(of: id) != nil, machine.job(of: id) == nil else { return }
            // Stores the key of the machine's entry instead of an equal key in `cause`. The values of this table are
            // released under the lock, which must not release the last reference to a key, and the machine keeps its
            // key until the entry has finished.
            if case .superseded = cause, let key = machine.key(of: id) {
                earlyCauses[id] = .superseded(key)
            } else {
                earlyCauses[id] = cause
            }
        }

        /// Removes a task that has ended.
        ///
        /// - Parameter effects: Receives the actions that must follow, such as the waiters to resume.
        /// - Returns: A key that must be released after the lock has been released; `nil` if there is none.
        mutating func finish(_ id: ID, _ effects: inout Machine.Effects) -> Key? {
            if !subjects.isEmpty {
                subjects[id] = nil
                subjects.shrinkIfMostlyEmpty()
            }
            if !earlyCauses.isEmpty {
                earlyCauses[id] = nil
                earlyCauses.shrinkIfMostlyEmpty()
            }
            return machine.finish(id, &effects)
        }

        /// Returns the cause of cancellation of the older tasks that a new task replaces when it begins.
        ///
        /// - Parameter id: The ID of the new task.
        func cause(ofReplacementBy id: ID) -> RecordedCause {
            // If the new task is not live, it was cancelled itself, and no other task is cancelled.
            guard machine.phase(of: id)?.isLive == true, let key = machine.key(of: id) else { return .known(.unknown) }
            return .superseded(key)
        }

        /// The largest number of tasks or keys for which one of the tables has memory allocated.
        var capacity: Int { max(machine.capacity, subjects.capacity, earlyCauses.capacity) }
    }
}

/// The functions that call the state machine under the lock, and that carry out the actions that follow from its
/// decisions after the lock has been released.
extension TaskRegistry {
    /// The actions that follow from a decision of the state machine, with data that can be read only under the lock.
    struct Outcome: ~Copyable {
        /// Whether `onChange` of the registry must be called, since the number of tasks has changed, or a task no longer
        /// waits, and the number or the keys of the tasks have been read before.
        var isNews = false
        /// The raw priority to which the task whose handle was attached by this decision must be escalated; 0 for none.
        var raisingTo: UInt8 = 0
        /// The actions that concern tasks other than the one that the decision adds, starts or ends; `nil` for most
        /// decisions, which have none.
        var consequences: Consequences?
    }

    /// The actions that follow from a decision of the state machine, and concern tasks other than the one that the
    /// decision adds, starts or ends: the waiters to resume, the tasks to cancel, and the interval to begin.
    final class Consequences {
        let waking: [Waiter]
        /// The tasks to cancel. Their handles are retained, since a task may end as soon as it is removed from the registry.
        let cancelling: [Job]
        /// The tasks that wait for the end of a debounce or throttle interval, and must be cancelled. No cause is
        /// recorded for them.
        let stopping: [Job]
        let interval: (id: Machine.IntervalID, time: Duration)?
        /// The number of tasks that the decision has cancelled.
        let retiredCount: Int
        /// The tasks that the decision has cancelled, for their events; `nil` if no observer is registered.
        let retired: Retired?

        /// Creates the actions from the lists of the state machine. Must be called under the lock, which keeps the
        /// timer tasks alive.
        ///
        /// - Parameters:
        ///   - lists: The lists of waiters, tasks and timers that the decision concerns.
        ///   - cancelling: The retained handles of the tasks to cancel.
        ///   - retired: The tasks that the decision has cancelled, for their events; `nil` if no observer is
        ///     registered.
        init(
            _ lists: Machine.Effects.Lists,
            _ cancelling: [Job],
            _ retired: Retired?
        ) {
            waking = lists.waking
            self.cancelling = cancelling
            stopping = lists.stopping.map(\.owned)
            interval = lists.interval
            retiredCount = lists.retired.count
            self.retired = retired
        }
    }

    /// Passes an event to the state machine under the lock, and collects the actions that follow.
    ///
    /// - Parameters:
    ///   - outcome: Receives the actions, which the caller must carry out. A parameter instead of a part of the result,
    ///     which would then be generic and slow to destroy.
    ///   - cause: Returns the cause of the cancellations that follow from the event. Called under the lock, after
    ///     `event`, and only if there are ``Consequences``: actions that concern tasks other than the one that the
    ///     event adds, starts or ends.
    ///   - event: Calls the state machine. Runs under the lock.
    /// - Returns: The value that `event` returns.
    @inline(__always)
    func decide<Value>(
        _ outcome: inout Outcome,
        cause: (Books) -> RecordedCause = { _ in .known(.unknown) },
        _ event: (inout Books, inout Machine.Effects) -> Value
    ) -> Value {
        state.withLock { books in
            var effects = Machine.Effects()
            let value = event(&books, &effects)
            outcome.isNews = books.isWatched && (effects.liveCountChange != 0 || effects.startsWaitingTask)
            outcome.raisingTo = effects.raisingTo
            if let lists = effects.lists { outcome.consequences = consequences(lists, &books, cause(books)) }
            return value
        }
    }

    @inline(never)
    private func consequences(
        _ lists: Machine.Effects.Lists,
        _ books: inout Books,
        _ cause: RecordedCause
    ) -> Consequences {
        suspectSerial.store(Int64(books.machine.suspectSerial))
        let cancelling = lists.cancelling.map(\.owned)
        // Under the lock, because the registered tasks are known not to have ended while it is held.
        for job in cancelling { CancellationCauses.record(cause, for: job.handle.address) }
        for id in lists.retired { books.remember(cause, of: id) }
        return Consequences(
            lists,
            cancelling,
            lists.retired.isEmpty ? nil : retired(lists.retired, books, cause)
        )
    }

    private func retired(_ ids: [ID], _ books: Books, _ cause: RecordedCause) -> Retired? {
        guard let moment = Diagnostics.moment else { return nil }
        let tasks = ids.compactMap { id -> (ID, TaskEvent.Identity)? in
            if let subject = books.subjects[id] { return (id, subject) }
            // A task that was sent through a `CancellableQueue` while no observer was registered has no subject here:
            // its identity is that in the underlying queue.
            return source.primitive == .cancellableQueue ? nil : (id, subject(id))
        }
        return Retired(moment: moment, tasks: tasks, cause: cause)
    }

    /// Carries out the actions of a decision, which are in `outcome`, after the lock has been released: resumes and
    /// cancels tasks, reports the number of tasks to observers of the owner, then calls `follow`, and last emits the
    /// events of the tasks that were cancelled.
    ///
    /// - Parameter follow: Carries out the other actions of the decision, and emits the event of the decision itself.
    /// - Returns: The value that `follow` returns.
    @inline(__always)
    func carryOut<Result>(_ outcome: borrowing Outcome, then follow: () -> Result) -> Result {
        carryOutFirst(outcome)
        let result = follow()
        carryOutLast(outcome)
        return result
    }

    /// Carries out the first part of the actions in `outcome`: resumes and cancels tasks, and reports the number of
    /// tasks to observers of the owner.
    @inline(__always)
    func carryOutFirst(_ outcome: borrowing Outcome) {
        if let consequences = outcome.consequences { carryOut(consequences) }
        if outcome.isNews { onChange?() }
    }

    /// Carries out the last part of the actions in `outcome`: emits the events of the tasks that were cancelled.
    @inline(__always)
    func carryOutLast(_ outcome: borrowing Outcome) {
        if let retired = outcome.consequences?.retired { emitCancelled(retired) }
    }

    @inline(never)
    private func carryOut(_ consequences: Consequences) {
        for waiter in consequences.waking { waiter.resume(returning: .reached) }
        for job in consequences.cancelling { job.cancel() }
        for timer in consequences.stopping { timer.cancel() }
        if let interval = consequences.interval { startTimer(interval.id, interval.time) }
    }

    /// Passes an event to the state machine under the lock, and carries out all actions that follow.
    ///
    /// - Parameters:
    ///   - cause: Returns the cause of the cancellations that follow from the event. Called under the lock, after
    ///     `event`, and only if there are ``Consequences``: actions that concern tasks other than the one that the
    ///     event adds, starts or ends.
    ///   - event: Calls the state machine. Runs under the lock.
    /// - Returns: The value that `event` returns.
    @inline(__always)
    func change<Value>(
        cause: (Books) -> RecordedCause = { _ in .known(.unknown) },
        _ event: (inout Books, inout Machine.Effects) -> Value
    ) -> Value {
        var outcome = Outcome()
        let value = decide(&outcome, cause: cause, event)
        return carryOut(outcome) { value }
    }
}

/// The events of a registry and its tasks.
extension TaskRegistry {
    /// Returns the identity that a task has in events, made from the ID of the task in this registry. Not for tasks
    /// that were registered with a `subject`, which is then their identity.
    func subject(_ id: ID) -> TaskEvent.Identity { TaskEvent.Identity(id.number, of: source.number) }

    /// Emits an event about the current task.
    ///
    /// - Parameters:
    ///   - kind: The name of the event.
    ///   - change: The effect of the event on the task.
    ///   - id: The ID of the task.
    ///   - delay: The length of the wait that begins with the event; `nil` if there is no such wait, or its length is
    ///     not known.
    @inline(__always)
    func emit(_ kind: TaskEvent.Kind, _ change: TaskEvent.Change, _ id: ID, delay: Duration? = nil) {
        Diagnostics.emit(isInside: true, source.event(kind, change, about: subject(id), delay: delay))
    }

    /// Emits the event that ends the current task: `completed` or `skipped`.
    ///
    /// - Parameters:
    ///   - id: The ID of the current task.
    ///   - hasRun: Whether the work of the task has run; otherwise the task was skipped.
    ///   - moment: The moment at which the task was removed from the registry; `nil` if no observer was registered
    ///     then.
    @inline(__always)
    func emitEnd(of id: ID, hasRun: Bool, at moment: EventMoment?) {
        Diagnostics.emit(
            at: moment,
            isInside: true,
            hasRun
                ? source.event(.completed, .ended(.completed), about: subject(id))
                : source.event(.skipped, .ended(.skipped), about: subject(id))
        )
    }

    /// The tasks that one change of the registry has cancelled, with the data of their `cancelled` events.
    struct Retired {
        let moment: EventMoment
        let tasks: [(id: ID, subject: TaskEvent.Identity)]
        let cause: RecordedCause
    }

    /// Emits a `cancelled` event for each task in `retired`.
    func emitCancelled(_ retired: Retired) {
        let detail = retired.cause.eventText
        for (id, subject) in retired.tasks {
            // Tasks of a lifetime that are not identified by their ID in this registry are `AsyncTask`s.
            let isAsyncTask = source.primitive == .asyncLifetime && subject != self.subject(id)
            Diagnostics.emit(
                at: retired.moment,
                TaskEvent(
                    isAsyncTask ? .asyncTask : source.primitive,
                    .cancelled,
                    owner: source.identity,
                    subject: subject,
                    ownerName: source.name,
                    detail: detail
                )
            )
        }
    }
}
