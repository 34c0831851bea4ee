internal import TaskControl

// The engine of the simulated network, from the outside in:
//
//     SimulatedNetwork                        the face; Node, Process and Disk are nested in it
//     NetworkStorage                          the lock; acts after unlocking
//       NetworkStateMachine                   which nodes run, and which of their incarnations may be reached
//       DiskStateMachine                      the synced and the unsynced values of a disk
//       NetworkDice                           latencies and faults, drawn from the seed
//     FaultPlan                               the faults of `injectFaults`, over time

/// The nodes of a ``SimulatedNetwork``, the delivery of their messages, and the tasks that wait for changes of nodes.
/// Each operation asks the ``NetworkStateMachine`` while it holds the lock, and acts after it has released the lock.
final class NetworkStorage: Sendable {
    typealias Startup = @Sendable (SimulatedNetwork.Process) -> Void
    typealias Handler = @Sendable (any Sendable) async throws -> any Sendable

    struct Node {
        let name: String
        /// The start-up closure of the node; `nil` after the network has ended.
        var startup: Startup?
        var handlers: [ObjectIdentifier: Handler] = [:]
        /// The tasks of the node's current incarnation.
        var tasks: AsyncLifetime
        /// The process of the simulation in which these tasks run; `nil` outside a simulation.
        var process: Int?
        /// The registrations of those tasks in ``NetworkStorage/tasks``, which a crash in a simulation ends.
        var marks = UnderWay.List()
        var clock: ClockDrift
        var disk: DiskStateMachine
        let diskFaults: SimulatedNetwork.DiskFaults
    }

    struct State {
        var machine = NetworkStateMachine()
        var nodes: [Node] = []
        var dice: NetworkDice
        /// The generator for all decisions except the latencies and faults of messages: the rates of clocks, the seeds
        /// of fault plans, and the unsynced writes that survive a crash.
        var rest: SeededGenerator
        var links: [LinkID: NetworkDice.Link] = [:]
        var counts = SimulatedNetwork.Counts()
        var events: [SimulatedNetwork.Event] = []
        var failure: (any Error)?
        /// The gates of the waiters of the machine, by their numbers.
        var gates: [Int: Gate] = [:]
        /// The gates of the callers outside all nodes that wait for a reply, by number: the end of the network opens them.
        var clients: [Int: Gate] = [:]
        var nextClient = 0
        var phase = Phase.prepared

        /// Removes and returns the gates of waiters that the machine has returned.
        mutating func take(_ waiters: [Int]) -> [Gate] { waiters.compactMap { gates.removeValue(forKey: $0) } }
    }

    enum Phase {
        case prepared, running, ended
    }

    let clock: any Clock<Duration>
    let timeline: Timeline
    let simulation: Simulation?
    private let latency: ClosedRange<Duration>
    private let faults: SimulatedNetwork.Faults
    private let state: Locked<State>
    /// The tasks that deliver messages between nodes.
    let transit = AsyncLifetime(name: "SimulatedNetwork")
    /// The negated number of requests that are on their way to a server or being handled: ``SimulatedNetwork/drain()``
    /// waits until it is zero.
    let rest = Level(0)
    /// The negated number of running tasks of nodes and of messages. The end of the network waits until it is zero.
    let tasks = Level(0)

    init(
        seed: UInt64,
        clock: any Clock<Duration>,
        latency: ClosedRange<Duration>,
        faults: SimulatedNetwork.Faults,
        simulation: Simulation?
    ) {
        insist(
            latency.lowerBound >= .zero,
            "SimulatedNetwork(latency: \(latency)): a latency must not be negative. Begin at zero or later."
        )
        self.clock = clock
        timeline = Timeline(clock)
        (self.latency, self.faults, self.simulation) = (latency, faults, simulation)
        // The seed is changed, so that this sequence differs from the sequence of the messages.
        state = Locked(State(dice: NetworkDice(seed: seed), rest: SeededGenerator(seed: seed ^ 0x5851_F42D_4C95_7F2D)))
    }

    func with<Result>(_ body: (inout State) -> Result) -> Result { state.withLock(body) }

    func count(_ change: (inout SimulatedNetwork.Counts) -> Void) {
        state.withLock { change(&$0.counts) }
    }

    // MARK: Names

    func index(of name: String) -> Int {
        let names = with { $0.nodes.map(\.name) }
        guard let index = names.firstIndex(of: name) else {
            fatalError("The simulated network has no node “\(name)”. Its nodes: \(names.joined(separator: ", ")).")
        }
        return index
    }

