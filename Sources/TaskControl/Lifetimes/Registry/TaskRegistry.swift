// The engine of all owners, from the outside in:
//
//     AsyncLifetime, TaskStore, TaskSlot      the faces: functions, and no state of tasks
//     TaskRegistry                            the lock; `decide` asks the machine, `perform` acts
//       TaskRegistryStateMachine              the entries of all tasks, and which of them live, wait or have ended
//         Lane, LaneTable                     the entries of one key, oldest first
//         Limit                               the permits of an owner that limits its running tasks
//       RegisteredTask                        the handle of a task, to cancel it and to wait for it
//     OwnedBody, _DeliveryBody                what the task runs: wait to begin, work, remove the entry

/// The implementation of each type that owns tasks: asks a ``TaskRegistryStateMachine`` under a lock, and, after
/// unlocking, performs the effects of its decision.
///
/// The public types, such as `AsyncLifetime` and `TaskStore`, add functions, but no state of their tasks. The running
/// tasks retain the registry, so it can outlive the public object, whose `deinit` closes the registry.
final class TaskRegistry: Sendable {
    typealias Key = _ErasedKey
    typealias Job = RegisteredTask
    typealias Machine = TaskRegistryStateMachine
    typealias ID = Machine.ID
    typealias Effects = Machine.Effects

    let state: Locked<Books>
    /// Called without the lock after the number of live tasks, which have neither finished nor been cancelled, has
    /// changed, or the number of those that wait to start. Not called before `liveCount`, `liveKeys` or `isLive(_:)` of a key has been read; `nil` if the owner is
    /// not observable.
    let onChange: (@Sendable () -> Void)?

    /// The clock that measures the quiet times of the behavior `debounce`, and the intervals of the behavior
    /// `throttle`.
    let clock: any Clock<Duration>

    /// The owner of the tasks in this registry, such as an `AsyncLifetime`, from which the events of the registry come.
    let source: EventSource

    /// Whether the tasks that wait for a permit receive it in the order of their priorities.
    private let isOrdered: Bool

    /// The number of tasks that may wait; `nil` for any number.
    let bound: Machine.Bound?

    var name: String? { source.name }

    init(
        _ face: TaskEvent.Primitive,
        name: String?,
        limit: Int? = nil,
        isOrdered: Bool = false,
        bound: Machine.Bound? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        onChange: (@Sendable () -> Void)? = nil
    ) {
        source = EventSource(face, name: name)
        state = Locked(Books(machine: Machine(limit: limit, isOrdered: isOrdered, bound: bound)))
        self.isOrdered = isOrdered
        self.bound = bound
        self.clock = clock
        self.onChange = onChange
        source.emit(.created)
    }

    // MARK: Registering

    /// Registers a new task, and then creates it, if the present tasks of its key allow that.
    ///
    /// - Parameters:
    ///   - key: The key; `nil` for none.
    ///   - behavior: The rule for the new task and for the present tasks of the key. Ignored without a key.
    ///   - isDetached: Whether the task inherits neither isolation nor priority nor task-local values.
    ///   - mustFinish: Whether the task is cancelled only through its own handle. Ignored with a key.
    /// - Returns: The new task; the present task of the key, if `behavior` prefers it; `refused`, if the registry is
    ///   closed.
    @inline(__always)
    func add<Work: OwnedWork>(
        _ key: Key?,
        _ behavior: TaskStoreDuplicateKeyBehavior,
        _ name: String?,
        _ priority: TaskPriority?,
        isDetached: Bool = false,
        mustFinish: Bool = false,
        _ work: consuming Work
    ) -> Registration<Task<Work.Success, Never>> {
        var effects = Effects()
        let key = key?.described()
        let registration = enter(key, behavior, priority, mustFinish: mustFinish, &effects)
        // The task is created before observers are called, because other tasks may wait for it under its key, or for
        // its handle.
        let added: Registration<Task<Work.Success, Never>>
        switch registration {
        case .added(let id):
            let isolation = work.isolation
            let body = OwnedBody(registry: self, id: id, work: work)
            let task =
                isDetached
                ? spawnDetached(name: name, priority: priority, body)
                : spawn(name: name, priority: priority, isolatedTo: isolation, body)
            attach(id, RegisteredTask(handle: task.handle, isDelivery: Work.isDelivery), name: name)
            added = .added(task)
        case .existing(let id, let job): added = .existing(id, job)
        case .refused: added = .refused
        }
        emitEntered(registration, name, key)
        emitCancelled(effects)
        if case .added(let id) = registration { dropOneTooMany(id) }
        return added
    }

