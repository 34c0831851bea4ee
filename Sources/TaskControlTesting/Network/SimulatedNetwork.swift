internal import TaskControl

/// A simulated network whose latencies and faults are decided by a seed. It connects named nodes, or a client with a server that is a
/// closure.
///
/// The simplest use is a client whose server is a closure:
///
/// ```swift
/// let network = SimulatedNetwork(
///     seed: 7,
///     clock: TestClock(advancesAutomatically: true),
///     latency: .milliseconds(5) ... .milliseconds(80),
///     faults: .init(errors: 0.1, lostReplies: 0.05, duplicates: 0.05)
/// )
/// let balance = try await network.send(Deposit(id: 1, amount: 5)) { try await bank.handle($0) }
/// ```
///
/// To test a distributed system, add nodes. Each node has a name, a start-up closure that is called again after each crash, a disk that
/// survives crashes, and a clock that may drift. The test partitions the network, and crashes and pauses nodes, or calls
/// ``injectFaults(_:count:within:lasting:on:)``, which does so at times that the seed decides. (Jepsen calls this a *nemesis*; FoundationDB
/// and Antithesis call it *fault injection*.)
///
/// ```swift
/// struct Increment: SimulatedNetwork.Request { typealias Reply = Int }
///
/// try simulate(seeds: 0..<1_000) { sim in
///     let network = SimulatedNetwork(in: sim, latency: .milliseconds(1) ... .milliseconds(20))
///     network.addNode("server") { process in
///         process.handle(Increment.self) { _ in
///             let count = (process.disk.read("count") ?? 0) + 1
///             process.disk.write(count, for: "count")
///             return count
///         }
///     }
///     network.addNode("client") { process in
///         process.addTask {
///             let count = try await process.send(Increment(), to: "server")
///             process.disk.write(count, for: "seen")
///         }
///     }
///     try await network.run {
///         try await network.injectFaults([.partition, .crash], count: 3, within: .seconds(5))
///         // The network is healed here: check the conditions that must hold in the end.
///     }
/// }
/// ```
///
/// ## Ordering
/// The latencies and faults of a request are drawn when the request is sent: with the same seed, the same sequence of `send` calls has the
/// same latencies and faults. Requests overtake each other according to their latencies.
public final class SimulatedNetwork: Sendable {
    let storage: NetworkStorage
    private let clockRates: ClosedRange<Double>
    /// The negated number of requests that are under way or being handled: ``drain()`` waits until it is zero.
    var rest: Level<Int> { storage.rest }
    /// The gate at which callers wait whose request or reply was lost. Only the end of the network opens it.
    let neverAnswered = Gate()

    /// Creates a network whose latencies and faults a seed decides.
    ///
    /// Traps if a latency is negative, or a clock rate is not positive.
    ///
    /// - Parameters:
    ///   - seed: The seed that decides the latencies, the faults and the clock rates.
    ///   - clock: The network's clock: it measures latencies, and the clocks of nodes drift relative to it.
    ///   - latency: The range from which the travel time of each request and each reply is drawn, evenly distributed: zero or more. With
    ///     the default of `.zero ... .zero`, messages arrive at once, without a sleep.
    ///   - faults: The probabilities of faults.
    ///   - clockRates: The range from which the rate of each node's clock is drawn: the number of seconds that the
    ///     node's clock advances per second of `clock`. By default 1, so that no clock drifts.
    public convenience init(
        seed: UInt64,
        clock: any Clock<Duration> = ContinuousClock(),
        latency: ClosedRange<Duration> = .zero ... .zero,
        faults: Faults = .none,
        clockRates: ClosedRange<Double> = 1...1
    ) {
        self.init(seed, clock, latency, faults, clockRates, nil)
    }