    func name(of node: Int) -> String { with { $0.nodes[node].name } }

    // MARK: Events

    func record(_ kind: SimulatedNetwork.Event.Kind) {
        let event = SimulatedNetwork.Event(time: timeline.now, kind: kind)
        with { $0.events.append(event) }
        simulation?.noteWithoutLocation(kind.description)
    }

    // MARK: Nodes

    func addNode(
        _ name: String,
        clockRates: ClosedRange<Double>,
        disk: SimulatedNetwork.DiskFaults,
        _ startup: @escaping Startup
    ) -> Int {
        let added = with { state -> (index: Int, isRunning: Bool)? in
            if state.nodes.contains(where: { $0.name == name }) { return nil }
            let rate = clockRates.lowerBound + (clockRates.upperBound - clockRates.lowerBound) * state.rest.unit()
            state.nodes.append(
                Node(
                    name: name,
                    startup: state.phase == .ended ? nil : startup,
                    tasks: AsyncLifetime(name: name),
                    clock: ClockDrift(rate: rate),
                    disk: DiskStateMachine(losesUnsyncedWrites: disk.losesUnsyncedWrites),
                    diskFaults: disk
                )
            )
            return (state.machine.addNode(), state.phase == .running)
        }
        guard let added else {
            fatalError("The simulated network has a node “\(name)” already. Give each node a name of its own.")
        }
        if added.isRunning { start(added.index) }
        return added.index
    }

    /// Starts the node with the given index. Does nothing if the node is not down, or if the network is not running.
    func start(_ node: Int) {
        let begun = with { state -> (Incarnation, Startup, String)? in
            guard state.phase == .running, let startup = state.nodes[node].startup else { return nil }
            guard let incarnation = state.machine.start(node) else { return nil }
            return (incarnation, startup, state.nodes[node].name)
        }
        guard let (incarnation, startup, name) = begun else { return }
        let process = simulation?.beginProcess()
        with { $0.nodes[node].process = process }
        record(.started(name, incarnation: incarnation.number))
        create(in: process) {
            startup(SimulatedNetwork.Process(network: self, incarnation: incarnation, name: name))
        }
        open(with { $0.take($0.machine.hasStarted(incarnation)) })
    }

    /// Ends the current incarnation of the node with the given index: cancels its tasks, removes its handlers, and
    /// drops unsynced writes as the seed decides.
    ///
    /// - Parameter isEnd: Whether the node crashes because the network ends. Such a crash is not a fault, and is not
    ///   recorded as an event.
    /// - Returns: Whether this call has crashed the node: `false` if it was already down.
    @discardableResult
    func crash(_ node: Int, isEnd: Bool = false) -> Bool {
        let crashed = with { state -> (waiters: [Gate], node: Node, incarnation: Int, lost: [String])? in
            guard let waiters = state.machine.crash(node) else { return nil }
            // Holds the objects that the node releases, until the lock is free.
            let ended = state.nodes[node]
            state.nodes[node].handlers = [:]
            state.nodes[node].tasks = AsyncLifetime(name: ended.name)
            state.nodes[node].process = nil
            state.nodes[node].marks = UnderWay.List()
            let faults = ended.diskFaults
            let lost = state.nodes[node].disk.crash { Self.fate(of: faults, &state.rest) }
            return (state.take(waiters), ended, state.machine.incarnation(of: node), lost)
        }
        guard let crashed else { return false }
        if !isEnd {
            record(.crashed(crashed.node.name, incarnation: crashed.incarnation))
            let lost = crashed.lost.joined(separator: ", ")
            if !lost.isEmpty {
                simulation?.noteWithoutLocation("not synced by \(crashed.node.name), and lost: \(lost)")
            }
        }
        if let process = crashed.node.process, let simulation, !isEnd {
            // The code of a dead machine makes no step: not even a cancellation handler, which the end of the lifetime would call.
            simulation.crash(process)
            _ = Unmanaged.passRetained(crashed.node.tasks)
            crashed.node.marks.end()
        } else {
            // Before the gates, so that the waiters find their task cancelled.
            crashed.node.tasks.cancelAll()
        }
        open(crashed.waiters)
        return true
    }

