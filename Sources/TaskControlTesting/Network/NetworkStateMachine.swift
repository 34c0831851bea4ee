/// The identity of one run of a node, from a start of the node to its crash. Each start of a node creates a new
/// incarnation.
struct Incarnation: Hashable {
    let node: Int
    let number: Int
}

/// A direction in which messages travel: from one node to another, identified by their indexes. `nil` stands for a
/// client that is not a node.
struct LinkID: Hashable {
    let from: Int?
    let to: Int?
}

/// A fault that happens to a node when the node is about to send a message, or uses its disk.
struct Strike: Hashable {
    enum Kind: Hashable {
        case crash, pause
    }

    let kind: Kind
    /// The number of messages and operations of the disk that the node performs normally before the fault happens.
    let spares: Int
}

/// The state of a network: which nodes run, which links are open, and which tasks (waiters, by their numbers) wait for a
/// change of which node. A pure state machine.
///
///            start             hasStarted            pause
///     down ────────▶ starting ────────────▶ running ────────▶ paused
///      ▲                │                    │   ▲              │  │
///      └─────crash──────┴────────crash───────┘   └───unpause────┘  │
///      └──────────────────────────crash───────────────────────────┘
///
/// Each start creates a new *incarnation* of the node, with the next number. Code of an earlier incarnation may still
/// run, but must have no effects: its ``Standing`` is `ended`.
///
/// Waiters are resumed when anything changes on their node, and then check again whether they can continue. Invariants,
/// checked after each step of the tests:
/// 1. At most one incarnation of a node has not ended.
/// 2. Each change of a node resumes all waiters of the node.
/// 3. `heal` opens every link, regardless of the faults before.
struct NetworkStateMachine {
    /// The state of an incarnation, which decides whether its code can have effects now.
    enum Standing: Hashable {
        case runs
        /// The node is paused, or has not finished its start-up: the code must wait.
        case held
        case ended
    }

    private enum Phase {
        case down, starting, running
    }

    private struct Node {
        var phase = Phase.down
        var isPaused = false
        /// The number of the latest start; 0 before the first start.
        var incarnation = 0
        var strike: (number: Int, strike: Strike, spared: Int)?
        var waiters: Set<Int> = []

        /// Removes and returns the waiters, in the order in which they were added.
        mutating func takeWaiters() -> [Int] {
            defer { waiters = [] }
            return waiters.sorted()
        }
    }

    private var nodes: [Node] = []
    private var nextWaiter = 0
    /// The number of strikes (see ``Strike``) that were registered so far.
    private var strikes = 0
    /// The partition: for each node that a group of the partition contains, by the index of the node, the number of the
    /// group. `nil` if there is no partition.
    private var groups: [Int: Int]?
    private var blocked: Set<LinkID> = []
    private var slowed: [LinkID: Double] = [:]

    var nodeCount: Int { nodes.count }

    // MARK: Nodes

    /// Adds a node, and returns its index.
    mutating func addNode() -> Int {
        nodes.append(Node())
        return nodes.count - 1
    }

    /// Starts the node with the given index: its start-up closure is called next. Returns the new incarnation; `nil` if
    /// the node is not down.
    mutating func start(_ node: Int) -> Incarnation? {
        guard nodes[node].phase == .down else { return nil }
        nodes[node].phase = .starting
        nodes[node].incarnation += 1
        return Incarnation(node: node, number: nodes[node].incarnation)
    }

    /// Notes that the start-up closure of an incarnation has returned.
    ///
    /// - Returns: The waiters to resume, which check again whether they can continue.
    mutating func hasStarted(_ incarnation: Incarnation) -> [Int] {
        // It may have crashed meanwhile, and even be starting again.
        guard isCurrent(incarnation) else { return [] }
        nodes[incarnation.node].phase = .running
        return nodes[incarnation.node].takeWaiters()
    }