    /// Creates a network inside a simulation. The network uses the simulation's virtual time, and its seed is derived from the simulation's
    /// seed.
    ///
    /// Each ``Event`` of the network is added to the steps of the simulation's schedule as a note. Faults of
    /// ``injectFaults(_:count:within:lasting:on:)`` begin and end at points of the schedule that the seed decides.
    /// Traps if a latency is negative, or a clock rate is not positive.
    ///
    /// - Parameters:
    ///   - simulation: The simulation in whose body the network is used.
    ///   - latency: The range from which the travel time of each request and each reply is drawn, evenly distributed: zero or more.
    ///   - faults: The probabilities of faults.
    ///   - clockRates: The range from which the rate of each node's clock is drawn: the number of seconds that the
    ///     node's clock advances per second of virtual time. By default 1, so that no clock drifts.
    public convenience init(
        in simulation: Simulation,
        latency: ClosedRange<Duration> = .zero ... .zero,
        faults: Faults = .none,
        clockRates: ClosedRange<Double> = 1...1
    ) {
        self.init(simulation.drawSeed(), ContinuousClock(), latency, faults, clockRates, simulation)
    }

    private init(
        _ seed: UInt64,
        _ clock: any Clock<Duration>,
        _ latency: ClosedRange<Duration>,
        _ faults: Faults,
        _ clockRates: ClosedRange<Double>,
        _ simulation: Simulation?
    ) {
        Self.insistOnRates(clockRates)
        self.clockRates = clockRates
        storage = NetworkStorage(seed: seed, clock: clock, latency: latency, faults: faults, simulation: simulation)
    }

    static func insistOnRates(_ rates: ClosedRange<Double>) {
        insist(
            rates.lowerBound > 0 && rates.upperBound < .infinity,
            "A clock of a simulated network runs at a positive rate, such as 0.9 or 1.1, not at \(rates)."
        )
    }

    /// The numbers of requests and replies so far, all read at the same time.
    public var counts: Counts { storage.with(\.counts) }

    /// The events of the network so far, in the order in which they happened. ``Event`` lists what is recorded. The
    /// network keeps all events.
    public var events: [Event] { storage.with(\.events) }

    /// Waits until no request, including duplicates, is on its way to a server or being handled.
    ///
    /// When this function returns, replies may still be under way. Lost requests do not count as on their way.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, this function throws at once. Messages under way continue.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled.
    public func drain() async throws(CancellationError) {
        try await rest.wait(for: 0)
    }
}

// MARK: - Nodes

extension SimulatedNetwork {
    /// Adds a node. The node starts when ``run(_:)`` is called; if ``run(_:)`` is already running, the node starts at
    /// once. A node that is added after ``run(_:)`` has returned never starts.
    ///
    /// Traps if there is already a node with that name.
    ///
    /// - Parameters:
    ///   - name: The name of the node, to which requests are sent.
    ///   - losesUnsyncedWrites: If `true`, a crash can lose writes to the node's disk that were not synced: the seed
    ///     decides for each of them whether it is kept. If `false`, the default, every write is durable at once.
    ///   - startup: Called at each start of the node, with the process that begins. The closure registers handlers and
    ///     starts tasks. Before the closure has returned, the process receives no message, and none of its sleeps ends.
    ///     Variables in the closure are the node's volatile memory.
    /// - Returns: The node.
    @discardableResult
    public func addNode(
        _ name: String,
        losesUnsyncedWrites: Bool = false,
        _ startup: @escaping @Sendable (Process) -> Void
    ) -> Node {
        Node(
            network: storage,
            index: storage.addNode(
                name,
                clockRates: clockRates,
                disk: DiskFaults(losesUnsyncedWrites: losesUnsyncedWrites),
                startup
            )
        )
    }

    /// Adds a node whose disk takes time or has faults. In all other respects, this function behaves like
    /// ``addNode(_:losesUnsyncedWrites:_:)``.
    ///
    /// - Parameters:
    ///   - name: The name of the node, to which requests are sent.
    ///   - disk: The behavior of the node's disk.
    ///   - startup: Called at each start of the node, with the process that begins.
    /// - Returns: The node.
    @discardableResult
    public func addNode(
        _ name: String,
        disk: DiskFaults,
        _ startup: @escaping @Sendable (Process) -> Void
    ) -> Node {
        Node(network: storage, index: storage.addNode(name, clockRates: clockRates, disk: disk, startup))
    }