    /// Draws the effect of a crash on a write that was not synced.
    private static func fate(
        of faults: SimulatedNetwork.DiskFaults,
        _ generator: inout SeededGenerator
    ) -> DiskStateMachine.Fate {
        let isKept = generator.unit() < 0.5
        guard faults.tornWrites > 0, generator.unit() < faults.tornWrites else { return isKept ? .durable : .lost }
        return .torn(generator.unit())
    }

    @discardableResult
    func pause(_ node: Int) -> Bool {
        guard with({ $0.machine.pause(node) }) else { return false }
        record(.paused(name(of: node)))
        return true
    }

    func resume(_ node: Int) {
        guard let waiters = with({ state in state.machine.unpause(node).map { state.take($0) } }) else { return }
        record(.resumed(name(of: node)))
        open(waiters)
    }

    /// Changes the clock of the node with the given index, and resumes the tasks that sleep on this clock: they compute
    /// again when to wake.
    ///
    /// - Parameter change: Changes the clock. Receives the current time of the network's clock.
    func changeClock(of node: Int, _ change: (inout ClockDrift, Duration) -> Void) {
        let now = timeline.now
        open(
            with { state in
                change(&state.nodes[node].clock, now)
                return state.take(state.machine.change(node))
            }
        )
    }

    private func open(_ gates: [Gate]) {
        for gate in gates { gate.open() }
    }

    // MARK: Tasks

    /// Starts a task of an incarnation. Does nothing if the incarnation has ended.
    ///
    /// - Parameters:
    ///   - name: The name of the task.
    ///   - work: The operation of the task.
    func addTask(of incarnation: Incarnation, name: String?, _ work: @escaping @Sendable () async -> Void) {
        let mark = UnderWay(tasks)
        let owner = with { state -> (bag: AsyncLifetime, process: Int?)? in
            guard state.machine.isCurrent(incarnation) else { return nil }
            if state.nodes[incarnation.node].process != nil { state.nodes[incarnation.node].marks.append(mark) }
            return (state.nodes[incarnation.node].tasks, state.nodes[incarnation.node].process)
        }
        guard let (bag, process) = owner else { return }
        create(in: process) {
            bag.addTask(name: name) {
                await work()
                mark.end()
            }
        }
        // The node may have crashed meanwhile.
        if with({ !$0.machine.isCurrent(incarnation) }) { bag.cancelAll() }
    }

    /// Does work whose new tasks belong to a process of the simulation; to none if the number is 0.
    func create(in process: Int?, _ work: () -> Void) {
        if let process, let simulation { simulation.inProcess(process, work) } else { work() }
    }

