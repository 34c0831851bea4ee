/// The engine under every owner of tasks: locks, asks the state machine, unlocks, and only then acts.
///
/// The faces (`AsyncLifetime`, `TaskBag`, `IdentifiableTaskBag`, `TaskStore`) add names to it, not logic. A registry outlives its face for as
/// long as tasks of it run; the face's `deinit` shuts it.
final class TaskRegistry: Sendable {
    typealias Key = _ErasedKey
    typealias Job = RegisteredTask
    typealias Waiter = UnsafeContinuation<WaitOutcome, Never>
    typealias Machine = TaskRegistryStateMachine<Key, Job, Waiter>
    typealias ID = Machine.ID

    let state = Locked(Books())
    /// Called, without the lock, after the live count has changed, if anybody has ever asked what is live.
    let onChange: (@Sendable () -> Void)?

    /// Measures quiet times.
    let clock: any Clock<Duration>

    /// The owner that this is the engine of, as events know it.
    let source: EventSource

    var name: String? { source.name }

    init(
        _ face: TaskEvent.Primitive,
        name: String?,
        clock: any Clock<Duration> = ContinuousClock(),
        onChange: (@Sendable () -> Void)? = nil
    ) {
        source = EventSource(face, name: name)
        self.clock = clock
        self.onChange = onChange
        Diagnostics.emit(source.event(.created))
    }

    // MARK: Registering

    /// How a task is created.
    struct Making {
        var name: String?
        var priority: TaskPriority?
        /// Inherits nothing from its creator.
        var isDetached = false
    }

    /// Registers a new task, then creates it.
    ///
    /// - Parameter behavior: What happens to it and to the tasks of its key; ignored for a task without a key.
    func add<Work: OwnedWork>(
        key: Key? = nil,
        behavior: TaskStoreDuplicateKeyBehavior = .runConcurrently,
        _ making: Making,
        _ work: Work
    ) -> Machine.Registration<Task<Work.Success, Never>> {
        var outcome = Outcome()
        let registration = decide(&outcome) { books, effects in
            let registration = books.machine.add(
                key: key,
                behavior: behavior,
                isCancelled: { $0.isCancelled },
                &effects
            )
            if case .added(let id) = registration { Diagnostics.open(subject(id)) }
            return registration
        }
        return carryOut(outcome) {
            switch registration {
            case .added(let id):
                // Before observers are called: others wait for this task, in its lane or for its handle.
                let task = start(id, making, work)
                Diagnostics.emitBeginning(
                    source.event(
                        .added,
                        .began(.waiting),
                        about: subject(id),
                        taskName: making.name,
                        key: key?.text
                    )
                )
                return .added(task)
            case .existing(let id, let job):
                Diagnostics.emit(source.event(.duplicate, about: subject(id), key: key?.text))
                return .existing(id, job)
            case .refused:
                Diagnostics.emit(source.event(.refused, taskName: making.name, key: key?.text))
                return .refused
            }
        }
    }

    @inline(__always)
    private func start<Work: OwnedWork>(_ id: ID, _ making: Making, _ work: Work) -> Task<Work.Success, Never> {
        let body = RegisteredBody(registry: self, id: id, work: work)
        let task =
            making.isDetached
            ? spawnDetached(name: making.name, priority: making.priority, body)
            : spawn(name: making.name, priority: making.priority, isolatedTo: work.isolation, body)
        attach(id, Work.registered(task))
        return task
    }

    /// Attaches the handle of a task that has been created.
    func attach(_ id: ID, _ job: Job) {
        var outcome = Outcome()
        decide(&outcome) { $0.machine.attach(id, job: job, &$1) }
        let priority = outcome.effects.raisingTo
        if priority > 0 { TaskControl.raise([job.handle], to: TaskPriority(rawValue: priority)) }
        carryOut(outcome) {}
    }

    /// Registers a task that the caller is about to create. The caller attaches its handle, decides when it begins, and calls `finish`.
    ///
    /// - Parameter subject: What events know the task by, if not by its place here.
    /// - Returns: `nil` if the registry is closed.
    func reserve(subject: TaskEvent.Identity? = nil) -> ID? {
        change { books, effects in
            guard case .added(let id) = books.machine.insert(nil, &effects) else { return nil }
            if let subject { books.setSubject(subject, of: id) }
            return id
        }
    }