    /// Registers a task that is about to be created, if the present tasks of its key allow that, and performs the effects.
    /// The caller must then create and attach the task, if it was registered, and emit the events: `emitEntered`, and
    /// then `emitCancelled`.
    func enter(
        _ key: Key?,
        _ behavior: TaskStoreDuplicateKeyBehavior,
        _ priority: TaskPriority?,
        mustFinish: Bool = false,
        _ effects: inout Effects
    ) -> Registration<ID> {
        let level = isOrdered ? (priority ?? Task.currentPriority).rawValue : 0
        let registration = decide(&effects, cause: { $0.causeOfReplacement(under: key) }) {
            let registration = Registration(
                $0.add(
                    key: key,
                    behavior: behavior,
                    priority: level,
                    mustFinish: mustFinish,
                    isCancelled: { $0.task.isCancelled },
                    &$1
                )
            )
            if case .added(let id) = registration { Diagnostics.open(subject(id)) }
            return registration
        }
        perform(effects)
        return registration
    }

    /// Attaches the handle of a task that has been created. Cancels or escalates the task if that was requested while
    /// the task was being created.
    ///
    /// - Parameter name: The name of the task; `nil` if it has none.
    func attach(_ id: ID, _ job: Job, name: String? = nil) {
        var effects = Effects()
        decide(&effects, cause: { $0.cause(of: id) }) {
            $0.attach(id, job: job.word, &$1)
            if let name { $0.setName(name, of: id) }
        }
        if effects.raisingTo > 0 { TaskControl.raise([job.handle], to: TaskPriority(rawValue: effects.raisingTo)) }
        perform(effects)
    }

    /// Registers a task that the caller is about to create. The caller must attach the handle of the task, decides when
    /// the task begins, and must call `finish(_:)` when the task ends.
    ///
    /// - Parameter subject: The identity of the task in events; `nil` if the task is identified by its ID in this
    ///   registry.
    /// - Returns: The ID of the task; `nil` if the registry is closed.
    func reserve(subject: TaskEvent.Identity? = nil) -> ID? {
        change {
            if case .added(let id) = $0.insert(nil, subject: subject, &$1) { id } else { nil }
        }
    }

    /// Registers a task that has already started. The caller must call `finish(_:)` when the task ends, before it
    /// releases the task.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - key: The key; `nil` for none.
    ///   - behavior: The rule for the present tasks of the key, for a task whose value is of any type; `nil` for a task without
    ///     a value, which is not registered if its key has a task.
    ///   - subject: The identity of the task in events; `nil` if the task is identified by its ID in this registry.
    ///   - opens: Whether the caller will emit the event that reports the beginning of the task. If so, the other
    ///     events about the task are held back until then.
    ///   - refuse: Called if the registry is closed.
    /// - Returns: The ID of the task; `nil` if the registry is closed, or if another task has the key.
    func insert(
        _ task: _TaskHandle,
        key: Key? = nil,
        behavior: TaskStoreDuplicateKeyBehavior? = nil,
        subject: TaskEvent.Identity? = nil,
        opens: Bool = false,
        ifClosed refuse: () -> Void
    ) -> ID? {
        let registration = change(cause: { behavior == nil ? nil : $0.causeOfReplacement(under: key) }) {
            machine,
            effects in
            let registration = machine.insert(
                Word(task),
                key: key,
                behavior: behavior,
                subject: subject,
                isCancelled: { $0.task.isCancelled },
                &effects
            )
            if opens, case .added(let id) = registration { Diagnostics.open(self.subject(id)) }
            return registration
        }
        switch registration {
        case .added(let id):
            if task.isCancelled { cancel(id, because: .unknown) }
            return id
        case .existing(let id, _):
            source.emit(.duplicate, about: self.subject(id), key: key?.text)
            return nil
        case .refused:
            refuse()
            source.emit(.refused, key: key?.text)
            return nil
        }
    }

    /// Registers a task that code outside this library has created, and removes the task when it ends.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - key: The key; `nil` for none.
    ///   - behavior: The rule for the present tasks of the key: see `insert`.
    ///   - end: Waits for the end of the task.
    /// - Returns: Whether the task was registered: `false` if the registry is closed, which cancels the task, or if
    ///   another task has the key.
    func adopt(
        _ task: _TaskHandle,
        key: Key? = nil,
        behavior: TaskStoreDuplicateKeyBehavior? = nil,
        end: @escaping @Sendable () async -> Void
    ) -> Bool {
        let key = key?.described()
        guard let id = insert(task, key: key, behavior: behavior, opens: true, ifClosed: task.cancel) else {
            return false
        }
        // Awaiting a task escalates it to the priority of the awaiting task. Utility priority escalates few tasks, and
        // a task with it still runs soon on a busy system.
        _ = Task.detached(name: "TaskControl: waits for an adopted task", priority: .utility) { [self] in
            await end()
            let (moment, isCancelled) = (Diagnostics.moment, task.isCancelled)
            withExtendedLifetime(task) {
                finish(id)
                CancellationCauses.forget(task.address)
            }
            source.emit(.completed, .ended(.completed), about: subject(id), isCancelled: isCancelled, at: moment)
        }
        source.emitBeginning(.adopted, .running, of: subject(id), key: key?.text)
        return true
    }