    /// Ends a call of an incarnation that has ended. In a simulation, the call of a task of that incarnation never returns, and no other
    /// returns without a suspension, so that a loop around the call is no step without an end.
    func endCall() async -> CancellationError {
        if let simulation {
            if simulation.isCallerLost { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
            await Task.yield()
        }
        return CancellationError()
    }

    /// Crashes or pauses the node of an incarnation, which is about to send a message or uses its disk, if an injected
    /// fault (see ``Strike``) is due before that.
    func strike(_ actor: Incarnation) {
        switch with({ $0.machine.isAboutToAct(actor) }) {
        case .crash: crash(actor.node)
        case .pause: pause(actor.node)
        case nil: break
        }
    }

    /// Returns whether a fault that was drawn happens: always, except in a shortened schedule of a simulation that does
    /// not need the fault.
    func happens() -> Bool { simulation?.happens() ?? true }

    /// Records the error that a task of an incarnation has thrown. Ignores the error if the incarnation has ended.
    func failed(_ incarnation: Incarnation, _ error: any Error) {
        let name = with { state -> String? in
            guard state.machine.isCurrent(incarnation) else { return nil }
            if state.failure == nil { state.failure = error }
            return state.nodes[incarnation.node].name
        }
        if let name { record(.failed(name, error: "\(error)")) }
    }

    // MARK: Waiting

    /// Calls a closure on behalf of an incarnation of a node, again and again until it returns a value. Before each
    /// call, waits while the node is paused or starting.
    ///
    /// - Parameters:
    ///   - incarnation: The incarnation that acts. `nil` for a caller outside all nodes, which waits for no node and
    ///     ends with no crash.
    ///   - node: The index of the node whose next change opens the gate; `nil` if no change opens it.
    ///   - attempt: Receives a new gate in each call. Returns `nil` to be called again, usually after it has waited for
    ///     the gate.
    /// - Throws: The error of the closure; `CancellationError` if the incarnation has ended, or if the caller is
    ///   cancelled while it waits.
    func perform<Value>(
        as incarnation: Incarnation?,
        on node: Int?,
        _ attempt: (Gate) async throws -> Value?
    ) async throws -> Value {
        while true {
            let gate = Gate()
            let (standing, waiter) = with { state in
                let standing = incarnation.map { state.machine.standing(of: $0) } ?? .runs
                guard standing != .ended, let node else { return (standing, Int?.none) }
                let waiter = state.machine.enroll(on: node)
                state.gates[waiter] = gate
                return (standing, waiter)
            }
            defer {
                if let waiter, let node { with { if $0.machine.leave(waiter, on: node) { $0.gates[waiter] = nil } } }
            }
            switch standing {
            case .ended: throw await endCall()
            case .held: try await gate.wait()
            case .runs: if let value = try await attempt(gate) { return value }
            }
        }
    }

    /// Waits while the node of an incarnation is paused or starting. Throws `CancellationError` if the incarnation has
    /// ended or the caller is cancelled.
    func hold(_ incarnation: Incarnation) async throws {
        try await perform(as: incarnation, on: incarnation.node) { _ in () }
    }

    /// Waits for a gate on behalf of a caller outside all nodes.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled, or the network has ended.
    func waitOutside(for gate: Gate) async throws(CancellationError) {
        let number = with { state -> Int? in
            guard state.phase != .ended else { return nil }
            defer { state.nextClient += 1 }
            state.clients[state.nextClient] = gate
            return state.nextClient
        }
        guard let number else { throw CancellationError() }
        defer { _ = with { $0.clients.removeValue(forKey: number) } }
        try await gate.wait()
    }

    /// Resumes the callers outside all nodes, which find that the network has ended.
    func releaseClients() {
        let gates = with { state in state.clients.sorted { $0.key < $1.key }.map(\.value) }
        open(gates)
    }

    // MARK: Messages

    /// Counts a message as lost, and records it, unless it is lost because the network has ended.
    func lose(_ type: Any.Type, from sender: Int?, to receiver: Int?) {
        let event = with { state -> SimulatedNetwork.Event.Kind? in
            state.counts.lost += 1
            guard state.phase != .ended else { return nil }
            return .lost(
                "\(type)",
                from: sender.map { state.nodes[$0].name },
                to: receiver.map { state.nodes[$0].name }
            )
        }
        if let event { record(event) }
    }

    func draw(from sender: Int?, to node: Int?) -> NetworkDice.Throw {
        let drawn = drawAny(from: sender, to: node)
        return drawn.hasFault && !happens() ? drawn.withoutFault : drawn
    }

    private func drawAny(from sender: Int?, to node: Int?) -> NetworkDice.Throw {
        with { state in
            state.counts.sent += 1
            let usual = NetworkDice.Link(latency: latency, faults: faults)
            return state.dice.next(
                there: state.links[LinkID(from: sender, to: node)] ?? usual,
                back: state.links[LinkID(from: node, to: sender)] ?? usual
            )
        }
    }

    func setLink(_ link: LinkID, latency: ClosedRange<Duration>?, faults: SimulatedNetwork.Faults?) {
        with {
            $0.links[link] = NetworkDice.Link(latency: latency ?? self.latency, faults: faults ?? self.faults)
        }
    }

    /// Waits for a latency, multiplied by the factor by which the link is slowed when this function is called. Throws
    /// `CancellationError` if the caller is cancelled.
    func travel(_ latency: Duration, over link: LinkID) async throws {
        let slowness = with { $0.machine.slowness(of: link) }
        try await timeline.pause(for: latency.saturatingMultiplied(by: slowness))
    }
}

/// Random values that are derived from the numbers of a ``SeededGenerator`` without the standard library. The standard
/// library may derive them differently in a later version, but the decisions of a seed must stay the same.
extension SeededGenerator {
    /// Returns a random number in `0..<1`, derived from the 53 high bits of the generator's next number: 53 bits are
    /// the precision of a `Double`.
    mutating func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// Returns a random duration in a range, evenly distributed.
    mutating func duration(in range: ClosedRange<Duration>) -> Duration {
        range.lowerBound + (range.upperBound - range.lowerBound) * unit()
    }

    /// Returns a random number in `0..<count`. Traps if `count` is not positive.
    mutating func index(below count: Int) -> Int {
        Int(next() % UInt64(count))
    }
}
