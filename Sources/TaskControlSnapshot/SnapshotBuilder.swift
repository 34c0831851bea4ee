internal import TaskControl

/// Creates a ``TaskSnapshot`` from the tasks and calls (subjects) that a tracker knows: finds which subject runs within which, and which waits for
/// which.
struct SnapshotBuilder {
    typealias Identity = TaskEvent.Identity
    typealias TaskIdentity = TaskEvent.TaskIdentity
    typealias Subject = TrackerStateMachine.Subject
    typealias Owner = TrackerStateMachine.Owner

    /// The maximum number of subjects in ``TaskSnapshot/Entry/waitsFor``.
    private static let mostListed = 8

    let books: TrackerStateMachine
    private let time: Duration
    /// All subjects, in the order in which they began.
    let ordered: [(id: Identity, subject: Subject)]
    /// The subjects that wait or run in each task, in the order in which they began: the last one is the innermost.
    private var actors: [TaskIdentity: [Identity]] = [:]
    /// For each subject, the calls without an owner that began in its task.
    private var calls: [Identity: [Identity]] = [:]
    /// For each subject, the subjects for which its task waits. Only the innermost subject of a task has an entry.
    private var awaited: [Identity: [Identity]] = [:]
    /// The running subjects of each lane.
    var running: [Lane: Running] = [:]
    private var inner: Set<Identity> = []
    /// The tasks of those owners for whose `drain()` a caller waits.
    var drained: [Identity: [Identity]] = [:]

    /// The tasks and calls of an owner that have the same key: only these can wait for each other.
    struct Lane: Hashable {
        let owner: Identity
        let key: String?
    }

    /// The subjects that run in a lane, in the order in which they began, and the number of permits that they hold.
    struct Running {
        var ids: [Identity] = []
        var permitCount = 0
    }

    /// Counts the subjects that were looked at, from which tests derive the complexity.
    final class Visits {
        private(set) var count = 0

        func add() { count += 1 }
    }

    let visits = Visits()

    init(_ books: TrackerStateMachine, at time: Duration) {
        self.books = books
        self.time = time
        ordered = books.subjects.sorted { $0.value.order < $1.value.order }.map { ($0.key, $0.value) }
        for (id, subject) in ordered {
            if let task = subject.actsIn { actors[task, default: []].append(id) }
            if let lane = lane(of: subject), subject.phase == .running {
                running[lane, default: Running()].ids.append(id)
                // Other packages can emit events with any count, so the sum may overflow.
                running[lane, default: Running()].permitCount &+= subject.count
            }
        }
        let drains = Set(ordered.lazy.filter(\.subject.isDrain).compactMap(\.subject.owner))
        for (id, subject) in ordered where !subject.isDrain {
            if let owner = subject.owner, drains.contains(owner) { drained[owner, default: []].append(id) }
        }
        for (id, subject) in ordered { nest(id, subject) }
    }

    func lane(of subject: Subject) -> Lane? { subject.owner.map { Lane(owner: $0, key: subject.key) } }

    private mutating func nest(_ id: Identity, _ subject: Subject) {
        if subject.owner == nil, subject.primitive.isCall, let task = subject.begunIn,
            let outer = innermost(in: task, before: subject.order)
        {
            inner.insert(id)
            calls[outer, default: []].append(id)
            return
        }
        for task in waiters(of: subject) {
            guard let outer = innermost(in: task, before: .max), outer != id else { continue }
            awaited[outer, default: []].append(id)
        }
    }

    /// Returns the tasks that wait until a subject ends or continues.
    private func waiters(of subject: Subject) -> [TaskIdentity] {
        if subject.primitive.isAwaited { return Array(subject.callers.keys) }
        // A subject that waits in the task of another subject: that other subject waits until it ends or continues.
        guard subject.phase == .waiting, let task = subject.actsIn, let outer = actors[task]?.first else { return [] }
        return order(outer) == subject.order ? [] : [task]
    }

    /// Returns the innermost subject of a task that began before a given moment, and that can contain other subjects.
    private func innermost(in task: TaskIdentity, before order: UInt64) -> Identity? {
        guard let actors = actors[task] else { return nil }
        return actors[..<begun(before: order, in: actors)].last { subject($0)?.isWaitingWithin == false }
    }

