internal import TaskControl

extension SimulatedNetwork {
    /// A machine of a simulated network, with a name, a clock and a disk. The software that runs on it is a
    /// ``Process``.
    ///
    /// A test uses a node to make it fail: to crash it, pause it, or change its clock. All members can be used from any
    /// thread or task, including closures that are passed to ``Simulation/atAnyPoint(_:)``, and none of them suspends.
    public struct Node: Sendable {
        let network: NetworkStorage
        let index: Int

        /// The name of the node. Requests are sent to this name.
        public var name: String { network.name(of: index) }

        /// Whether the node has been started and has not crashed since. A paused node also counts as running.
        public var isRunning: Bool { network.with { $0.machine.isUp(index) } }

        /// Whether the node is paused.
        public var isPaused: Bool { network.with { $0.machine.isPaused(index) } }

        /// The number of times that the node has been started; zero before the first start.
        public var incarnation: Int { network.with { $0.machine.incarnation(of: index) } }

        /// The disk of the node. A test can use it whether or not the node runs.
        public var disk: Disk { Disk(network: network, node: index, incarnation: nil) }

        // MARK: Crashes

        /// Ends the process of the node, as `kill -9` or a power failure does. Does nothing if the node is not running.
        ///
        /// From now on, the node's ``Process`` has no effect, and in a simulation its code makes no further step. If
        /// the node was added with `losesUnsyncedWrites`, writes to its ``disk`` that were not synced can be lost.
        /// Messages that the node has sent before still arrive.
        public func crash() {
            network.crash(index)
        }

        /// Starts the node again: calls the closure that was passed to
        /// ``SimulatedNetwork/addNode(_:losesUnsyncedWrites:_:)`` with a new process. If the node is running, it
        /// crashes first.
        ///
        /// Does nothing unless ``SimulatedNetwork/run(_:)`` is running.
        public func restart() {
            network.crash(index)
            network.start(index)
        }

        // MARK: Pauses

        /// Pauses the node until ``resume()``, in the way of `SIGSTOP`, a long garbage collection or the migration of a
        /// virtual machine. Does nothing if the node is already paused or is not running.
        ///
        /// Requests and replies that arrive during the pause are delivered after ``resume()``. Sleeps and requests of
        /// the node's ``Process`` also continue only after ``resume()``. The node's clock continues during the pause.
        /// If the node crashes, the pause ends, and the messages that have arrived during the pause are lost.
        public func pause() {
            network.pause(index)
        }

        /// Ends the pause of the node. Does nothing if the node is not paused.
        public func resume() {
            network.resume(index)
        }

        // MARK: The clock

        /// The clock of the node, for use by the test. Crashes and pauses of the node do not affect sleeps on this
        /// clock: a crash does not make them throw, and a pause does not delay them.
        public var clock: NodeClock { NodeClock(network: network, node: index, incarnation: nil) }

        /// The rate of the node's clock, in seconds of the node per second of the network's clock. Traps if it is set to a rate that is not
        /// positive.
        ///
        /// Sleeps on the node's clock that are in progress continue at the new rate.
        public var clockRate: Double {
            get { network.with { $0.nodes[index].clock.rate } }
            nonmutating set {
                SimulatedNetwork.insistOnRates(newValue...newValue)
                network.changeClock(of: index) { $0.setRate(newValue, at: $1) }
                network.record(.clockRateChanged(name, rate: newValue))
            }
        }

        /// Moves the clock of the node forward, or back if the duration is negative, as a time server (NTP) or an
        /// administrator does.
        ///
        /// A sleep that is in progress on this clock ends when the clock shows the end of the sleep: sooner if the
        /// clock was moved forward, and later if it was moved back.
        public func jumpClock(by duration: Duration) {
            network.changeClock(of: index) { clock, _ in clock.jump(by: duration) }
            network.record(.clockJumped(name, by: duration))
        }
    }
}

