internal import TaskControl

extension SimulatedNetwork {
    /// A kind of fault that ``SimulatedNetwork/injectFaults(_:count:within:lasting:on:)`` injects.
    @nonexhaustive
    public enum InjectedFault: Sendable, Hashable, CaseIterable {
        /// The network is partitioned into two groups. In half of the cases, one of the groups is a single node.
        case partition
        /// Messages are lost from one node to another, from one node to all others, or from all others to one node.
        case blockedLink
        /// Messages from one node to another take 4 to 128 times as long.
        case slowLink
        /// A node crashes, and is restarted at the end of the fault.
        case crash
        /// A node is paused, and resumed at the end of the fault.
        case pause
    }

    /// Injects faults at times that the seed of the network decides, ends them, and returns when all of them have
    /// ended. Jepsen calls this a *nemesis*.
    ///
    /// Run the faults concurrently with the workload. When this function has returned, check the conditions that must hold once the network
    /// is healthy again:
    ///
    /// ```swift
    /// try await network.run {
    ///     async let faults: Void = network.injectFaults(count: 5, within: .seconds(30))
    ///     // … the workload
    ///     try await faults
    ///     // … each node answers
    /// }
    /// ```
    ///
    /// Returns at once if `kinds` or `victims` is empty, or if the network has no nodes. Traps if `count`, `window` or
    /// `lasting` is negative, or if `victims` contains a name that no node has.
    ///
    /// Faults can overlap. This function ends a partition, a blocked link or a slow link by calling ``heal()``, which
    /// also ends all other faults of these three kinds. When this function returns, the faults of links have ended, and
    /// each node that a fault has paused or crashed runs again. Messages that were lost remain lost.
    ///
    /// The seed decides the time at which a fault begins, and its duration. If the network was created in a simulation,
    /// the fault begins and ends at later points of the schedule, which the seed also decides.
    ///
    /// About half of the crashes and pauses do not begin at their time, but when the node is about to send one of its
    /// next four requests or replies, or before or after a ``Disk/sync()`` in their place, because faults at these moments
    /// find the most mistakes. Such a fault can begin after `window` is over. If the node does too little within the duration of the fault, the fault does not
    /// happen; if it happens, it lasts between one and two times its duration.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, this function injects no more faults, ends those that have begun, and throws.
    ///
    /// - Parameters:
    ///   - kinds: The kinds of the faults. By default all kinds.
    ///   - count: The number of faults to draw. A fault can have no effect, for example because its node is already
    ///     down.
    ///   - window: The time, counted from this call, within which the times of the faults are drawn: zero or more.
    ///   - lasting: The range from which the duration of each fault is drawn: zero or more.
    ///   - victims: The names of the nodes that can be crashed or paused. `nil`, the default, for all nodes.
    /// - Throws: `CancellationError` if the caller is cancelled, and no other error.
    public func injectFaults(
        _ kinds: Set<InjectedFault> = Set(InjectedFault.allCases),
        count: Int,
        within window: Duration,
        lasting: ClosedRange<Duration> = .milliseconds(50) ... .seconds(5),
        on victims: [String]? = nil
    ) async throws(CancellationError) {
        insist(
            window >= .zero && lasting.lowerBound >= .zero && count >= 0,
            "SimulatedNetwork.injectFaults: the number of faults, the time and the length must not be negative. Give zero or more."
        )
        let indexes = victims.map { $0.map(storage.index(of:)) }
        let (seed, nodes) = storage.with { ($0.rest.next(), $0.nodes.count) }
        // Not in the order of the set, which differs from process to process.
        let kinds = InjectedFault.allCases.filter(kinds.contains)
        let targets = indexes ?? Array(0..<nodes)
        guard !kinds.isEmpty, !targets.isEmpty else { return }
        let plan = FaultPlan(
            seed: seed,
            kinds: kinds,
            nodes: nodes,
            victims: targets,
            count: count,
            within: window,
            lasting: lasting
        )
        await withTaskGroup { group in
            for fault in plan.items where storage.happens() { group.addTask { await self.storage.inject(fault) } }
        }
        if Task.isCancelled { throw CancellationError() }
    }
}

