internal import TaskControl

/// A network with latency and faults that a seed decides: of named nodes, or between a client and a server that is a closure.
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
/// A distributed system is a network of nodes. Each has a name, a start-up closure that runs again after each crash, a disk that survives
/// it, and a clock that may drift. The test partitions the network, crashes and pauses nodes, or has
/// ``injectFaults(_:count:within:lasting:on:)`` do so at moments that the seed decides (the *nemesis* of Jepsen, the *fault injection* of
/// FoundationDB and Antithesis):
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
///         // Everything is healed here: what must hold in the end is expected now.
///     }
/// }
/// ```
///
/// ## Ordering
/// The fate of a request is drawn when it is sent: one seed gives one sequence of latencies and faults, for
/// requests in the order of their `send`. Requests overtake each other according to their latencies.
public final class SimulatedNetwork: Sendable {
    let storage: NetworkStorage
    private let clockRates: ClosedRange<Double>
    /// Minus the number of deliveries under way: zero is the mark of the drainers.
    var rest: Level<Int> { storage.rest }
    /// Where callers are whose request or reply was lost. Never opened.
    let neverAnswered = Gate()

    /// Creates a network whose latencies and faults a seed decides.
    ///
    /// Traps if the latency is negative, or a rate of a clock is not positive.
    ///
    /// - Parameters:
    ///   - seed: Decides the latencies, the faults and the clock rates.
    ///   - clock: The clock on which latencies are slept, and relative to which the clocks of nodes drift.
    ///   - latency: The time that a request travels to the server, and a reply back; evenly distributed. Zero or more.
    ///     Without latency (`.zero ... .zero`, the default) messages do not sleep.
    ///   - faults: The probabilities of faults.
    ///   - clockRates: The range from which the rate of each node's clock is drawn, in seconds of the node per second of `clock`. By default
    ///     no clock drifts.
    public convenience init(
        seed: UInt64,
        clock: any Clock<Duration> = ContinuousClock(),
        latency: ClosedRange<Duration> = .zero ... .zero,
        faults: Faults = .none,
        clockRates: ClosedRange<Double> = 1...1
    ) {
        self.init(seed, clock, latency, faults, clockRates, nil)
    }

    /// Creates a network inside a simulation: in its virtual time, with a seed that the simulation's seed decides.
    ///
    /// Faults are notes of the schedule, and those of ``injectFaults(_:count:within:lasting:on:)`` begin and end at any point of the
    /// schedule. Traps like ``init(seed:clock:latency:faults:clockRates:)``.
    ///
    /// - Parameters:
    ///   - simulation: The simulation whose body the network is used in.
    ///   - latency: The time that a request travels to the server, and a reply back; evenly distributed. Zero or more.
    ///   - faults: The probabilities of faults.
    ///   - clockRates: The range from which the rate of each node's clock is drawn, in seconds of the node per second of virtual time.
    public convenience init(
        in simulation: Simulation,
        latency: ClosedRange<Duration> = .zero ... .zero,
        faults: Faults = .none,
        clockRates: ClosedRange<Double> = 1...1
    ) {
        var random = simulation.random
        self.init(random.next(), ContinuousClock(), latency, faults, clockRates, simulation)
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

    /// The counts of the events so far, at one moment.
    public var counts: Counts { storage.with(\.counts) }

    /// The faults and the starts of nodes so far, in the order in which they happened. They are kept until the network is deallocated.
    public var events: [Event] { storage.with(\.events) }

    /// Waits until no request is on its way to a server or being handled there: neither a sent request nor a duplicate.
    ///
    /// Replies may still be on their way back. Requests that were lost are not waited for.
    ///
    /// ## Cancellation
    /// A cancelled caller returns at once. Messages under way continue.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled.
    public func drain() async throws(CancellationError) {
        try await rest.wait(for: 0)
    }
}

// MARK: - Nodes

extension SimulatedNetwork {
    /// Adds a node, which starts when ``run(_:)`` is called, or at once if it is running.
    ///
    /// Traps if there is a node of that name.
    ///
    /// - Parameters:
    ///   - name: The name of the node, to which requests are sent.
    ///   - losesUnsyncedWrites: Whether a crash can lose writes to the disk of the node that were not synced: each write is kept or lost as
    ///     the seed decides. By default every write is durable at once.
    ///   - startup: Called at each start of the node, with the process that it starts. The closure registers handlers and starts tasks;
    ///     neither messages nor timers reach the process before the closure has returned. The variables of the closure are the volatile
    ///     memory of the node.
    /// - Returns: The node.
    @discardableResult
    public func addNode(
        _ name: String,
        losesUnsyncedWrites: Bool = false,
        _ startup: @escaping @Sendable (Process) -> Void
    ) -> Node {
        Node(
            network: storage,
            index: storage.addNode(name, clockRates: clockRates, losesUnsyncedWrites: losesUnsyncedWrites, startup)
        )
    }

    /// Returns the node of a name. Traps, and lists the nodes, if there is none.
    public func node(_ name: String) -> Node {
        Node(network: storage, index: storage.index(of: name))
    }

    /// Starts the nodes, calls a closure, and ends the nodes when the closure has returned or thrown.
    ///
    /// At the end every node crashes permanently, messages under way are lost, and this waits until the last task of a node has ended. Traps
    /// if it is called twice.
    ///
    /// ## Cancellation
    /// Cancelling the caller cancels the closure, and not the nodes. The nodes end when the closure has returned.
    ///
    /// ## Ordering
    /// Nodes start in the order in which they were added.
    ///
    /// - Parameter body: Called in the isolation of the caller. When it returns, the nodes end.
    /// - Returns: The value of the closure.
    /// - Throws: The error of the closure. Otherwise the first error that a task of a process has thrown (see
    ///   ``Process/addTask(name:operation:)``).
    public func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        let nodes = storage.with { state -> Int? in
            guard state.phase == .prepared else { return nil }
            state.phase = .running
            return state.nodes.count
        }
        guard let nodes else { fatalError("SimulatedNetwork.run was called twice. Each run has a network of its own.") }
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
    /// Ends the nodes, and waits for their tasks.
    fileprivate func end() async {
        let nodes = with { state in
            state.phase = .ended
            return state.nodes.indices
        }
        for node in nodes { crash(node, isEnd: true) }
        transit.cancel()
        await tasks.waitIgnoringCancellation(for: 0)
        // Handlers may retain objects that retain the network.
        _ = with { state in
            let startups = state.nodes.map(\.startup)
            for node in nodes { state.nodes[node].startup = nil }
            return startups
        }
    }
}