    /// Returns the node with the given name. Traps, and lists the nodes, if there is no node with that name.
    public func node(_ name: String) -> Node {
        Node(network: storage, index: storage.index(of: name))
    }

    /// Starts the nodes, calls a closure, and ends all nodes when the closure has returned or thrown.
    ///
    /// At the end, every node crashes permanently, messages under way are lost, callers outside all nodes that still wait
    /// for a reply receive a `CancellationError`, and this function waits until all tasks of all nodes have ended. Call it
    /// once: a second call traps.
    ///
    /// ## Cancellation
    /// The closure runs in the caller's task, and is cancelled with it. The cancellation does not reach the tasks of
    /// the nodes: they continue until a crash, or until the closure has returned or thrown.
    ///
    /// ## Ordering
    /// Nodes start in the order in which they were added.
    ///
    /// - Parameter body: Called in the isolation of the caller, after the nodes have started.
    /// - Returns: The value of the closure.
    /// - Throws: The error of the closure or, if the closure throws none, the first error that a task of a process has
    ///   thrown (see ``Process/addTask(name:operation:)``).
    public func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        let nodes = storage.with { state -> Int? in
            guard state.phase == .prepared else { return nil }
            state.phase = .running
            return state.nodes.count
        }
        guard let nodes else { fatalError("SimulatedNetwork.run was called twice. Create a network for each run.") }
        for node in 0..<nodes { storage.start(node) }
        let result: Result
        do {
            result = try await body()
        } catch {
            await storage.end()
            throw error
        }
        await storage.end()
        if let failure = storage.with(\.failure) { throw failure }
        return result
    }
}

extension NetworkStorage {
    /// Crashes all nodes permanently, and waits for their tasks.
    fileprivate func end() async {
        let nodes = with { state in
            state.phase = .ended
            return state.nodes.indices
        }
        for node in nodes { crash(node, isEnd: true) }
        transit.cancelAll()
        releaseClients()
        await tasks.waitIgnoringCancellation(for: 0)
        // Handlers may retain objects that retain the network.
        _ = with { state in
            let startups = state.nodes.map(\.startup)
            for node in nodes { state.nodes[node].startup = nil }
            return startups
        }
    }
}

extension SimulatedNetwork {
    /// The numbers of requests and replies of a network so far, by their outcome.
    ///
    /// The server of a request is the node or the closure that handles it. A duplicate is a second delivery of the same
    /// request: the seed decides which requests are duplicated.
    ///
    /// Not counting duplicates, each sent request counts in at most one of ``answered``, ``lost`` and ``failed``. It
    /// counts in none of them while it is under way or being handled, or if its server is a closure and the caller was
    /// cancelled before the closure ended. A duplicate never counts in ``sent``, and never in ``answered``. A duplicate
    /// that is lost counts in ``lost``, in addition to its request.
    public struct Counts: Sendable, Hashable {
        /// The number of requests that were sent, including those that were lost or failed. Duplicates do not count.
        public internal(set) var sent = 0
        /// The number of requests that have reached their servers. Duplicates that have reached their servers also
        /// count.
        public internal(set) var delivered = 0
        /// The number of requests whose reply, or whose server's error, has arrived. Replies to duplicates do not
        /// count.
        public internal(set) var answered = 0
        /// The number of requests, replies and duplicates that were lost: because the seed decided so, or because of a
        /// partition, a blocked link, a crash, or the end of ``SimulatedNetwork/run(_:)``.
        public internal(set) var lost = 0
        /// The number of requests that ended with ``SimulatedNetwork/ConnectionLostError``.
        public internal(set) var failed = 0
        /// The number of duplicates that have reached the server of their request.
        public internal(set) var duplicated = 0
    }
}

