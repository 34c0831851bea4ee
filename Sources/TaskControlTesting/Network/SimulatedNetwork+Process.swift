internal import TaskControl

extension SimulatedNetwork {
    /// The software that runs on a node, from the node's start to its crash. The ``Node`` is the machine on which it runs.
    ///
    /// The start-up closure of the node receives a new process at each start. After a crash of the node, the process has no further effect,
    /// even if its code still runs: its tasks are cancelled, its requests and sleeps throw `CancellationError`, replies that it has not
    /// sent are lost, and its writes to the disk are ignored.
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
        /// A crash of the node cancels running handlers. Cancelling the task that sent a request does not cancel the
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
        /// A crash of the node cancels the task, and an error that the task throws later is ignored. If the process has
        /// already ended with a crash, this function does nothing.
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
        /// waits until the caller is cancelled: use a time limit. A reply reaches only the process that has sent the
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
        /// - Returns: The value that the handler returns.
        /// - Throws: The error that the handler throws; ``ConnectionLostError`` if the seed decides that the connection is lost;
        ///   an error that names the request if the node has no handler for the request; `CancellationError` if the
        ///   caller is cancelled or this process has ended.
        /// - Complexity: O(*n*) in the number of nodes.
        public func send<Message: Request>(_ request: Message, to node: String) async throws -> Message.Reply {
            try await network.send(request, as: id, to: node)
        }
    }
}
