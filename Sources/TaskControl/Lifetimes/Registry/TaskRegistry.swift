/// The engine under every owner of tasks: locks, asks the state machine, unlocks, and only then acts.
///
/// The faces (`AsyncLifetime`, `TaskBag`, `IdentifiableTaskBag`, `TaskStore`) add names to it, not logic. A registry outlives its face for as
/// long as tasks of it run; the face's `deinit` shuts it.
final class TaskRegistry: Sendable {
    typealias Key = ErasedKey
    typealias Job = TaskHandle
    typealias Waiter = UnsafeContinuation<WaitOutcome, Never>
    typealias Machine = TaskRegistryStateMachine<Key, Job, Waiter>
    typealias ID = Machine.ID

    let state = Locked(Books())
    /// Called, without the lock, after the live count has changed, if anybody has ever asked what is live.
    let onChange: (@Sendable () -> Void)?

    /// Measures quiet times.
    let clock: any Clock<Duration>

    /// Whose engine it is, and what events know it by.
    let face: TaskEvent.Primitive
    let name: String?
    let number = Diagnostics.nextNumber()

    init(
        _ face: TaskEvent.Primitive,
        name: String?,
        clock: any Clock<Duration> = ContinuousClock(),
        onChange: (@Sendable () -> Void)? = nil
    ) {
        self.face = face
        self.name = name
        self.clock = clock
        self.onChange = onChange
        if Diagnostics.isOn { tell(.created) }
    }

    // MARK: Registering

    enum Placement {
        /// Made for this call.
        case added(Job)
        /// A task with the same key goes on in its place.
        case existing(Machine.Existing)
        /// The registry is closed.
        case refused

        var isAdded: Bool {
            if case .added = self { true } else { false }
        }
    }

    /// How a task is created.
    struct Making {
        var name: String?
        var priority: TaskPriority?
        /// Inherits nothing from its creator.
        var isDetached = false
    }

    /// Registers a new task without a key, then creates it.
    ///
    /// - Returns: `nil` if the registry is closed.
    func add(_ making: Making, _ operation: @escaping Operation) -> Job? {
        guard let id = change({ $0.machine.add() }) else {
            if Diagnostics.isOn { tell(.refused, taskName: making.name) }
            return nil
        }
        if Diagnostics.isOn { tell(.added, .begins, id, taskName: making.name) }
        return start(id, making, operation)
    }

    /// Registers a task that the caller is about to create. The caller attaches its handle, decides when it begins, and calls `finish`.
    ///
    /// - Parameter subject: What events know the task by, if not by its place here.
    /// - Returns: `nil` if the registry is closed.
    func reserve(subject: TaskEvent.Identity? = nil) -> ID? {
        change { books in
            let answer = books.machine.add(asksToBegin: false)
            if let subject, let id = answer.value { books.setSubject(subject, of: id) }
            return answer
        }
    }

    /// Registers a new task, then creates it.
    func add(
        key: Key,
        behavior: TaskStoreDuplicateKeyBehavior,
        _ making: Making,
        _ operation: @escaping Operation
    ) -> Placement {
        switch change({ $0.machine.add(key: key, behavior: behavior, isCancelled: { $0.isCancelled }) }) {
        case .added(let id):
            if Diagnostics.isOn { tell(.added, .begins, id, key: key, taskName: making.name) }
            return .added(start(id, making, operation))
        case .existing(let existing):
            if Diagnostics.isOn { tell(.duplicate, .goesOn, existing.id, key: key) }
            return .existing(existing)
        case .refused:
            if Diagnostics.isOn { tell(.refused, key: key, taskName: making.name) }
            return .refused
        }
    }

    private func start(_ id: ID, _ making: Making, _ operation: @escaping Operation) -> Job {
        let isolation = making.isDetached ? nil : operation.isolation
        let body = RegisteredBody(registry: self, id: id, operation: operation)
        let job =
            making.isDetached
            ? spawnDetached(name: making.name, priority: making.priority, body)
            : spawn(name: making.name, priority: making.priority, isolatedTo: isolation, body)
        attach(id, job)
        return job
    }

