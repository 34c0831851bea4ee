internal import TaskControl

extension SimulatedNetwork {
    /// The software that runs on a node from its start to its crash; the ``Node`` is the machine.
    ///
    /// The start-up closure of the node receives a new process at each start. After the crash of its node a process has no further effect, even if
    /// its code still runs: its tasks are cancelled, its requests and sleeps throw `CancellationError`, replies that it has not sent are lost, and
    /// its writes are ignored.
    ///
    /// ## Pauses
    /// While the node is paused, the process is held wherever it uses the network, its clock, or ``Disk/sync()``. Code between two such points
    /// continues to run. A request that was made just before the pause leaves after it, so a process that has looked at the time and then sends a
    /// request may be paused between the two, as real processes are.
    public struct Process: Sendable {
        let network: NetworkStorage
        let id: Incarnation

        /// The name of the node.
        public let name: String

        init(network: NetworkStorage, incarnation: Incarnation, name: String) {
            (self.network, id, self.name) = (network, incarnation, name)
        }

        /// The number of this start of the node: 1 for the first.
        public var incarnation: Int { id.number }

        /// Whether the process still runs: the node has not crashed since this start.
        public var isRunning: Bool { network.with { $0.machine.isCurrent(id) } }

        /// The clock of the node. Sleeps on it end with this process.
        public var clock: NodeClock { NodeClock(network: network, node: id.node, incarnation: id) }

        /// The disk of the node. Writes through it end with this process.
        public var disk: Disk { Disk(network: network, node: id.node, incarnation: id) }

        /// Registers a handler for requests of a type, in place of an earlier handler.
        ///
        /// Each request runs in a task of its own, so that handlers of several requests interleave wherever they suspend.
        ///
        /// ## Cancellation
        /// A crash of the node cancels the handler. The cancellation of the caller does not cancel the handler: the server cannot know whether the
        /// caller still waits.
        ///
        /// - Parameters:
        ///   - type: The type of the request.
        ///   - handler: Returns the reply. An error that it throws is thrown to the caller, over the network like a reply.
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
        /// An error that the task throws is recorded as an event, and ``SimulatedNetwork/run(_:)`` throws it when its closure has returned. A task
        /// that should continue after an error catches it.
        ///
        /// ## Cancellation
        /// A crash of the node cancels the task, whose errors are ignored from then on. After a crash nothing is started.
        ///
        /// - Parameters:
        ///   - name: The name shown in the schedule of a simulation.
        ///   - operation: The work of the task, which inherits the task-locals of the code that calls this.
        public func addTask(name: String? = nil, operation: @escaping @Sendable () async throws -> Void) {
            network.addTask(of: id, name: name ?? self.name) {
                do { try await operation() } catch { network.failed(id, error) }
            }
        }

        /// Sends a request to a node, and waits for its reply.
        ///
        /// The request travels for the latency of its link, is handled by the incarnation of the node that runs when it arrives, and the reply
        /// travels back. A request or a reply is lost if its link is blocked or the network is partitioned *when it would arrive*, or its receiver
        /// is down; also if a seed decides so (``Faults``). In all of these cases this waits until the caller is cancelled: use a time limit. A
        /// reply reaches only the process that has sent the request, never a later process of the same node.
        ///
        /// A duplicate reaches the node after the request; its result is ignored.
        ///
        /// ## Cancellation
        /// A cancelled caller returns at once. A request that has been sent still arrives, and the caller does not know whether it was handled. If
        /// the caller was cancelled before the call, nothing is sent.
        ///
        /// - Parameters:
        ///   - request: The message. A node that has no handler for its type answers with ``NoHandlerError``.
        ///   - node: The name of the receiver, which may be the sender. Traps, and lists the nodes, if there is none of that name.
        /// - Returns: The value that the handler returns.
        /// - Throws: The error that the handler throws; ``ConnectionLostError``; ``NoHandlerError``; `CancellationError` if the caller is cancelled
        ///   or this process has ended.
        /// - Complexity: O(*n*) in the number of nodes.
        public func send<Message: Request>(_ request: Message, to node: String) async throws -> Message.Reply {
            try await network.send(request, as: id, to: node)
        }
    }
}
