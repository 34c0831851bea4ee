/// A run of a node, from its start to its crash.
struct Incarnation: Hashable {
    let node: Int
    let number: Int
}

/// A direction between two nodes, by their indexes. `nil` is a client without a name.
struct LinkID: Hashable {
    let from: Int?
    let to: Int?
}

/// A fault that happens to a node when it sends a message.
struct Strike: Hashable {
    enum Kind: Hashable {
        case crash, pause
    }

    let kind: Kind
    /// The number of messages that leave the node before: the strike hits the next one.
    let spares: Int
}

/// Which nodes run, which links are open, and which tasks wait on which node. Pure.
///
///            start             hasStarted            pause
///     down ────────▶ starting ────────────▶ running ────────▶ paused
///      ▲                │                    │   ▲              │  │
///      └─────crash──────┴────────crash───────┘   └───unpause────┘  │
///      └──────────────────────────crash───────────────────────────┘
///
/// Each start makes a new *incarnation* of the node. Its processes are distinguished by that number: code of an earlier
/// incarnation that is still running has `ended`.
///
/// Waiters are notified that something has changed on their node, and look again. Invariants, checked after each step of
/// the tests:
/// 1. At most one incarnation of a node has not ended.
/// 2. No change of a node leaves a waiter behind that has not been notified.
/// 3. `heal` opens every link, whatever came before.
struct NetworkStateMachine<Waiter> {
    /// Whether code may act for an incarnation.
    enum Standing: Hashable {
        case runs
        /// Its node is paused, or has not finished its start-up.
        case held
        case ended
    }

    private enum Phase {
        case down, starting, running
    }

    private struct Node {
        var phase = Phase.down
        var isPaused = false
        /// Of the latest start; 0 before the first.
        var incarnation = 0
        var strike: (number: Int, strike: Strike, spared: Int)?
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0