    /// Registers a task that has started already, and whose end its maker will report.
    ///
    /// - Parameters:
    ///   - subject: What events know the task by, if not by its place here.
    ///   - opens: Whether the caller goes on to emit the beginning of the task.
    ///   - refuse: Called if the registry is closed.
    /// - Returns: `nil` if the registry is closed, or another task has the key.
    func insert(
        _ task: _TaskHandle,
        key: Key? = nil,
        subject: TaskEvent.Identity? = nil,
        opens: Bool = false,
        ifClosed refuse: () -> Void
    ) -> ID? {
        let registration = change { books, effects in
            let registration = books.machine.insert(.plain(task), key: key, isCancelled: { $0.isCancelled }, &effects)
            if case .added(let id) = registration {
                if let subject { books.setSubject(subject, of: id) }
                if opens { Diagnostics.open(self.subject(id)) }
            }
            return registration
        }
        switch registration {
        case .added(let id):
            if task.isCancelled { cancel(id) }
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

    /// Registers a task of the user's, and watches for its end.
    ///
    /// - Parameters:
    ///   - end: Waits for the end of the task.
    ///   - refuse: Called if the registry is closed.
    func adopt(
        _ task: _TaskHandle,
        key: Key? = nil,
        end: @escaping @Sendable () async -> Void,
        ifClosed refuse: () -> Void = {}
    ) -> Bool {
        guard let id = insert(task, key: key, opens: true, ifClosed: refuse) else { return false }
        // A task that awaits another raises it to its own priority. Utility raises hardly any, and still runs soon on a busy system.
        _ = Task.detached(name: "TaskControl: waits for an adopted task", priority: .utility) { [self] in
            await end()
            let (moment, isCancelled) = (Diagnostics.moment, task.isCancelled)
            finish(id)
            Diagnostics.emit(
                at: moment,
                source.event(.completed, .ended(.completed), about: subject(id), isCancelled: isCancelled)
            )
        }
        Diagnostics.emitBeginning(source.event(.adopted, .began(.running), about: subject(id), key: key?.text))
        return true
    }

    /// Sets what events know a task by that has been inserted, if it has not finished.
    func setSubject(_ subject: TaskEvent.Identity, of id: ID) {
        state.withLock { $0.setSubject(subject, of: id) }
    }

    /// The task has ended, whatever its outcome. A second report, or a late one, has no effect.
    func finish(_ id: ID) {
        // The entry is released at the end of this call, and with it perhaps the last reference to the task and to its key.
        change { $0.finish(id, &$1) }
    }

    // MARK: Looking

    var liveCount: Int { look { $0.liveCount } }

    func isLive(_ key: Key) -> Bool { look { $0.isLive(key) } }

    var liveKeys: [Key] { look { $0.liveKeys } }

    private func look<Answer>(_ question: (Machine) -> Answer) -> Answer {
        state.withLock { books in
            books.isWatched = true
            return question(books.machine)
        }
    }

    /// Whether a task is registered, and was not cancelled.
    func isLive(_ id: ID) -> Bool { state.withLock { $0.machine.phase(of: id)?.isLive ?? false } }

    // MARK: Deciding and acting

    /// What must be done about an event, with what is known only under the lock.
    struct Outcome: ~Copyable {
        var effects = Machine.Effects()
        /// Whether the live count has changed, and anybody has ever asked for it.
        var isNews = false
        /// The tasks that were cancelled; `nil` if there are none, or if nobody observes.
        var retired: Retired?
    }

    /// - Parameter outcome: Receives what the caller must carry out. Not a part of the result, which would make it generic, and slow to destroy.
    @inline(__always)
    func decide<Value>(
        _ outcome: inout Outcome,
        _ event: (inout Books, inout Machine.Effects) -> Value
    ) -> Value {
        state.withLock { books in
            let value = event(&books, &outcome.effects)
            outcome.isNews = books.isWatched && outcome.effects.liveCountChange != 0
            if let lists = outcome.effects.lists { outcome.retired = retired(lists.retired, books) }
            return value
        }
    }

    @inline(__always)
    private func retired(_ ids: [ID], _ books: Books) -> Retired? {
        guard let moment = Diagnostics.moment else { return nil }
        let tasks = ids.compactMap { id -> (ID, TaskEvent.Identity)? in
            if let subject = books.subjects[id] { return (id, subject) }
            // A task that was sent through a group while nobody observed has no subject here: its queue has named it.
            return source.primitive == .cancellableQueue ? nil : (id, subject(id))
        }
        return Retired(moment: moment, tasks: tasks)
    }

    /// Carries the effects out with the lock free: resumes, cancels, calls the watcher of the live count, which may do anything, and last the
    /// observers.
    ///
    /// - Parameter follow: What else the decision entails. It emits the events of the decision itself, before those of the tasks that were
    ///   cancelled.
    @inline(__always)
    func carryOut<Result>(_ outcome: borrowing Outcome, then follow: () -> Result) -> Result {
        if let lists = outcome.effects.lists {
            for waiter in lists.waking { waiter.resume(returning: .reached) }
            for job in lists.cancelling { job.cancel() }
            if let interval = lists.interval { startTimer(interval.id, interval.time) }
        }
        if outcome.isNews { onChange?() }
        let result = follow()
        if let retired = outcome.retired { emitCancelled(retired) }
        return result
    }

    /// Decides about an event, and carries the effects out.
    @inline(__always)
    func change<Value>(_ event: (inout Books, inout Machine.Effects) -> Value) -> Value {
        var outcome = Outcome()
        let value = decide(&outcome, event)
        return carryOut(outcome) { value }
    }
}