    /// Crashes the node with the given index. Returns the waiters to resume; `nil` if the node was already down.
    mutating func crash(_ node: Int) -> [Int]? {
        guard nodes[node].phase != .down else { return nil }
        nodes[node].phase = .down
        nodes[node].isPaused = false
        return nodes[node].takeWaiters()
    }

    /// Pauses the node with the given index. Returns whether the node was paused by this call: `false` if it was
    /// already down or paused.
    mutating func pause(_ node: Int) -> Bool {
        guard nodes[node].phase != .down, !nodes[node].isPaused else { return false }
        nodes[node].isPaused = true
        return true
    }

    /// Ends the pause of the node with the given index. Returns the waiters to resume; `nil` if the node was not
    /// paused.
    mutating func unpause(_ node: Int) -> [Int]? {
        guard nodes[node].isPaused else { return nil }
        nodes[node].isPaused = false
        return nodes[node].takeWaiters()
    }

    /// Registers a fault that will happen when the node with the given index is about to send a message, or uses its disk. Returns the
    /// number of the registration, to pass to ``disarm(_:_:)``; `nil` if another fault is already registered for the
    /// node.
    mutating func arm(_ node: Int, _ strike: Strike) -> Int? {
        if nodes[node].strike != nil { return nil }
        strikes += 1
        nodes[node].strike = (strikes, strike, 0)
        return strikes
    }

    /// Removes a fault that ``arm(_:_:)`` has registered for the node with the given index. Returns whether the fault
    /// was removed: `false` if it has already happened.
    ///
    /// - Parameter number: The number that ``arm(_:_:)`` has returned.
    mutating func disarm(_ node: Int, _ number: Int) -> Bool {
        guard nodes[node].strike?.number == number else { return false }
        nodes[node].strike = nil
        return true
    }

    /// Notes that an incarnation is about to send a message, to begin an operation of its disk, or to end one.
    ///
    /// - Returns: The fault that happens to the node before it does so; `nil` if there is none.
    mutating func isAboutToAct(_ incarnation: Incarnation) -> Strike.Kind? {
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

    /// Notes that something outside this state machine has changed for the node with the given index, such as the
    /// node's clock.
    ///
    /// - Returns: The waiters of the node to resume, which check again whether they can continue.
    mutating func change(_ node: Int) -> [Int] {
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

    /// Adds a waiter for the next change of the node with the given index. Returns the waiter's number, which is never
    /// used again, to pass to ``leave(_:on:)``.
    mutating func enroll(on node: Int) -> Int {
        defer { nextWaiter += 1 }
        nodes[node].waiters.insert(nextWaiter)
        return nextWaiter
    }

    /// Removes the waiter for which ``enroll(on:)`` has returned the given number on the same node. Returns whether the
    /// waiter was removed: `false` if it was already resumed.
    mutating func leave(_ waiter: Int, on node: Int) -> Bool {
        nodes[node].waiters.remove(waiter) != nil
    }

    // MARK: Links

    /// Separates groups of nodes, given by their indexes, from each other. Replaces an earlier partition. Nodes that no
    /// group contains form one more group.
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

    /// Ends the partition, and makes all links open and as fast as before.
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

    /// Returns the incarnation of the node with the given index that receives a request, after the request has
    /// travelled over a link; or returns that the request is lost, because the node is down or the link is not open.
    func requestArrives(over link: LinkID, at node: Int) -> Arrival {
        guard isUp(node), isOpen(link) else { return .lost }
        return .reaches(Incarnation(node: node, number: nodes[node].incarnation))
    }

    /// Returns whether a reply that has travelled over a link reaches the sender of the request.
    ///
    /// - Parameter incarnation: The incarnation that has sent the request; `nil` for a client that is not a node.
    /// - Returns: `false` if the link is not open or the incarnation has ended.
    func replyArrives(over link: LinkID, at incarnation: Incarnation?) -> Bool {
        isOpen(link) && incarnation.map(isCurrent) ?? true
    }
}