    /// Sets the name of a registered task, unless it has finished.
    func setName(_ name: String, of id: ID) {
        state.withLock { $0.machine.setName(name, of: id) }
    }

    /// Sets the identity in events of a registered task, unless it has finished.
    func setSubject(_ subject: TaskEvent.Identity, of id: ID) {
        state.withLock { $0.machine.setSubject(subject, of: id) }
    }

    /// Removes a task that has ended or will never run. Has no effect if the task was removed before.
    @inline(__always)
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

    func look<Answer>(_ question: (Machine) -> Answer) -> Answer {
        state.withLock { books in
            books.isWatched = true
            return question(books.machine)
        }
    }

    /// Returns whether the current task, for which `reserve` was called, is registered and was not cancelled through this
    /// registry. Called by the task before its work begins. Attaches the handle of the task if that has not happened yet.
    ///
    /// - Parameter id: The ID of the current task, whose handle is `plain`.
    func isLive(_ id: ID) -> Bool {
        change { machine, effects in
            attachIfNeeded(id, isDelivery: false, &machine, &effects)
            return machine.beginReserved(id)
        }
    }
}

extension TaskRegistry {
    /// The outcome of a call that registers a task: that of the machine, with handles that are retained.
    enum Registration<Added> {
        case added(Added)
        /// The new task was not added, because that with the given ID and handle is preferred. The handle is `nil` while
        /// that task is being created.
        case existing(ID, Job?)
        case refused

        var isAdded: Bool { if case .added = self { true } else { false } }
    }

    /// The state that the lock of a registry protects: the state machine, and data that only the registry uses.
    struct Books {
        var machine: Machine
        /// Whether the number or the keys of the tasks have ever been read. Until then, changes need not be reported to observers of the owner.
        var isWatched = false
        /// The closures that were passed to `onEnd(_:)`. The key of each closure is a number that increases in the order of
        /// registration.
        var endHandlers = RareDictionary<UInt64, @Sendable (OwnerEnd) -> Void>()
    }

    /// Asks the state machine for a decision under the lock.
    ///
    /// - Parameters:
    ///   - effects: Receives the effects, which the caller must perform: `perform(_:)`, and after the event of the
    ///     decision itself, if there is one, `emitCancelled(_:)`. A parameter instead of a part of the result, which
    ///     would then be generic and slow to destroy.
    ///   - cause: Returns the cause of the cancellations; `nil` if it is unknown. Called under the lock, after `event`,
    ///     and only if the decision affects other tasks than the one that it adds, starts or ends. A key in the cause
    ///     must be the machine's copy.
    ///   - event: Calls the state machine. Runs under the lock.
    /// - Returns: The value that `event` returns.
    @inline(__always)
    func decide<Value>(
        _ effects: inout Effects,
        cause: (Machine) -> RecordedCause? = { _ in nil },
        _ event: (inout Machine, inout Effects) -> Value
    ) -> Value {
        decideInBooks(&effects, cause: cause) { event(&$0.machine, &$1) }
    }

    /// Does what ``decide(_:cause:_:)`` does, for an event that also reads or changes the rest of the books.
    @inline(__always)
    func decideInBooks<Value>(
        _ effects: inout Effects,
        cause: (Machine) -> RecordedCause?,
        _ event: (inout Books, inout Effects) -> Value
    ) -> Value {
        state.withLock { books in
            let value = event(&books, &effects)
            effects.isNews =
                books.isWatched
                && (effects.liveCountChange != 0 || effects.waitingCountChange != 0 || effects.startsWaitingTask)
            if let actions = effects.actions {
                prepare(actions, &books.machine, cause(books.machine) ?? .known(.unknown))
            }
            return value
        }
    }

    /// Records the cause of the cancellations, and stores in `actions` what can be read only under the lock.
    @inline(never)
    private func prepare(_ actions: Effects.Actions, _ machine: inout Machine, _ cause: RecordedCause) {
        actions.cause = cause
        // Under the lock, because the registered tasks are known not to have ended while it is held.
        actions.retainTasks(\.task)
        for target in actions.cancelling { CancellationCauses.record(cause, for: target.task!.address) }
        for id in actions.retired { machine.setCause(cause, of: id) }
        guard !actions.retired.isEmpty, let moment = Diagnostics.moment else { return }
        // A task that was sent through a `CancellableQueue` while no observer was registered has no subject here: its
        // identity is that in the underlying queue.
        let isQueue = source.primitive == .cancellableQueue
        let tasks = actions.retired.compactMap { id in
            (machine.subject(of: id) ?? (isQueue ? nil : subject(id))).map { (id, $0) }
        }
        actions.report = (moment, tasks)
    }