    /// Returns the number of the subjects in a list that began before a given moment.
    ///
    /// - Parameters:
    ///   - order: The moment, as the number of an event.
    ///   - ids: The subjects, in the order in which they began.
    /// - Complexity: O(log *n*).
    private func begun(before order: UInt64, in ids: [Identity]) -> Int {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if self.order(ids[middle]) < order { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func subject(_ id: Identity) -> Subject? {
        visits.add()
        return books.subjects[id]
    }

    // MARK: The snapshot

    func make() -> TaskSnapshot {
        let owners = books.owners.sorted { $0.value.order < $1.value.order }
        return TaskSnapshot(
            owners: owners.map { self.owner($0.key, $0.value) },
            others: ordered.filter { $0.subject.owner == nil && !inner.contains($0.id) }.map { entry($0.id) },
            warnings: warnings(),
            droppedCount: books.dropped,
            omittedCount: books.omitted,
            isTracking: true
        )
    }

    private func owner(_ id: Identity, _ owner: Owner) -> TaskSnapshot.Owner {
        TaskSnapshot.Owner(
            id: id,
            primitive: owner.primitive,
            name: owner.name,
            age: age(since: owner.since),
            isClosed: owner.isClosed,
            isDeallocated: owner.isDeallocated,
            permitsOut: owner.permitsOut,
            circuit: owner.circuit.map {
                $0.isProbing ? .halfOpen(for: age(since: $0.since)) : .open(for: age(since: $0.since))
            },
            refusedCount: owner.refusedCount,
            lastRefusalAge: owner.lastRefusal.map(age(since:)),
            entries: owner.subjects.sorted { order($0) < order($1) }.map { entry($0) }
        )
    }

    /// Returns the time from `begin` to the time of the snapshot; zero if `begin` is later, as is possible for an event
    /// of another thread.
    private func age(since begin: Duration) -> Duration { max(.zero, time - begin) }

    private func order(_ id: Identity) -> UInt64 { subject(id)?.order ?? .max }

    private func entry(_ id: Identity) -> TaskSnapshot.Entry {
        guard let subject = subject(id) else { preconditionFailure("The books do not change.") }
        let waitsFor = holders(of: subject) + (awaited[id] ?? []).prefix(Self.mostListed)
        return TaskSnapshot.Entry(
            id: id,
            primitive: subject.primitive,
            name: subject.name,
            key: subject.key,
            detail: subject.detail,
            attempt: subject.attempt,
            phase: subject.phase,
            age: age(since: subject.since),
            phaseAge: age(since: subject.phaseSince),
            delay: subject.delay,
            cancelledAge: subject.cancelledAt.map(age(since:)),
            cancellationCause: subject.cause,
            waitsFor: Array(waitsFor.prefix(Self.mostListed)),
            waiterCount: subject.callers.values.reduce(0, +),
            calls: (calls[id] ?? []).map { entry($0) }
        )
    }

    /// Returns the first subjects for which a subject waits, at most ``mostListed``: they run before it, hold a permit
    /// or a turn that it needs, or must end first.
    private func holders(of subject: Subject) -> ArraySlice<Identity> {
        if subject.isDrain, let owner = subject.owner {
            return (drained[owner] ?? []).prefix(min(Self.mostListed, drainedCount(by: subject, of: owner)))
        }
        guard subject.phase == .waiting, subject.hasToWait, subject.delay == nil,
            subject.primitive.traits.contains(.line),
            let lane = lane(of: subject), let running = running[lane]?.ids.prefix(Self.mostListed)
        else { return [] }
        // In a store, a task that was added later runs beside the earlier tasks, and blocks none of them.
        return subject.primitive.traits.contains(.overtaking)
            ? running.prefix { order($0) < subject.order } : running
    }

    /// Returns the number of the first tasks of an owner for which `drain`, a call of its `drain()`, waits. A queue
    /// drains the tasks that exist at the time of the call; other owners drain all of their tasks.
    func drainedCount(by drain: Subject, of owner: Identity) -> Int {
        let all = drained[owner] ?? []
        return drain.primitive.traits.contains(.drainsEarlier) ? begun(before: drain.order, in: all) : all.count
    }

    // MARK: What looks wrong

    private func warnings() -> [TaskSnapshot.Warning] {
        let cancelled = ordered.filter { $0.subject.phase == .running && $0.subject.primitive.isTask }
            .compactMap { entry in entry.subject.cancelledAt.map { (entry.id, since: age(since: $0)) } }
            .sorted { $0.since > $1.since }
        return circles().map { .waitsForItself($0) }
            + ordered.filter(\.subject.isDropped).map { .dropped($0.id) }
            + cancelled.map { .cancelledButRunning($0.0, since: $0.since) }
    }
}

extension TrackerStateMachine {
    func snapshot(at time: Duration) -> TaskSnapshot { SnapshotBuilder(self, at: time).make() }
}

extension TrackerStateMachine.Subject {
    /// Whether the subject is a call or a drain that waits: no other subject can then run within it.
    fileprivate var isWaitingWithin: Bool { phase == .waiting && (primitive.isCall || isDrain) }
}

extension TaskEvent.Primitive {
    /// Whether a subject (task or call) of the primitive runs in the task that begins it, at least at first.
    var isCall: Bool { traits.contains(.call) }

    /// Whether a subject (task or call) of the primitive runs in a separate task while the task that began it waits.
    var isAwaited: Bool { traits.contains(.awaited) }

    /// Whether a subject (task or call) of the primitive is a task that can be cancelled separately.
    fileprivate var isTask: Bool { !isCall || isAwaited && !traits.contains(.limited) }
}
