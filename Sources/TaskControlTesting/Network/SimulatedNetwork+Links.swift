internal import TaskControl

extension SimulatedNetwork {
    /// Sets how one direction between two nodes behaves, instead of the latency and faults of the network.
    ///
    /// Messages that are already under way are not affected. ``heal()`` does not reset these settings.
    ///
    /// - Parameters:
    ///   - from: The name of the node that sends.
    ///   - to: The name of the node that receives.
    ///   - latency: The time that a request or a reply travels in this direction. `nil` for the latency of the network.
    ///   - faults: The faults of the requests in this direction; ``Faults/lostReplies`` is the probability for the replies to these
    ///     requests. `nil` for the faults of the network.
    public func setLink(
        from: String,
        to: String,
        latency: ClosedRange<Duration>? = nil,
        faults: Faults? = nil
    ) {
        insist(
            latency.map { $0.lowerBound >= .zero } ?? true,
            "SimulatedNetwork.setLink(latency: \(String(describing: latency))): nothing arrives before it is sent. Begin at zero or later."
        )
        storage.setLink(link(from, to), latency: latency, faults: faults)
    }

    /// Separates groups of nodes: messages between them are lost, as if a switch had failed. Replaces the partition before.
    ///
    /// A message is lost if the network is partitioned *when it would arrive*: a message that is under way when the partition begins is
    /// lost, unless it arrives after ``heal()``.
    ///
    /// ```swift
    /// network.partition(["a"], ["b", "c"])
    /// network.partition(["a"])                // the same: nodes that no group names are one more group
    /// ```
    ///
    /// Traps if a name is not that of a node, or in two groups.
    ///
    /// - Parameter groups: The names of the nodes of each group.
    public func partition(_ groups: [String]...) {
        let indexes = groups.map { $0.map(storage.index(of:)) }
        let all = indexes.joined()
        insist(
            Set(all).count == all.count,
            "SimulatedNetwork.partition(\(groups)): each node is in one group."
        )
        storage.partition(indexes)
    }

    /// Loses messages from one node to another, but not in the opposite direction: an asymmetric partition.
    ///
    /// A message is lost if the link is blocked when it would arrive. If only one direction is blocked, a request may be handled although
    /// its reply is lost.
    public func block(from: String, to: String) {
        storage.block(link(from, to))
    }

    /// Makes messages from one node to another slower by a factor, from the next message that is sent until ``heal()``.
    ///
    /// - Parameters:
    ///   - from: The name of the node that sends.
    ///   - to: The name of the node that receives.
    ///   - factor: The factor by which latencies are multiplied: zero or more.
    public func slow(from: String, to: String, by factor: Double) {
        insist(
            factor >= 0 && factor < .infinity,
            "SimulatedNetwork.slow(by: \(factor)): a latency is multiplied by zero or more."
        )
        storage.slow(link(from, to), by: factor)
    }

    /// Ends the partition, and opens every link that is blocked or slow. Nodes that are down or paused remain so.
    public func heal() {
        storage.heal()
    }

    private func link(_ from: String, _ to: String) -> LinkID {
        LinkID(from: storage.index(of: from), to: storage.index(of: to))
    }
}

extension NetworkStorage {
    func partition(_ groups: [[Int]]) {
        let names = with { state in
            state.machine.partition(groups)
            let named = Set(groups.joined())
            let rest = state.nodes.indices.filter { !named.contains($0) }
            return (groups + (rest.isEmpty ? [] : [rest])).map { group in group.map { state.nodes[$0].name } }
        }
        record(.partitioned(names))
    }

    func block(_ link: LinkID) {
        with { $0.machine.block(link) }
        if let (from, to) = names(of: link) { record(.blocked(from: from, to: to)) }
    }

    func slow(_ link: LinkID, by factor: Double) {
        with { $0.machine.slow(link, by: factor) }
        if let (from, to) = names(of: link) { record(.slowed(from: from, to: to, factor: factor)) }
    }

    func heal() {
        with { $0.machine.heal() }
        record(.healed)
    }

    private func names(of link: LinkID) -> (String, String)? {
        guard let from = link.from, let to = link.to else { return nil }
        return (name(of: from), name(of: to))
    }
}