        /// The waiters, in the order of their calls.
        mutating func takeWaiters() -> [Waiter] {
            defer { waiters = [:] }
            return waiters.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private var nodes: [Node] = []
    /// The number of strikes so far.
    private var strikes = 0
    /// The group of each node that a partition names; `nil`: there is no partition.
    private var groups: [Int: Int]?
    private var blocked: Set<LinkID> = []
    private var slowed: [LinkID: Double] = [:]

    var nodeCount: Int { nodes.count }

    // MARK: Nodes

    /// - Returns: The node's index.
    mutating func addNode() -> Int {
        nodes.append(Node())
        return nodes.count - 1
    }

    /// - Returns: The new incarnation; `nil`: the node is up.
    mutating func start(_ node: Int) -> Incarnation? {
        guard nodes[node].phase == .down else { return nil }
        nodes[node].phase = .starting
        nodes[node].incarnation += 1
        return Incarnation(node: node, number: nodes[node].incarnation)
    }

    /// The start-up of an incarnation has returned.
    ///
    /// - Returns: The waiters that should look again.
    mutating func hasStarted(_ incarnation: Incarnation) -> [Waiter] {
        // It may have crashed meanwhile, and even be starting again.
        guard isCurrent(incarnation) else { return [] }
        nodes[incarnation.node].phase = .running
        return nodes[incarnation.node].takeWaiters()
    }

    /// - Returns: The waiters that should look again; `nil`: the node was down.
    mutating func crash(_ node: Int) -> [Waiter]? {
        guard nodes[node].phase != .down else { return nil }
        nodes[node].phase = .down
        nodes[node].isPaused = false
        return nodes[node].takeWaiters()
    }

    /// - Returns: Whether the node was neither down nor paused.
    mutating func pause(_ node: Int) -> Bool {
        guard nodes[node].phase != .down, !nodes[node].isPaused else { return false }
        nodes[node].isPaused = true
        return true
    }

    /// - Returns: The waiters that should look again; `nil`: the node was not paused.
    mutating func unpause(_ node: Int) -> [Waiter]? {
        guard nodes[node].isPaused else { return nil }
        nodes[node].isPaused = false
        return nodes[node].takeWaiters()
    }

    /// - Returns: The number of the strike, for `disarm`; `nil`: the node is armed already.
    mutating func arm(_ node: Int, _ strike: Strike) -> Int? {
        if nodes[node].strike != nil { return nil }
        strikes += 1
        nodes[node].strike = (strikes, strike, 0)
        return strikes
    }

    /// - Returns: Whether the node was still armed with that strike: it has not failed because of it.
    mutating func disarm(_ node: Int, _ number: Int) -> Bool {
        guard nodes[node].strike?.number == number else { return false }
        nodes[node].strike = nil
        return true
    }

    /// An incarnation is about to send something.
    ///
    /// - Returns: The fault that happens to its node before.
    mutating func isAboutToSend(_ incarnation: Incarnation) -> Strike.Kind? {
        guard standing(of: incarnation) == .runs, let (_, strike, spared) = nodes[incarnation.node].strike else {
            return nil
        }
        if spared < strike.spares {
            nodes[incarnation.node].strike?.spared += 1
            return nil
        }
        nodes[incarnation.node].strike = nil
        return strike.kind
    }

    /// Something else has changed that waiters of a node depend on, such as its clock.
    ///
    /// - Returns: The waiters that should look again.
    mutating func change(_ node: Int) -> [Waiter] {
        nodes[node].takeWaiters()
    }

    func isUp(_ node: Int) -> Bool { nodes[node].phase != .down }

    func isPaused(_ node: Int) -> Bool { nodes[node].isPaused }

    func incarnation(of node: Int) -> Int { nodes[node].incarnation }

    func isCurrent(_ incarnation: Incarnation) -> Bool {
        isUp(incarnation.node) && nodes[incarnation.node].incarnation == incarnation.number
    }

    func standing(of incarnation: Incarnation) -> Standing {
        guard isCurrent(incarnation) else { return .ended }
        let node = nodes[incarnation.node]
        return node.isPaused || node.phase == .starting ? .held : .runs
    }

    // MARK: Waiting

    /// - Returns: The waiter's number, for `leave`.
    mutating func enroll(_ waiter: Waiter, on node: Int) -> Int {
        defer { nodes[node].nextWaiter += 1 }
        nodes[node].waiters[nodes[node].nextWaiter] = waiter
        return nodes[node].nextWaiter
    }

    /// Comes too late for a waiter that was notified to look again.
    mutating func leave(_ waiter: Int, on node: Int) -> Waiter? {
        nodes[node].waiters.removeValue(forKey: waiter)
    }

    // MARK: Links

    /// Separates groups of nodes from each other, instead of the partition before. Nodes that no group names are one
    /// more group.
    mutating func partition(_ groups: [[Int]]) {
        self.groups = [:]
        for (number, group) in groups.enumerated() {
            for node in group { self.groups![node] = number }
        }
    }

    mutating func block(_ link: LinkID) {
        blocked.insert(link)
    }

    mutating func slow(_ link: LinkID, by factor: Double) {
        slowed[link] = factor
    }

    /// Ends the partition, and all that is blocked or slow.
    mutating func heal() {
        groups = nil
        blocked = []
        slowed = [:]
    }

    func slowness(of link: LinkID) -> Double { slowed[link] ?? 1 }

    func isOpen(_ link: LinkID) -> Bool {
        guard let from = link.from, let to = link.to, from != to else { return true }
        if blocked.contains(link) { return false }
        guard let groups else { return true }
        return groups[from] == groups[to]
    }

    enum Arrival: Hashable {
        case reaches(Incarnation)
        case lost
    }

    /// A request arrives at a node, at the end of a link.
    func requestArrives(over link: LinkID, at node: Int) -> Arrival {
        guard isUp(node), isOpen(link) else { return .lost }
        return .reaches(Incarnation(node: node, number: nodes[node].incarnation))
    }

    /// A reply arrives, at the end of a link.
    ///
    /// - Parameter incarnation: The one that has asked; `nil`: a client without a name.
    /// - Returns: Whether it is heard.
    func replyArrives(over link: LinkID, at incarnation: Incarnation?) -> Bool {
        isOpen(link) && incarnation.map(isCurrent) ?? true
    }
}
