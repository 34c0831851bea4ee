internal import TaskControl

extension SnapshotBuilder {
    /// Returns the circles of subjects (tasks and calls) in which each waits for the next, and the last waits for the first: the deadlocks.
    func circles() -> [[Identity]] {
        var edges = Edges(self)
        for (id, subject) in ordered { edges.add(id, subject) }
        return edges.circles
    }

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
        }

        var circles: [[Identity]] {
            let identities = Dictionary(uniqueKeysWithValues: nodes.map { ($0.value, $0.key) })
            return graph.circles().map { $0.compactMap { identities[$0] } }
        }

        mutating func add(_ id: Identity, _ subject: Subject) {
            guard let own = nodes[id] else { return }
            if subject.primitive.isAwaited {
                for task in subject.callers.keys { graph.addEdge(from: node(of: task), to: own) }
            }
            // The subject has not begun, or ends by itself after a time.
            guard let task = subject.actsIn, !subject.primitive.traits.contains(.limited) else {
                return graph.free(own)
            }
            guard subject.phase == .waiting else { return graph.addEdge(from: own, to: node(of: task)) }
            graph.addEdge(from: node(of: task), to: own)
            if subject.isDrain {
                if let owner = subject.owner, let all = everybody(drainedBy: subject, of: owner) {
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

        private mutating func everybody(drainedBy drain: Subject, of owner: Identity) -> WaitGraph.Node? {
            let count = builder.drainedCount(by: drain, of: owner)
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