extension SimulatedNetwork {
    /// Sends a request to a server that is a closure, and waits for its reply.
    ///
    /// The seed of the network decides whether the request or the reply is lost, whether the connection is lost, and
    /// whether the request is duplicated: see ``Faults``. If the request or the reply is lost, this function waits
    /// until the caller is cancelled, and then throws: use a time limit. If the request is duplicated, the server is
    /// called a second time, later and in a separate task with the caller's task-locals; the result of this second call
    /// is ignored.
    ///
    /// ## Cancellation
    /// If the caller is cancelled while the request or the reply is under way, this function throws at once. A request
    /// that has not arrived yet never arrives; a request that has arrived is not undone. While the server handles the
    /// request, the cancellation reaches the server, which runs in the caller's task. The call for a duplicate is not
    /// cancelled.
    ///
    /// - Parameters:
    ///   - request: The value that the server receives.
    ///   - server: Handles the request and returns the reply. Called once in the caller's task, unless the request does
    ///     not arrive, and once more in a separate task if the request is duplicated.
    /// - Returns: The value that the server returns.
    /// - Throws: The error that the server throws; ``ConnectionLostError`` if the seed decides that the connection is
    ///   lost; `CancellationError` if the caller is cancelled while the request or the reply is under way, or after
    ///   either was lost.
    public func send<Message: Sendable, Reply: Sendable>(
        _ request: Message,
        to server: @escaping @Sendable (Message) async throws -> Reply
    ) async throws -> Reply {
        let drawn = storage.draw(from: nil, to: nil)
        switch drawn.fault {
        case .requestLost:
            throw await silence(Message.self)
        case .connectionLostBefore:
            try await storage.timeline.pause(for: drawn.request)
            throw storage.connectionLost()
        case .connectionLostAfter:
            _ = try await deliver(request, to: server, drawn)
            try await storage.timeline.pause(for: drawn.reply)
            throw storage.connectionLost()
        case .replyLost:
            _ = try await deliver(request, to: server, drawn)
            throw await silence(Message.self)
        case nil:
            let reply = try await deliver(request, to: server, drawn)
            try await storage.timeline.pause(for: drawn.reply)
            storage.count { $0.answered += 1 }
            return try reply.get()
        }
    }

    /// Delivers a request to the server after its latency, and returns the result of the server.
    ///
    /// - Parameter drawn: The values that were drawn for the request. Only the latency of the request and that of a
    ///   duplicate are used here: the caller applies the others.
    /// - Throws: `CancellationError` if the caller is cancelled before the request arrives.
    private func deliver<Message: Sendable, Reply: Sendable>(
        _ request: Message,
        to server: @escaping @Sendable (Message) async throws -> Reply,
        _ drawn: NetworkDice.Throw
    ) async throws -> Result<Reply, any Error> {
        rest.move { $0 -= 1 }
        defer { rest.move { $0 += 1 } }
        try await storage.timeline.pause(for: drawn.request)
        storage.count { $0.delivered += 1 }
        if let delay = drawn.duplicate { duplicate(request, to: server, after: delay) }
        do { return .success(try await server(request)) } catch { return .failure(error) }
    }

    private func duplicate<Message: Sendable, Reply: Sendable>(
        _ request: Message,
        to server: @escaping @Sendable (Message) async throws -> Reply,
        after delay: Duration
    ) {
        // Counted before the task is created, so that a concurrent call of `drain()` waits for the task.
        rest.move { $0 -= 1 }
        Task(name: "SimulatedNetwork: duplicate") {
            defer { rest.move { $0 += 1 } }
            try await storage.timeline.pause(for: delay)
            storage.count {
                $0.delivered += 1
                $0.duplicated += 1
            }
            _ = try await server(request)
        }
    }

    /// Counts a request or reply of the caller as lost, and waits until the caller is cancelled or the network ends.
    /// Returns the `CancellationError` to throw.
    private func silence(_ type: Any.Type) async -> any Error {
        storage.lose(type, from: nil, to: nil)
        do { try await storage.waitOutside(for: neverAnswered) } catch { return error }
        return CancellationError()
    }
}