    /// Performs the effects of a decision after the lock has been released: resumes and cancels tasks, and reports the
    /// number of tasks to observers of the owner.
    @inline(__always)
    func perform(_ effects: borrowing Effects) {
        if let actions = effects.actions { perform(actions) }
        if effects.isNews { onChange?() }
    }

    @inline(never)
    private func perform(_ actions: Effects.Actions) {
        for waiter in actions.waking { waiter.resume(returning: .reached) }
        for target in actions.cancelling { target.task!.cancel() }
        for (target, priority) in actions.raising {
            TaskControl.raise([target.task!], to: TaskPriority(rawValue: priority))
        }
        for timer in actions.stopping { timer.task!.cancel() }
        if let interval = actions.interval { startTimer(interval.id, interval.time) }
    }

    /// Asks the state machine for a decision under the lock, and performs its effects.
    ///
    /// - Parameters:
    ///   - cause: Returns the cause of the cancellations: see `decide(_:cause:_:)`.
    ///   - event: Calls the state machine. Runs under the lock.
    /// - Returns: The value that `event` returns.
    @inline(__always)
    func change<Value>(
        cause: (Machine) -> RecordedCause? = { _ in nil },
        _ event: (inout Machine, inout Effects) -> Value
    ) -> Value {
        var effects = Effects()
        let value = decide(&effects, cause: cause, event)
        perform(effects)
        emitCancelled(effects)
        return value
    }
}

extension TaskRegistry.Machine {
    /// Returns the cause of cancellation of the tasks that a new task under a key replaces.
    fileprivate func causeOfReplacement(under key: Key?) -> RecordedCause? {
        key.flatMap { self.key(equalTo: $0) }.map { .superseded($0) }
    }

    /// Returns the cause of cancellation of the older tasks that a new task replaces when it begins; `nil` if the new
    /// task is not live: it was then cancelled itself, and no other task is cancelled.
    func causeOfReplacement(by id: ID) -> RecordedCause? {
        phase(of: id)?.isLive == true ? key(of: id).map { .superseded($0) } : nil
    }
}

extension TaskRegistry.Registration<TaskRegistry.ID> {
    /// Retains the handle of an existing task. Called under the lock, while the task has not ended.
    init(_ registration: TaskRegistry.Machine.Registration) {
        self =
            switch registration {
            case .added(let id): .added(id)
            case .existing(let id, let job): .existing(id, job.map(RegisteredTask.init))
            case .refused: .refused
            }
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
    @inline(__always)
    func emit(_ kind: TaskEvent.Kind, _ change: TaskEvent.Change, _ id: ID) {
        source.emit(kind, change, about: subject(id), isInside: true)
    }

    /// Emits that the current task begins to wait.
    ///
    /// - Parameters:
    ///   - id: The ID of the task.
    ///   - delay: The length of the wait; `nil` if it is not known.
    @inline(never)
    func emitWaiting(_ id: ID, for delay: Duration?) {
        source.emit(.waiting, .entered(.waiting), about: subject(id), delay: delay, isInside: true)
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
        source.emit(
            hasRun ? .completed : .skipped,
            .ended(hasRun ? .completed : .skipped),
            about: subject(id),
            at: moment,
            isInside: true
        )
    }

    /// Emits the event of a task that was registered by `enter`, or was rejected.
    @inline(__always)
    func emitEntered(_ registration: Registration<ID>, _ name: String?, _ key: Key?) {
        if !Diagnostics.isUnobserved { reportEntered(registration, name, key) }
    }

    @inline(never)
    private func reportEntered(_ registration: Registration<ID>, _ name: String?, _ key: Key?) {
        switch registration {
        case .added(let id):
            source.emitBeginning(.added, .waiting, of: subject(id), taskName: name, key: key?.text)
        case .existing(let id, _): source.emit(.duplicate, about: subject(id), key: key?.text)
        case .refused: source.emit(.refused, taskName: name, key: key?.text)
        }
    }

    /// Emits a `cancelled` event for each task that a decision has cancelled. Called after the event of the decision.
    @inline(__always)
    func emitCancelled(_ effects: borrowing Effects) {
        if let actions = effects.actions { emitCancelled(actions) }
    }

    @inline(never)
    private func emitCancelled(_ actions: Effects.Actions) {
        guard let (moment, tasks) = actions.report else { return }
        let detail = actions.cause.eventText
        for (id, subject) in tasks {
            // Tasks of a lifetime that are not identified by their ID in this registry are `AsyncTask`s.
            let isAsyncTask = source.primitive == .asyncLifetime && subject != self.subject(id)
            Diagnostics.emit(
                at: moment,
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
