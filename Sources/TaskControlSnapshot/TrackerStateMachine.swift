@_spi(Observers) internal import TaskControl

/// The owners, and the tasks and calls (subjects), that currently exist according to the received events. Each event
/// begins, changes or ends a subject, or concerns an owner. A pure state machine: a value without a lock, task or
/// closure.
///
/// The event that begins a subject is received before its other events. An event about an unknown subject is late, or the subject began before the
/// observation: the event changes nothing. Events of different tasks may be received in another order than that in which they happened, which their
/// sequence numbers show.
struct TrackerStateMachine {
    typealias Identity = TaskEvent.Identity
    typealias TaskIdentity = TaskEvent.TaskIdentity

    struct Owner {
        let primitive: TaskEvent.Primitive
        let name: String?
        let since: Duration
        let order: UInt64
        /// Whether the event of the creation of the owner was received. If so, that of its deallocation will be
        /// received too.
        var wasCreated = false
        var isClosed = false
        var isPaused = false
        var isDeallocated = false
        var permitsOut = 0
        /// The total number of permits of a semaphore; `nil` if no event has contained it, or the owner is not a
        /// semaphore.
        var capacity: Int?
        var subjects: Set<Identity> = []
        /// The state of a circuit breaker that does not admit all calls; otherwise `nil`.
        var circuit: Circuit?
        /// The highest sequence number of the events about the state of the circuit breaker.
        var circuitOrder: UInt64 = 0
        var refusedCount = 0
        var lastRefusal: Duration?
    }

    struct Circuit {
        let isProbing: Bool
        let since: Duration
    }

    struct Subject {
        let primitive: TaskEvent.Primitive
        let order: UInt64
        let since: Duration
        /// The task in which the subject began; `nil` if the event did not contain it.
        let begunIn: TaskIdentity?
        var owner: Identity?
        var name: String?
        var key: String?
        var detail: String?
        var attempt: Int?
        var phase: TaskEvent.Phase
        var phaseSince: Duration
        /// The sequence number of the event with which the subject entered its phase.
        var phaseOrder: UInt64
        var delay: Duration?
        var cancelledAt: Duration?
        /// The cause of the cancellation as a text; `nil` if the subject was not cancelled, or the cause is unknown.
        var cause: String?
        var isDropped = false
        var isDrain = false
        /// Whether the subject waits for other subjects, and not only for a thread.
        var hasToWait = false
        /// The number of permits that the subject holds or waits for.
        var count = 1
        /// The task in which the subject waits or runs; `nil` if it is not known yet.
        var actsIn: TaskIdentity?
        /// The tasks that wait for the end of the subject.
        var callers: [TaskIdentity: Caller] = [:]
    }

    /// A task that waits for the end of a subject.
    struct Caller {
        /// The number of its waits.
        var count = 1
        let since: Duration
    }

    private(set) var owners: [Identity: Owner] = [:]
    private(set) var subjects: [Identity: Subject] = [:]
    private(set) var dropped = 0
    private(set) var omitted = 0
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    mutating func receive(_ event: TaskEvent) {
        guard let subject = event.subject else { return receiveOfOwner(event) }
        switch event.change {
        case .began: begin(subject, event)
        case .entered, .noted: goOn(subject, event)
        case .ended: end(subject, event)
        }
    }

    // MARK: Owners

    private mutating func receiveOfOwner(_ event: TaskEvent) {
        guard let owner = event.owner else { return }
        switch event.kind {
        case .created:
            enter(owner, event)
            owners[owner]?.wasCreated = true
            owners[owner]?.capacity = event.count
        case .closed: owners[owner]?.isClosed = true
        case .paused: owners[owner]?.isPaused = true
        case .resumed: owners[owner]?.isPaused = false
        case .deallocated:
            owners[owner]?.isDeallocated = true
            leaveIfOver(owner)
        // Permits that are acquired and released by independent calls.
        case .acquired: takePermits(event.count ?? 0, of: owner, event)
        case .released: takePermits(0 &- (event.count ?? 0), of: owner, event)
        case .callRefused: noteRefusal(by: owner, event)
        case .circuitOpened: setCircuit(Circuit(isProbing: false, since: event.time), of: owner, event)
        case .probing: setCircuit(Circuit(isProbing: true, since: event.time), of: owner, event)
        case .circuitClosed: setCircuit(nil, of: owner, event)
        default: break
        }
    }

    private mutating func enter(_ owner: Identity, _ event: TaskEvent) {
        guard owners[owner] == nil, owners.count < limit else { return }
        // An `AsyncTask` belongs to a lifetime.
        let primitive = event.primitive == .asyncTask ? .asyncLifetime : event.primitive
        owners[owner] = Owner(primitive: primitive, name: event.ownerName, since: event.time, order: event.sequence)
    }

    private mutating func takePermits(_ count: Int, of owner: Identity, _ event: TaskEvent) {
        enter(owner, event)
        // Other packages can emit events with any count, so the sum may overflow.
        owners[owner]?.permitsOut &+= count
        leaveIfOver(owner)
    }

