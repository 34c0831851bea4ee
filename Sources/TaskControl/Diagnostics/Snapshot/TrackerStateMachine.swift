/// What lives, as events tell of it: each begins a subject, changes it, or ends it, and so for the owners.
///
/// What is told of a subject that is not there is late, or of the time before, and changes nothing; but what others do to it on other threads may
/// be told a moment before its beginning, and is kept for that.
struct TrackerStateMachine {
    typealias Identity = TaskEvent.Identity
    typealias TaskIdentity = TaskEvent.TaskIdentity

    struct Owner {
        let primitive: TaskEvent.Primitive
        let name: String?
        let since: Duration
        let order: Int
        /// Whether its end will be told.
        var wasCreated = false
        var isClosed = false
        var isDeallocated = false
        var permitsOut = 0
        /// How many permits there are, if that was told.
        var capacity: Int?
        var subjects: Set<Identity> = []
    }

    struct Subject {
        let primitive: TaskEvent.Primitive
        let order: Int
        let since: Duration
        /// The task that it began in.
        let begunIn: TaskIdentity?
        var owner: Identity?
        var name: String?
        var key: String?
        var detail: String?
        var attempt: Int?
        var phase: TaskEvent.Phase
        var phaseSince: Duration
        var delay: Duration?
        var cancelledAt: Duration?
        var isDropped = false
        var isDrain = false
        /// Whether it waits for others, and not only for a thread.
        var hasToWait = false
        /// How many permits.
        var count = 1
        /// The task that it waits or runs in; `nil`: not known yet.
        var actsIn: TaskIdentity?
        /// The tasks that wait for its end, and how often each.
        var callers: [TaskIdentity: Int] = [:]
    }

    private(set) var owners: [Identity: Owner] = [:]
    private(set) var subjects: [Identity: Subject] = [:]
    private(set) var dropped = 0
    private(set) var omitted = 0
    private let limit: Int
    private var order = 0
    /// What was told of subjects that have not begun: the latest of it, since most of it is late.
    private var early: [TaskEvent] = []
    private static var mostEarly: Int { 32 }

    init(limit: Int) {
        self.limit = limit
    }

    mutating func receive(_ event: TaskEvent) {
        guard let subject = event.subject else { return receiveOfOwner(event) }
        switch event.stage {
        case .begins: begin(subject, event)
        case .goesOn: goOn(subject, event)
        case .ends: end(subject, event)
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
        case .deallocated:
            owners[owner]?.isDeallocated = true
            leaveIfOver(owner)
        // Permits that are got and given back by calls that know nothing of each other.
        case .acquired: takePermits(event.count ?? 0, of: owner, event)
        case .released: takePermits(-(event.count ?? 0), of: owner, event)
        default: break
        }
    }

    private mutating func enter(_ owner: Identity, _ event: TaskEvent) {
        guard owners[owner] == nil, owners.count < limit else { return }
        order += 1
        // What an `AsyncTask` belongs to is a lifetime.
        let primitive = event.primitive == .asyncTask ? .asyncLifetime : event.primitive
        owners[owner] = Owner(primitive: primitive, name: event.ownerName, since: event.time, order: order)
    }

    private mutating func takePermits(_ count: Int, of owner: Identity, _ event: TaskEvent) {
        enter(owner, event)
        owners[owner]?.permitsOut += count
        leaveIfOver(owner)
    }

    /// Whose end will not be told is there as long as something of it is.
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
        order += 1
        var subject = Subject(
            primitive: event.primitive,
            order: order,
            since: event.time,
            begunIn: event.task,
            name: event.taskName,
            key: event.key,
            detail: event.detail,
            attempt: event.attempt,
            phase: event.phase ?? .running,
            phaseSince: event.time
        )
        subject.isDrain = event.kind == .draining
        if event.primitive.isCall || subject.isDrain { subject.actsIn = event.task }
        if event.primitive.isAwaited, let task = event.task {
            subject.actsIn = nil
            subject.callers = [task: 1]
        }
        subject.hasToWait = event.kind == .waiting || subject.isDrain
        subject.count = event.count ?? 1
        subject.owner = event.owner
        subjects[id] = subject
        if let owner = event.owner { join(id, owner, event) }
        catchUp(with: id)
    }

    private mutating func catchUp(with id: Identity) {
        guard !early.isEmpty else { return }
        let own = early.filter { $0.subject == id }
        guard !own.isEmpty else { return }
        early.removeAll { $0.subject == id }
        for event in own { goOn(id, event) }
    }

    private mutating func keepEarly(_ event: TaskEvent) {
        guard [.joined, .cancelled, .boundToLifetime].contains(event.kind) else { return }
        if early.count == Self.mostEarly { early.removeFirst() }
        early.append(event)
    }

    private mutating func goOn(_ id: Identity, _ event: TaskEvent) {
        guard var subject = subjects.removeValue(forKey: id) else { return keepEarly(event) }
        defer { subjects[id] = subject }
        if let phase = event.phase {
            subject.hasToWait = event.kind == .waiting
            subject.phase = phase
            subject.phaseSince = event.time
            subject.delay = phase == .waiting ? event.delay : nil
            // What waits or runs says so itself.
            subject.actsIn = event.task ?? subject.actsIn
        }
        subject.name = subject.name ?? event.taskName
        subject.attempt = event.attempt ?? subject.attempt
        switch event.kind {
        case .cancelled: subject.cancelledAt = subject.cancelledAt ?? event.time
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
            if let task = event.task, subject.callers.count < limit { subject.callers[task, default: 0] += 1 }
        case .left:
            if let task = event.task, let count = subject.callers[task] {
                subject.callers[task] = count > 1 ? count - 1 : nil
            }
        default: break
        }
    }

    private mutating func end(_ id: Identity, _ event: TaskEvent) {
        guard let subject = subjects.removeValue(forKey: id) else { return }
        leave(id, subject.owner)
        // A bare call has got its permits: they are nobody's from now on.
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