extension SimulatedNetwork {
    /// The clock of a node, which can drift: it has a rate of its own, and jumps when the test calls ``Node/jumpClock(by:)``.
    ///
    /// The clock shows zero when the network is created, and continues through crashes and pauses. A clock with a rate
    /// of 2 is twice as fast as the network's clock: a sleep of 2 s on it takes 1 s of the network's time.
    public struct NodeClock: Clock {
        /// The type of the times that the clock shows: the time that has passed on it since the network was created. The
        /// times of different nodes must not be compared.
        public typealias Instant = TestClock.Instant

        let network: NetworkStorage
        let node: Int
        /// The process that has provided the clock; `nil` if the test uses it directly.
        let incarnation: Incarnation?

        /// The current time of the clock.
        public var now: Instant {
            let moment = network.timeline.now
            return Instant(offset: network.with { $0.nodes[node].clock.time(at: moment) })
        }

        /// The smallest difference between two times that the clock can measure: zero, since a sleep ends when the
        /// clock shows its deadline.
        public var minimumResolution: Duration { .zero }

        /// Waits until the clock shows a time or a later one. On the clock of a ``SimulatedNetwork/Process``, this
        /// function also waits while the node is paused. Returns at once if there is nothing to wait for.
        ///
        /// A sleep that is in progress follows jumps of the clock and changes of its rate.
        ///
        /// ## Cancellation
        /// If the caller is cancelled, or was cancelled before the call, this function throws at once.
        ///
        /// - Parameters:
        ///   - deadline: The time of this clock to wait for.
        ///   - tolerance: Not used.
        /// - Throws: `CancellationError` if the caller is cancelled, or if the clock is that of a
        ///   ``SimulatedNetwork/Process`` that has ended.
        public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
            try Task.checkCancellation()
            try await network.perform(as: incarnation, on: node) { gate in
                let now = network.timeline.now
                let end = network.with { $0.nodes[node].clock.moment(of: deadline.offset, after: now) }
                guard let end else { return () }
                try await withThrowingTaskGroup { group in
                    group.addTask(name: "timer") {
                        defer { gate.open() }
                        try await network.timeline.sleep(until: end)
                    }
                    try await gate.wait()
                    group.cancelAll()
                    // The timer was cancelled unless it has opened the gate itself.
                    do { try await group.next() } catch is CancellationError {}
                }
                return nil
            }
        }
    }
}

extension SimulatedNetwork {
    /// The software that runs on a node, from the node's start to its crash. The ``Node`` is the machine on which it runs.
    ///
    /// The start-up closure of the node receives a new process at each start. After a crash of the node, the process has no further effect:
    /// its handlers are removed, replies that it has not sent are lost, and its writes to the disk are ignored.
    ///
    /// ## Crashes
    /// In a simulation, no task of the process makes a further step after a crash, as on a machine without power: those of the start-up closure, of
    /// handlers and of ``addTask(name:operation:)``, their child tasks, and the tasks that they create. They are not cancelled: not even a
    /// cancellation handler runs. A task that crashes its own process still runs up to its next suspension. Detached tasks continue. The lost tasks are
    /// never deallocated, nor is what their variables hold; a failure lists them as lost.
    ///
    /// Outside a simulation, the tasks of the process are cancelled, and its requests and sleeps throw `CancellationError`. So do those that code
    /// outside of the process makes through it, also in a simulation, and all at the end of ``SimulatedNetwork/run(_:)``, which is no crash.
    ///
    /// ## Pauses
    /// While the node is paused, the code of the process waits wherever it uses the network, its clock, or ``Disk/sync()``. Code between
    /// two such points continues to run. A request that was made just before the pause is sent after it: as in a real process, a pause may
    /// occur between reading the clock and sending a request.
    public struct Process: Sendable {
        let network: NetworkStorage
        let id: Incarnation

        /// The name of the node on which the process runs.
        public let name: String

        init(network: NetworkStorage, incarnation: Incarnation, name: String) {
            (self.network, id, self.name) = (network, incarnation, name)
        }

        /// The number of starts of the node up to and including the start of this process: 1 for the node's first
        /// process.
        public var incarnation: Int { id.number }

        /// Whether the process still runs: the node has not crashed since the start of the process.
        public var isRunning: Bool { network.with { $0.machine.isCurrent(id) } }