extension NetworkStorage {
    /// The action with which a fault ends.
    private enum Remedy {
        case heal
        case start(Int)
        case resume(Int)
        /// Removes the fault with a given number (see ``Strike``), which happens when the node with the given index
        /// sends a message. If the fault has already happened, its effect is ended instead: the node is started or
        /// resumed.
        case disarm(Int, number: Int, Strike.Kind)
    }

    fileprivate func inject(_ fault: FaultPlan.Item) async {
        do { try await timeline.pause(for: fault.start) } catch { return }
        let begun = Locked<Remedy?>(nil)
        await atSomeMoment { [self] in
            let remedy = begin(fault.action)
            begun.withLock { $0 = remedy }
        }
        guard var remedy = begun.withLock({ $0 }) else { return }
        // Sleeps end at once if the caller is cancelled.
        try? await timeline.pause(for: fault.length)
        if case .disarm(let node, let number, let kind) = remedy {
            if with({ $0.machine.disarm(node, number) }) { return }
            // The fault has happened meanwhile, perhaps just now: let it last as long as others.
            try? await timeline.pause(for: fault.length)
            remedy = kind == .crash ? .start(node) : .resume(node)
        }
        await atSomeMoment { [self, remedy] in apply(remedy) }
    }

    /// Calls a closure at a later point of the simulation's schedule that the seed decides, and waits for this call.
    /// Outside a simulation, calls the closure at once. Also waits if the caller is cancelled, because a fault that
    /// begins late must still be ended.
    private func atSomeMoment(_ action: @escaping @Sendable () -> Void) async {
        guard let simulation else { return action() }
        let done = Gate()
        simulation.atAnyPoint(isFault: true) {
            action()
            done.open()
        }
        await done.waitIgnoringCancellation()
    }

    /// Begins a fault. Returns the action that ends it; `nil` if the fault changes nothing.
    private func begin(_ action: FaultPlan.Action) -> Remedy? {
        switch action {
        case .partition(let group): partition([group])
        case .block(let links): for link in links { block(link) }
        case .slow(let link, let factor): slow(link, by: factor)
        case .crash(let node): return crash(node) ? .start(node) : nil
        case .pause(let node): return pause(node) ? .resume(node) : nil
        case .strike(let node, let strike):
            return with { $0.machine.arm(node, strike) }.map { .disarm(node, number: $0, strike.kind) }
        }
        return .heal
    }

    private func apply(_ remedy: Remedy) {
        switch remedy {
        case .heal: heal()
        case .start(let node): start(node)
        case .resume(let node): resume(node)
        case .disarm(let node, let number, _): _ = with { $0.machine.disarm(node, number) }
        }
    }
}

extension SimulatedNetwork {
    /// The probabilities of the faults of a request, from 0 (never) to 1 (always). Whether a fault happens is drawn
    /// separately for each request and each kind of fault.
    ///
    /// ```swift
    /// let faults = SimulatedNetwork.Faults(errors: 0.1, lostReplies: 0.05)
    /// ```
    ///
    /// If several faults are drawn for one request, a lost request takes precedence over a lost connection, and a lost connection over a
    /// lost reply. A request that does not reach the server is not duplicated.
    public struct Faults: Sendable, Hashable {
        /// The probability that the connection is lost, so that the caller receives ``ConnectionLostError``: in half of the cases before
        /// the server receives the request, in the other half after the server has handled it.
        public let errors: Double
        /// The probability that the server never receives the request.
        public let lostRequests: Double
        /// The probability that the server receives the request, and the caller never receives a reply.
        public let lostReplies: Double
        /// The probability that the server receives the request twice.
        public let duplicates: Double
        /// The probability that a message (a request, a duplicate or a reply) takes ten times the longest latency of its link: so
        /// long that it meets whatever has happened meanwhile, such as a window of deduplication that is over. Real networks
        /// have such a tail of rare latencies; 0.05 is a good beginning.
        public let lateMessages: Double