extension NetworkStorage {
    func connectionLost() -> SimulatedNetwork.ConnectionLostError {
        count { $0.failed += 1 }
        return SimulatedNetwork.ConnectionLostError()
    }
}

extension SimulatedNetwork {
    /// An event of a network: a fault, a lost message, the end of a fault, the start of a node, a change of a node's clock,
    /// or an error of a node's task. Print the events when a test fails. Inside a simulation, each event is also recorded as a note
    /// in the simulation's schedule.
    public struct Event: Sendable, Hashable, CustomStringConvertible {
        /// The kind of an event, with the names of the nodes concerned.
        @nonexhaustive
        public enum Kind: Sendable, Hashable, CustomStringConvertible {
            /// The node with the given name has started. The number `incarnation` is that of the start: 1 for the first
            /// start.
            case started(String, incarnation: Int)
            /// The node with the given name has crashed. The number `incarnation` is that of the start before the
            /// crash.
            case crashed(String, incarnation: Int)
            /// The node with the given name was paused.
            case paused(String)
            /// The pause of the node with the given name has ended.
            case resumed(String)
            /// The network was partitioned: the nodes were separated into groups, each given by the names of its nodes.
            case partitioned([[String]])
            /// Messages from the node named `from` to the node named `to` are lost from now on.
            case blocked(from: String, to: String)
            /// The latencies of messages from the node named `from` to the node named `to` are multiplied by a factor
            /// from now on.
            case slowed(from: String, to: String, factor: Double)
            /// Messages between all nodes arrive again, as fast as before: partitions, blocked links and slow links
            /// have ended.
            case healed
            /// The clock of the node with the given name runs at another rate from now on, in seconds of the node per
            /// second of the network's clock.
            case clockRateChanged(String, rate: Double)
            /// The clock of the node with the given name was moved forward, or back if the duration is negative.
            case clockJumped(String, by: Duration)
            /// A request or a reply was lost, because of a fault of the message, a partition, a blocked link, or a crash. The
            /// values are the name of the request's type, and the names of the nodes that send and receive the request:
            /// `nil` for a client that is not a node, or a server that is a closure.
            case lost(String, from: String?, to: String?)
            /// The disk of the node with the given name has failed to make writes durable.
            case syncFailed(String)
            /// A task has thrown an error. The values are the name of the task's node, and the description of the
            /// error.
            case failed(String, error: String)

            /// The kind of event in one line, such as `partition: {a} | {b, c}`.
            public var description: String {
                switch self {
                case .started(let node, let incarnation): "start: \(node) #\(incarnation)"
                case .crashed(let node, let incarnation): "crash: \(node) #\(incarnation)"
                case .paused(let node): "pause: \(node)"
                case .resumed(let node): "resume: \(node)"
                case .partitioned(let groups):
                    "partition: " + groups.map { "{\($0.joined(separator: ", "))}" }.joined(separator: " | ")
                case .blocked(let from, let to): "block: \(from) → \(to)"
                case .slowed(let from, let to, let factor): "slow: \(from) → \(to), × \(factor)"
                case .healed: "heal"
                case .clockRateChanged(let node, let rate): "clock of \(node): × \(rate)"
                case .clockJumped(let node, let duration): "clock of \(node): jumps by \(duration)"
                case .lost(let request, let from, let to):
                    "lost: \(request) from \(from ?? "a client") to \(to ?? "a server"), or its reply"
                case .syncFailed(let node): "disk of \(node): a sync fails"
                case .failed(let node, let error): "error: a task of \(node) has thrown \(error)"
                }
            }
        }

        /// The time since the network was created, on the network's clock.
        public let time: Duration
        /// The kind of the event, such as a fault or the start of a node.
        public let kind: Kind

        /// The time and the event, in one line.
        public var description: String { "\(time): \(kind)" }
    }
}