        /// The clock of the node, for use by this process. Sleeps on it throw when the process ends, and wait while the node is paused.
        public var clock: NodeClock { NodeClock(network: network, node: id.node, incarnation: id) }

        /// The disk of the node, for use by this process. Writes through it have no effect after the process has ended.
        public var disk: Disk { Disk(network: network, node: id.node, incarnation: id) }

        /// Registers a handler for requests of a type. Replaces an earlier handler for this type.
        ///
        /// Each request is handled in a separate task, so that several calls of a handler interleave wherever they suspend.
        ///
        /// ## Cancellation
        /// A crash of the node ends running handlers (see Crashes). Cancelling the task that sent a request does not cancel the
        /// handler of the request: a server cannot know whether the sender still waits.
        ///
        /// - Parameters:
        ///   - type: The type of the request.
        ///   - handler: Receives the request, and returns the reply. If it throws an error, the sender receives this error in place of a
        ///     reply.
        public func handle<Message: Request>(
            _ type: Message.Type = Message.self,
            _ handler: @escaping @Sendable (Message) async throws -> Message.Reply
        ) {
            let erased: NetworkStorage.Handler = { try await handler($0 as! Message) }
            _ = network.with { state -> NetworkStorage.Handler? in
                guard state.machine.isCurrent(id) else { return nil }
                return state.nodes[id.node].handlers.updateValue(erased, forKey: ObjectIdentifier(type))
            }
        }

        /// Starts a task of the process.
        ///
        /// If the task throws an error, the error is recorded as an event. ``SimulatedNetwork/run(_:)`` throws the first
        /// of these errors after the closure that was passed to `run(_:)` has returned. Catch errors in the task if it
        /// should continue.
        ///
        /// ## Cancellation
        /// A crash of the node ends the task (see Crashes). If the process has already ended with a crash, this function does nothing.
        ///
        /// - Parameters:
        ///   - name: The name shown in the schedule of a simulation; `nil` for the name of the node.
        ///   - operation: The work of the task. It inherits the caller's task-locals.
        public func addTask(name: String? = nil, operation: @escaping @Sendable () async throws -> Void) {
            network.addTask(of: id, name: name ?? self.name) {
                do { try await operation() } catch { network.failed(id, error) }
            }
        }

        /// Sends a request to a node, and waits for its reply.
        ///
        /// The request arrives after a latency, and is handled by the process that runs on the receiving node at that
        /// time. The reply arrives after another latency. A message (request or reply) is lost if the link from its
        /// sender to its receiver is blocked or the network is partitioned *when it would arrive*, if its receiver is
        /// down at that time, or if the network's seed decides so (see ``Faults``). If a message is lost, this function
        /// waits until the caller is cancelled: use a time limit (`within`). A reply reaches only the process that has sent the
        /// request, and not a later process of the same node.
        ///
        /// If the seed duplicates the request, the duplicate reaches the node after the request, and the result of the
        /// duplicate is ignored.
        ///
        /// ## Cancellation
        /// If the caller is cancelled, this function throws at once. A request that has been sent is not withdrawn, and
        /// the caller does not know whether it is handled. If the caller was cancelled before the call, nothing is
        /// sent.
        ///
        /// - Parameters:
        ///   - request: The request.
        ///   - node: The name of the receiver, which may be the node of this process. Traps, and lists the nodes, if there is no node with
        ///     that name.
        ///   - limit: The time after which the caller stops waiting for the reply, on the ``clock`` of this process; `nil` for no
        ///     limit. The caller does not know then whether the request is handled.
        /// - Returns: The value that the handler returns.
        /// - Throws: `TimeoutError` at the limit; the error that the handler throws; ``ConnectionLostError`` if the seed decides that the connection is lost;
        ///   an error that names the request if the node has no handler for the request; `CancellationError` if the
        ///   caller is cancelled or this process has ended.
        /// - Complexity: O(*n*) in the number of nodes.
        public func send<Message: Request>(
            _ request: Message,
            to node: String,
            within limit: Duration? = nil
        ) async throws -> Message.Reply {
            try await network.within(limit, clock: clock) { try await network.send(request, as: id, to: node) }
        }
    }
}
