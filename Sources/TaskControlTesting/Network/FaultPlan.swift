/// The faults that ``SimulatedNetwork/injectFaults(_:count:within:lasting:on:)`` injects: their kinds, times and targets. The seed alone
/// decides them.
///
/// Each fault draws the same number of random numbers, regardless of its kind, so that a change of one fault does not
/// change the others.
struct FaultPlan {
    enum Action: Hashable {
        /// Separates the nodes with the given indexes from all other nodes.
        case partition([Int])
        case block([LinkID])
        case slow(LinkID, factor: Double)
        case crash(Int)
        case pause(Int)
        /// Crashes or pauses the node with the given index when it is about to send a message: see ``Strike``.
        case strike(Int, Strike)
    }

    struct Item: Hashable {
        let start: Duration
        let length: Duration
        let action: Action
    }

    let items: [Item]

    /// Creates a plan with faults that are drawn from a seed.
    ///
    /// - Parameters:
    ///   - seed: The seed that decides the plan.
    ///   - kinds: The kinds of faults to draw from: at least one.
    ///   - nodes: The number of nodes: at least one.
    ///   - victims: The indexes of the nodes from which a crash or a pause draws its node: at least one.
    ///   - count: The number of faults.
    ///   - window: The time from the start of the plan in which faults begin.
    ///   - lasting: The range from which the duration of each fault is drawn.
    init(
        seed: UInt64,
        kinds: [SimulatedNetwork.InjectedFault],
        nodes: Int,
        victims: [Int],
        count: Int,
        within window: Duration,
        lasting: ClosedRange<Duration>
    ) {
        var generator = SeededGenerator(seed: seed)
        items = (0..<count).map { _ in
            let start = generator.duration(in: .zero...window)
            let length = generator.duration(in: lasting)
            let kind = kinds[generator.index(below: kinds.count)]
            let victim = victims[generator.index(below: victims.count)]
            let (node, distance) = (generator.index(below: nodes), generator.index(below: max(nodes - 1, 1)))
            let dice = generator.next()
            let other = (node + 1 + distance) % nodes
            let action: Action =
                switch kind {
                case .partition: .partition(Self.group(dice, node: node, of: nodes))
                case .blockedLink: .block(Self.links(dice, from: node, to: other, of: nodes))
                case .slowLink: .slow(.init(from: node, to: other), factor: Double(4 << (dice % 6)))
                case .crash:
                    dice & 1 == 1 ? .crash(victim) : .strike(victim, Strike(kind: .crash, spares: Int(dice >> 1 % 4)))
                case .pause:
                    dice & 1 == 1 ? .pause(victim) : .strike(victim, Strike(kind: .pause, spares: Int(dice >> 1 % 4)))
                }
            return Item(start: start, length: length, action: action)
        }
    }

    /// Returns the indexes of the nodes on one side of a partition: at least one node, and not all nodes unless there
    /// is only one. In half of the cases, the side is a single node.
    ///
    /// - Parameters:
    ///   - dice: A random number that decides the side.
    ///   - node: The index of the node that is the side in these cases.
    ///   - nodes: The number of nodes of the network.
    private static func group(_ dice: UInt64, node: Int, of nodes: Int) -> [Int] {
        let side = (0..<nodes).filter { dice >> (1 + UInt64($0) % 63) & 1 == 1 }
        return dice & 1 == 1 || side.isEmpty || side.count == nodes ? [node] : side
    }

    /// Returns the links to block: one link, all links to a node, or all links from a node.
    ///
    /// - Parameters:
    ///   - dice: A random number that decides which links are blocked.
    ///   - node: The index of the node at which all links begin or end, or at which the single link begins.
    ///   - other: The index of the node at which the single link ends.
    ///   - nodes: The number of nodes of the network.
    private static func links(
        _ dice: UInt64,
        from node: Int,
        to other: Int,
        of nodes: Int
    ) -> [LinkID] {
        let others = (0..<nodes).filter { $0 != node }
        return switch dice % 3 {
        case 0: [.init(from: node, to: other)]
        case 1: others.map { .init(from: $0, to: node) }
        default: others.map { .init(from: node, to: $0) }
        }
    }
}