        /// The faults of a reliable network: all probabilities are zero.
        public static let none = Faults()

        /// Creates a set of probabilities, each for the property with the same name. A fault whose probability is not
        /// given never happens. Traps if a probability is outside 0...1.
        public init(
            errors: Double = 0,
            lostRequests: Double = 0,
            lostReplies: Double = 0,
            duplicates: Double = 0,
            lateMessages: Double = 0
        ) {
            let named = [
                "errors": errors, "lostRequests": lostRequests, "lostReplies": lostReplies, "duplicates": duplicates,
                "lateMessages": lateMessages,
            ]
            for (name, probability) in named {
                insist(
                    (0...1).contains(probability),
                    "SimulatedNetwork.Faults(\(name): \(probability)): a probability is from 0 (never) to 1 (always)."
                )
            }
            self.errors = errors
            self.lostRequests = lostRequests
            self.lostReplies = lostReplies
            self.duplicates = duplicates
            self.lateMessages = lateMessages
        }
    }

    /// The error that a caller receives if the connection is lost. The error does not show whether the server has received the request.
    public struct ConnectionLostError: Error, Hashable, CustomStringConvertible {
        /// Creates the error, for a fake server that simulates lost connections.
        public init() {}

        /// A sentence that states that the connection was lost.
        public var description: String { "the simulated network lost the connection" }
    }
}

extension SimulatedNetwork {
    /// The behavior of a node's disk: how long it takes, what it loses in a crash, and how often it fails. The seed of the
    /// network decides each time.
    ///
    /// ```swift
    /// let disk = SimulatedNetwork.DiskFaults(latency: .milliseconds(1)...(.milliseconds(9)), losesUnsyncedWrites: true)
    /// ```
    public struct DiskFaults: Sendable, Hashable {
        /// The range from which the time of each ``SimulatedNetwork/Disk/sync()`` is drawn, evenly distributed.
        public let latency: ClosedRange<Duration>
        /// Whether a crash can lose writes that were not synced. If `false`, every write is durable at once.
        public let losesUnsyncedWrites: Bool
        /// The probability, from 0 to 1, that a write which a crash interrupts is torn: of a `[UInt8]` or a `String`, only
        /// a part remains that the seed decides, and any other value is gone, as if its checksum were wrong. In both cases,
        /// the earlier value is overwritten. Only writes that were not synced are torn.
        public let tornWrites: Double
        /// The probability, from 0 to 1, that ``SimulatedNetwork/Disk/sync()`` throws ``SimulatedNetwork/DiskError``. The
        /// writes before it can still be read, but no later sync makes them durable, as on Linux: write the values again.
        public let failedSyncs: Double

        /// A disk that takes no time, loses nothing, and never fails.
        public static let none = DiskFaults()

        /// Creates the behavior of a disk, with a value for each property of the same name. Traps if a latency is negative,
        /// or a probability is outside 0...1.
        public init(
            latency: ClosedRange<Duration> = .zero ... .zero,
            losesUnsyncedWrites: Bool = false,
            tornWrites: Double = 0,
            failedSyncs: Double = 0
        ) {
            insist(
                latency.lowerBound >= .zero,
                "SimulatedNetwork.DiskFaults(latency: \(latency)): a latency must not be negative."
            )
            for probability in [tornWrites, failedSyncs] {
                insist(
                    (0...1).contains(probability),
                    "SimulatedNetwork.DiskFaults: a probability is from 0 (never) to 1 (always), not \(probability)."
                )
            }
            self.latency = latency
            self.losesUnsyncedWrites = losesUnsyncedWrites
            self.tornWrites = tornWrites
            self.failedSyncs = failedSyncs
        }
    }

    /// The error that ``SimulatedNetwork/Disk/sync()`` throws if the seed decides that it fails: see ``DiskFaults``.
    public struct DiskError: Error, Hashable, CustomStringConvertible {
        /// A sentence that states what happened to the writes.
        public var description: String {
            "the disk could not make the writes durable: they can be read until the next crash, and must be made again"
        }
    }
}
