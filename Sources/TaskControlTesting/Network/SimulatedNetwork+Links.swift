internal import TaskControl

extension SimulatedNetwork {
    /// Sets the latency and the faults of messages from one node to another, in place of those of the network.
    ///
    /// Messages that are already under way are not affected. ``heal()`` does not reset these settings. Traps if there
    /// is no node named `from` or no node named `to`, or if a latency is negative.
    ///
    /// - Parameters:
    ///   - from: The name of the node that sends.
    ///   - to: The name of the node that receives.
    ///   - latency: The range of the travel times of requests and replies in this direction; `nil` for the latency of
    ///     the network.
    ///   - faults: The faults of the requests that `from` sends to `to`. The exception is ``Faults/lostReplies``: it
    ///     applies to the replies that `from` sends to `to`, which answer requests of `to`. `nil` for the faults of the
    ///     network.
    public func setLink(
        from: String,
        to: String,
        latency: ClosedRange<Duration>? = nil,
        faults: Faults? = nil
    ) {
        insist(
            latency.map { $0.lowerBound >= .zero } ?? true,
            "SimulatedNetwork.setLink(latency: \(String(describing: latency))): a latency must not be negative. Begin at zero or later."
        )
        storage.setLink(link(from, to), latency: latency, faults: faults)
    }

    /// Separates groups of nodes: messages between the groups are lost, as if a switch had failed, until ``heal()``.
    /// Replaces an earlier partition.
    ///
    /// A message is lost if the network is partitioned *when the message would arrive*: a message that is under way
    /// when the partition begins is lost too, unless it arrives after ``heal()``.
    ///
    /// ```swift
    /// network.partition(["a"], ["b", "c"])
    /// network.partition(["a"])                // the same: nodes that are in no group form one more group
    /// ```
    ///
    /// Traps if a group contains a name that no node has, or if a name is in two groups.
    ///
    /// - Parameter groups: The names of the nodes in each group.
    public func partition(_ groups: [String]...) {
        let indexes = groups.map { $0.map(storage.index(of:)) }
        let all = indexes.joined()
        insist(
            Set(all).count == all.count,
            "SimulatedNetwork.partition(\(groups)): a node is in more than one group. Put each node in one group."
        )
        storage.partition(indexes)
    }

    /// Blocks messages from the node named `from` to the node named `to`, but not in the opposite direction: an
    /// asymmetric partition. ``heal()`` ends the block.
    ///
    /// A message is lost if the direction is blocked when the message would arrive. If only one direction is blocked, a
    /// request can be handled although its reply is lost. Traps if there is no node named `from` or no node named `to`.
    public func block(from: String, to: String) {
        storage.block(link(from, to))
    }

    /// Multiplies the latencies of messages from one node to another by a factor, from now until ``heal()``. Replaces
    /// an earlier factor for these nodes. Messages that are already under way are not affected. Traps if there is no
    /// node named `from` or no node named `to`, or if the factor is negative or infinite.
    ///
    /// - Parameters:
    ///   - from: The name of the node that sends.
    ///   - to: The name of the node that receives.
    ///   - factor: The factor by which latencies are multiplied: zero or more.
    public func slow(from: String, to: String, by factor: Double) {
        insist(
            factor >= 0 && factor < .infinity,
            "SimulatedNetwork.slow(by: \(factor)): the factor must not be negative or infinite. Give a number of zero or more."
        )
        storage.slow(link(from, to), by: factor)
    }

    /// Ends the partition and all effects of ``block(from:to:)`` and ``slow(from:to:by:)``. Nodes that have crashed or
    /// are paused remain so.
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
