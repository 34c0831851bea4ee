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

    private func everybodyFree() -> [Bool] {
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
