@_spi(Observers) internal import TaskControl

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
    /// The subjects of each owner, in the order in which they began.
    private var members: [Identity: [Identity]] = [:]
    /// The tasks of those owners for whose `drain()` a caller waits.
    var drained: [Identity: [Identity]] = [:]
    /// For each call of `drain()`, the number of the tasks in `drained` that began before it.
    private var drainedBefore: [Identity: Int] = [:]

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
        // Sorted without the subjects, which are large, so that the time of a snapshot grows with their number only.
        let order = books.subjects.map { (id: $0.key, order: $0.value.order) }.sorted { $0.order < $1.order }
        ordered = order.compactMap { entry in books.subjects[entry.id].map { (entry.id, $0) } }
        for (id, subject) in ordered {
            if let owner = subject.owner { members[owner, default: []].append(id) }
            if let task = subject.actsIn { actors[task, default: []].append(id) }
            if let lane = lane(of: subject), subject.phase == .running {
                running[lane, default: Running()].ids.append(id)
                // Other packages can emit events with any count, so the sum may overflow.
                running[lane, default: Running()].permitCount &+= subject.count
            }
        }
        let drains = Set(ordered.lazy.filter(\.subject.isDrain).compactMap(\.subject.owner))
        for (id, subject) in ordered {
            guard let owner = subject.owner, drains.contains(owner) else { continue }
            if subject.isDrain {
                drainedBefore[id] = drained[owner]?.count ?? 0
            } else {
                drained[owner, default: []].append(id)
            }
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
            isPaused: owner.isPaused,
            isDeallocated: owner.isDeallocated,
            permitsOut: owner.permitsOut,
            circuit: owner.circuit.map {
                $0.isProbing ? .halfOpen(for: age(since: $0.since)) : .open(for: age(since: $0.since))
            },
            refusedCount: owner.refusedCount,
            lastRefusalAge: owner.lastRefusal.map(age(since:)),
            entries: (members[id] ?? []).map { entry($0) }
        )
    }

    /// Returns the time from `begin` to the time of the snapshot; zero if `begin` is later, as is possible for an event
    /// of another thread.
    private func age(since begin: Duration) -> Duration { max(.zero, time - begin) }

    private func order(_ id: Identity) -> UInt64 { subject(id)?.order ?? .max }

    private func entry(_ id: Identity) -> TaskSnapshot.Entry {
        guard let subject = subject(id) else { preconditionFailure("The books do not change.") }
        let waitsFor = holders(of: id, subject) + (awaited[id] ?? []).prefix(Self.mostListed)
        return TaskSnapshot.Entry(
            id: id,
            primitive: subject.primitive,
            name: subject.name,
            key: subject.key,
            detail: subject.detail,
            begunIn: creator(of: id, subject),
            attempt: subject.attempt,
            phase: subject.phase,
            age: age(since: subject.since),
            phaseAge: age(since: subject.phaseSince),
            delay: subject.delay,
            cancelledAge: subject.cancelledAt.map(age(since:)),
            cancellationCause: subject.cause,
            waitsFor: Array(waitsFor.prefix(Self.mostListed)),
            waiterCount: subject.callers.values.reduce(0) { $0 + $1.count },
            calls: (calls[id] ?? []).map { entry($0) }
        )
    }

    /// Returns the subject in which another one began; `nil` if it has ended or is not known, or if it contains the other.
    private func creator(of id: Identity, _ subject: Subject) -> Identity? {
        guard !inner.contains(id), let task = subject.begunIn, let outer = innermost(in: task, before: subject.order),
            let creator = self.subject(outer)
        else { return nil }
        // A later task may have the same identity as the one in which the subject began.
        let acts = creator.primitive.runsInOwnTask && !creator.isDrain ? creator.phaseOrder : creator.order
        return acts < subject.order ? outer : nil
    }

    /// Returns the first subjects for which a subject waits, at most ``mostListed``: they run before it, hold a permit
    /// or a turn that it needs, or must end first.
    private func holders(of id: Identity, _ subject: Subject) -> ArraySlice<Identity> {
        if subject.isDrain, let owner = subject.owner {
            return (drained[owner] ?? []).prefix(min(Self.mostListed, drainedCount(by: id, subject, of: owner)))
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
    func drainedCount(by id: Identity, _ drain: Subject, of owner: Identity) -> Int {
        let isPartial = drain.primitive.traits.contains(.drainsEarlier)
        return isPartial ? drainedBefore[id] ?? 0 : drained[owner]?.count ?? 0
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

extension SnapshotBuilder {
    /// Returns the circles of subjects (tasks and calls) in which each waits for the next, and the last waits for the first: the deadlocks.
    func circles() -> [[Identity]] { Edges(self).circles }

    /// Returns the subjects (tasks and calls) that never continue: those in circles, and those that wait for them.
    func stuck() -> Set<Identity> { Edges(self).stuck }

    private struct Edges {
        private let builder: SnapshotBuilder
        private var graph = WaitGraph()
        private var nodes: [Identity: WaitGraph.Node] = [:]
        private var tasks: [TaskIdentity: WaitGraph.Node] = [:]
        /// The node for each lane (the subjects of an owner with the same key). It stands for any one of the subjects
        /// that run in the lane.
        private var lanes: [Lane: WaitGraph.Node] = [:]
        /// For each owner, the nodes that stand for its first task, its first two tasks, and so on, up to all of its tasks.
        private var drained: [Identity: [WaitGraph.Node]] = [:]

        init(_ builder: SnapshotBuilder) {
            self.builder = builder
            for (id, _) in builder.ordered { nodes[id] = graph.addNode() }
            for (id, subject) in builder.ordered { add(id, subject) }
        }

        var circles: [[Identity]] {
            let identities = Dictionary(uniqueKeysWithValues: nodes.map { ($0.value, $0.key) })
            return graph.circles().map { $0.compactMap { identities[$0] } }
        }

        var stuck: Set<Identity> {
            let isFree = graph.everybodyFree()
            return Set(nodes.lazy.filter { !isFree[$0.value] }.map(\.key))
        }

        private mutating func add(_ id: Identity, _ subject: Subject) {
            guard let own = nodes[id] else { return }
            if subject.primitive.isAwaited {
                for task in subject.callers.keys { graph.addEdge(from: node(of: task), to: own) }
            }
            // The subject has not begun.
            guard let task = subject.actsIn else { return graph.free(own) }
            // It ends by itself after a time, and with it what its task waits for.
            if subject.primitive.traits.contains(.limited) {
                graph.free(node(of: task))
                return graph.free(own)
            }
            guard subject.phase == .waiting else {
                return subject.primitive.traits.contains(.movable)
                    ? graph.free(own) : graph.addEdge(from: own, to: node(of: task))
            }
            graph.addEdge(from: node(of: task), to: own)
            if subject.isDrain {
                if let owner = subject.owner, let all = everybody(drainedBy: id, subject, of: owner) {
                    graph.addEdge(from: own, to: all)
                }
            } else if subject.hasToWait, let lane = builder.lane(of: subject), knowsAllHolders(of: lane, subject) {
                graph.addEdge(from: own, to: anybody(in: lane))
            } else {
                graph.free(own)
            }
        }

        private mutating func node(of task: TaskIdentity) -> WaitGraph.Node {
            if let node = tasks[task] { return node }
            let node = graph.addNode()
            tasks[task] = node
            return node
        }

        private mutating func anybody(in lane: Lane) -> WaitGraph.Node {
            if let node = lanes[lane] { return node }
            let node = graph.addNode(needsAll: false)
            for id in builder.running[lane]?.ids ?? [] { nodes[id].map { graph.addEdge(from: node, to: $0) } }
            lanes[lane] = node
            return node
        }

        private mutating func everybody(
            drainedBy id: Identity,
            _ drain: Subject,
            of owner: Identity
        ) -> WaitGraph.Node? {
            let count = builder.drainedCount(by: id, drain, of: owner)
            guard count > 0 else { return nil }
            if drained[owner] == nil {
                var firsts: [WaitGraph.Node] = []
                for id in builder.drained[owner] ?? [] {
                    let node = graph.addNode()
                    if let last = firsts.last { graph.addEdge(from: node, to: last) }
                    nodes[id].map { graph.addEdge(from: node, to: $0) }
                    firsts.append(node)
                }
                drained[owner] = firsts
            }
            return drained[owner]?[count - 1]
        }

        /// Returns whether all subjects that hold permits or turns of a lane are known. If not, an unknown holder could
        /// still release what the waiting `subject` needs, so a deadlock must not be reported.
        private func knowsAllHolders(of lane: Lane, _ subject: Subject) -> Bool {
            guard subject.primitive.traits.contains(.line), subject.delay == nil,
                let owner = builder.books.owners[lane.owner],
                owner.wasCreated, builder.books.omitted == 0
            else { return false }
            guard let capacity = owner.capacity else { return !subject.primitive.isCall }
            return owner.permitsOut == 0 && capacity == builder.running[lane]?.permitCount ?? 0
        }
    }
}

/// A graph of waits, which finds the nodes that never continue (deadlocks).
///
/// There are three kinds of nodes: Swift tasks, subjects, and groups of subjects. A subject is a task or call that
/// events are about, such as a task in a queue. A Swift task waits for the subjects that it awaits. A subject waits for
/// the Swift task in which it runs, or for a group. A group waits for one of its subjects, or for all of them.
///
/// A node that waits for nothing is free. A node that waits for one of several nodes is free if one of them is free; a
/// node that waits for all of them is free if all are free. The remaining nodes never continue: they are in a cycle, or
/// wait for a node in a cycle.
///
/// - Complexity: O(*n*) in the number of nodes and edges.
struct WaitGraph {
    typealias Node = Int

    private var targets: [[Node]] = []
    private var needsAll: [Bool] = []
    private var isFree: [Bool] = []

    /// Adds a node.
    ///
    /// - Parameter needsAll: Whether the node waits for all of its targets; otherwise it waits for one of them.
    mutating func addNode(needsAll: Bool = true) -> Node {
        targets.append([])
        self.needsAll.append(needsAll)
        isFree.append(false)
        return targets.count - 1
    }

    mutating func addEdge(from node: Node, to target: Node) { targets[node].append(target) }

    /// Marks a node as free, because something outside the graph can let it continue.
    mutating func free(_ node: Node) { isFree[node] = true }

    /// Returns the cycles among the nodes that never continue. Each cycle is returned once, in the order in which each
    /// node waits for the next.
    func circles() -> [[Node]] {
        let isFree = everybodyFree()
        // Walks from each node that never continues to another one for which it waits, and so on, until a node repeats.
        var walk = [Int](repeating: 0, count: targets.count)
        var circles: [[Node]] = []
        for start in targets.indices where !isFree[start] && walk[start] == 0 {
            var path: [Node] = []
            var node = start
            while walk[node] == 0 {
                walk[node] = start + 1
                path.append(node)
                guard let next = targets[node].first(where: { !isFree[$0] }) else {
                    preconditionFailure("a stuck node waits for another stuck node")
                }
                node = next
            }
            // A cycle that an earlier walk has found is not added again.
            if walk[node] == start + 1, let first = path.firstIndex(of: node) { circles.append(Array(path[first...])) }
        }
        return circles
    }

    /// Returns, for each node, whether it continues.
    func everybodyFree() -> [Bool] {
        var isFree = isFree
        var waiting = targets.indices.map { needsAll[$0] ? targets[$0].count : min(1, targets[$0].count) }
        var waiters = [[Node]](repeating: [], count: targets.count)
        for node in targets.indices {
            for target in targets[node] { waiters[target].append(node) }
        }
        var news = targets.indices.filter { isFree[$0] || waiting[$0] == 0 }
        for node in news { isFree[node] = true }
        while let node = news.popLast() {
            for waiter in waiters[node] where !isFree[waiter] {
                waiting[waiter] -= 1
                if waiting[waiter] <= 0 {
                    isFree[waiter] = true
                    news.append(waiter)
                }
            }
        }
        return isFree
    }
}