    /// Attaches the handle of a task that has been created.
    func attach(_ id: ID, _ job: Job) {
        let decision = decide { Machine.Answer(value: (), effects: $0.machine.attach(id, job: job)) }
        let priority = decision.effects.raisingTo
        if priority > 0 { raise([job], to: TaskPriority(rawValue: priority)) }
        carryOut(decision)
    }

    /// Registers a task that has started already, and whose end its maker will report.
    ///
    /// - Parameters:
    ///   - subject: What events know the task by, if not by its place here.
    ///   - isTold: Whether the registry tells of its life.
    /// - Returns: `nil` if it was refused.
    func insert(_ job: Job, key: Key? = nil, subject: TaskEvent.Identity? = nil, isTold: Bool = true) -> ID? {
        let registration = change { books in
            let answer = books.machine.insert(job, key: key, isCancelled: { $0.isCancelled })
            if let subject, case .added(let id) = answer.value { books.setSubject(subject, of: id) }
            return answer
        }
        switch registration {
        case .added(let id):
            if isTold, Diagnostics.isOn { tell(.adopted, .begins, id, key: key) }
            if job.isCancelled { cancel(id) }
            return id
        case .existing(let existing):
            if Diagnostics.isOn { tell(.duplicate, .goesOn, existing.id, key: key) }
            return nil
        case .refused:
            if Diagnostics.isOn { tell(.refused, key: key) }
            return nil
        }
    }

    /// Sets what events know a task by that has been inserted, if it has not finished.
    func setSubject(_ subject: TaskEvent.Identity, of id: ID) {
        state.withLock { $0.setSubject(subject, of: id) }
    }

    /// Registers a task of the user's, and watches for its end.
    func adopt(_ job: Job, key: Key? = nil) -> Bool {
        guard let id = insert(job, key: key) else { return false }
        // A task that awaits another raises it to its own priority. Utility raises hardly any, and still runs soon on a busy system.
        let body = WatchingBody(registry: self, id: id, job: job)
        _ = spawnDetached(name: "TaskControl: waits for an adopted task", priority: .utility, body)
        return true
    }

    /// The task has ended, whatever its outcome. A second report, or a late one, has no effect.
    func finish(_ id: ID) {
        // The entry is released at the end of this call, and with it perhaps the last reference to the task and to its key.
        change { $0.finish(id) }
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

    /// The decision about an event, with what is known only under the lock.
    struct Decision<Value> {
        let answer: Machine.Answer<Value>
        /// Whether the live count has changed, and anybody has ever asked for it.
        let isNews: Bool
        /// What events know the retired tasks by; `nil` if there are none, or if nobody observes.
        let retired: [TaskEvent.Identity]?

        var effects: Machine.Effects { answer.effects }
    }

    @inline(__always)
    func decide<Value>(_ event: (inout Books) -> Machine.Answer<Value>) -> Decision<Value> {
        let isTold = Diagnostics.isOn
        return state.withLock { books in
            let answer = event(&books)
            return Decision(
                answer: answer,
                isNews: books.isWatched && answer.effects.liveCountChange != 0,
                retired: isTold ? answer.effects.lists.map { $0.retired.map { books.subject(of: $0, in: self) } } : nil
            )
        }
    }

    /// Carries the effects out, with the lock free. Events are emitted first; whoever watches the live count is called last, because it may do
    /// anything.
    @inline(__always)
    func carryOut<Value>(_ decision: Decision<Value>) {
        if let lists = decision.effects.lists {
            if let retired = decision.retired { tellCancelled(lists.retired, as: retired) }
            for waiter in lists.waking { waiter.resume(returning: .reached) }
            for job in lists.cancelling { job.cancel() }
        }
        if decision.isNews { onChange?() }
    }

    /// Decides about an event, and carries the effects out.
    @inline(__always)
    func change<Value>(_ event: (inout Books) -> Machine.Answer<Value>) -> Value {
        let decision = decide(event)
        carryOut(decision)
        return decision.answer.value
    }

    @inline(__always)
    func change(_ event: (inout Books) -> Machine.Effects) {
        change { Machine.Answer(value: (), effects: event(&$0)) }
    }
}