    private mutating func noteRefusal(by owner: Identity, _ event: TaskEvent) {
        enter(owner, event)
        owners[owner]?.refusedCount &+= 1
        let last = owners[owner]?.lastRefusal
        owners[owner]?.lastRefusal = last.map { max($0, event.time) } ?? event.time
    }

    /// Sets the state of a circuit breaker. Changes are reported by different tasks, perhaps in another order: the
    /// change with the highest sequence number counts.
    ///
    /// - Parameters:
    ///   - circuit: The state; `nil` if the breaker is closed.
    ///   - owner: The identity of the breaker.
    ///   - event: The event that reports the change.
    private mutating func setCircuit(_ circuit: Circuit?, of owner: Identity, _ event: TaskEvent) {
        enter(owner, event)
        guard let order = owners[owner]?.circuitOrder, event.sequence >= order else { return }
        owners[owner]?.circuitOrder = event.sequence
        owners[owner]?.circuit = circuit
    }

    /// Removes an owner that has no subjects, if it was deallocated, or if its deallocation will not be received.
    private mutating func leaveIfOver(_ id: Identity) {
        guard let owner = owners[id], owner.subjects.isEmpty else { return }
        if owner.isDeallocated || !owner.wasCreated && owner.permitsOut == 0 { owners[id] = nil }
    }

    // MARK: Subjects

    private mutating func begin(_ id: Identity, _ event: TaskEvent) {
        guard subjects.count < limit, event.owner.map({ owners[$0] != nil || owners.count < limit }) ?? true else {
            omitted += 1
            return
        }
        var subject = Subject(
            primitive: event.primitive,
            order: event.sequence,
            since: event.time,
            begunIn: event.task,
            name: event.taskName,
            key: event.key,
            detail: event.detail,
            attempt: event.attempt,
            phase: event.phase ?? .running,
            phaseSince: event.time,
            phaseOrder: event.sequence
        )
        subject.isDrain = event.kind == .draining
        if event.primitive.isCall || subject.isDrain { subject.actsIn = event.task }
        if event.primitive.isAwaited, let task = event.task {
            subject.actsIn = nil
            subject.callers = [task: Caller(since: event.time)]
        }
        subject.hasToWait = event.kind == .waiting || subject.isDrain
        subject.count = event.count ?? 1
        subject.owner = event.owner
        subjects[id] = subject
        if let owner = event.owner { join(id, owner, event) }
    }

    private mutating func goOn(_ id: Identity, _ event: TaskEvent) {
        guard var subject = subjects.removeValue(forKey: id) else { return }
        defer { subjects[id] = subject }
        if let phase = event.phase, event.sequence >= subject.phaseOrder {
            subject.phaseOrder = event.sequence
            subject.hasToWait = event.kind == .waiting
            subject.phase = phase
            subject.phaseSince = event.time
            subject.delay = phase == .waiting ? event.delay : nil
            // A subject that waits or runs reports its task itself.
            subject.actsIn = event.task ?? subject.actsIn
        }
        subject.name = subject.name ?? event.taskName
        subject.attempt = event.attempt ?? subject.attempt
        switch event.kind {
        case .cancelled:
            if subject.cancelledAt == nil { subject.cause = event.detail }
            subject.cancelledAt = subject.cancelledAt ?? event.time
        case .dropped:
            dropped += 1
            subject.isDropped = true
            subject.cancelledAt = subject.cancelledAt ?? event.time
        case .boundToLifetime:
            leave(id, subject.owner)
            subject.owner = event.owner
            if let owner = event.owner { join(id, owner, event) }
        case .detached:
            leave(id, subject.owner)
            subject.owner = nil
        case .joined:
            if let task = event.task, subject.callers.count < limit {
                subject.callers[task, default: Caller(count: 0, since: event.time)].count += 1
            }
        case .left:
            if let task = event.task, let caller = subject.callers[task] {
                if caller.count > 1 { subject.callers[task]?.count -= 1 } else { subject.callers[task] = nil }
            }
        default: break
        }
    }

    private mutating func end(_ id: Identity, _ event: TaskEvent) {
        guard let subject = subjects.removeValue(forKey: id) else { return }
        leave(id, subject.owner)
        // A call of `acquire()` ends when it has its permits. From then on, no subject holds them.
        if event.kind == .acquired, let owner = event.owner { takePermits(event.count ?? 0, of: owner, event) }
    }

    private mutating func join(_ id: Identity, _ owner: Identity, _ event: TaskEvent) {
        enter(owner, event)
        owners[owner]?.subjects.insert(id)
    }

    private mutating func leave(_ id: Identity, _ owner: Identity?) {
        guard let owner else { return }
        owners[owner]?.subjects.remove(id)
        leaveIfOver(owner)
    }
}

// The kinds of `TaskControlResilience`, which a client that only looks at tasks does not build.
extension TaskEvent.Kind {
    fileprivate static var callRefused: Self { Self(rawValue: "callRefused") }
    fileprivate static var circuitOpened: Self { Self(rawValue: "circuitOpened") }
    fileprivate static var circuitClosed: Self { Self(rawValue: "circuitClosed") }
    fileprivate static var probing: Self { Self(rawValue: "probing") }
}
