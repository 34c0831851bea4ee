internal import TaskControl

extension SimulatedNetwork {
    /// A request that a node can handle, and the type of its reply.
    ///
    /// ```swift
    /// struct Acquire: SimulatedNetwork.Request {
    ///     typealias Reply = Lease?
    ///     let holder: String
    /// }
    /// ```
    public protocol Request<Reply>: Sendable {
        /// The type of the reply, which the handler of the request returns.
        associatedtype Reply: Sendable
    }

    /// The error of a request to a node that has no handler for the type of the request.
    package struct NoHandlerError: Error, Hashable, CustomStringConvertible {
        /// The name of the node that received the request.
        package let node: String
        /// The name of the request's type.
        package let request: String

        /// A sentence that names the node and the type of the request.
        package var description: String {
            "The node “\(node)” has no handler for \(request). Register one in its start-up: process.handle(\(request).self) { … }"
        }
    }

    /// Sends a request to a node, and waits for the reply. The sender is a client outside all nodes: no partition
    /// separates the client from a node, and the client is never paused or crashed.
    ///
    /// In all other respects, the request behaves like a request that a process sends with ``Process/send(_:to:within:)``: for
    /// example, if the request or the reply is lost, this function waits until the caller is cancelled or ``run(_:)`` ends.
    /// Traps, and lists the nodes, if there is no node with the given name.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, this function throws at once. A request that has been sent is not withdrawn.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - node: The name of the node that receives the request.
    ///   - limit: The time after which the caller stops waiting for the reply, on the network's clock; `nil` for no limit.
    /// - Returns: The value that the handler returns.
    /// - Throws: `TimeoutError` at the limit; the error that the handler throws; ``ConnectionLostError`` if the seed of the network decides that the
    ///   connection is lost; an error that names the request if the node has no handler for the request;
    ///   `CancellationError` if the caller is cancelled, or the closure of ``run(_:)`` has returned before the reply has
    ///   arrived.
    public func send<Message: Request>(
        _ request: Message,
        to node: String,
        within limit: Duration? = nil
    ) async throws -> Message.Reply {
        try await storage.within(limit, clock: storage.clock) {
            try await storage.send(request, as: nil, to: node)
        }
    }
}

extension NetworkStorage {
    func within<Reply>(
        _ limit: Duration?,
        clock: any Clock<Duration>,
        _ request: nonisolated(nonsending) () async throws -> Reply
    ) async throws -> Reply {
        guard let limit else { return try await request() }
        return try await withTimeout(limit, clock: clock, operation: request)
    }

    func send<Message: SimulatedNetwork.Request>(
        _ request: Message,
        as sender: Incarnation?,
        to name: String
    ) async throws -> Message.Reply {
        let receiver = index(of: name)
        try Task.checkCancellation()
        if let sender, with({ !$0.machine.isCurrent(sender) }) { throw await endCall() }
        let drawn = draw(from: sender?.node, to: receiver)
        if let sender { strike(sender) }
        let reply = PendingReply<Message.Reply>()
        // In a separate task: a message that was sent is not withdrawn when the sender gives up, or crashes.
        post(request, from: sender, to: receiver, drawn, reply)
        return try await reply.wait(as: sender, in: self).get()
    }

    private func post<Message: SimulatedNetwork.Request>(
        _ request: Message,
        from sender: Incarnation?,
        to receiver: Int,
        _ drawn: NetworkDice.Throw,
        _ reply: PendingReply<Message.Reply>
    ) {
        let way = UnderWay(rest)
        addMessage(Message.self, from: sender?.node, to: receiver) { [self] in
            if let sender { try await hold(sender) }
            let result = try await carry(request, from: sender, to: receiver, drawn)
            way.end()
            if drawn.fault == .replyLost { throw Lost() }
            let back = LinkID(from: receiver, to: sender?.node)
            if drawn.fault != .connectionLostBefore { try await travel(drawn.reply, over: back) }
            let isHeard = with { state in
                guard state.machine.replyArrives(over: back, at: sender) else { return false }
                if result == nil { state.counts.failed += 1 } else { state.counts.answered += 1 }
                return true
            }
            if !isHeard { throw Lost() }
            reply.arrive(result ?? .failure(SimulatedNetwork.ConnectionLostError()))
        }
    }

    /// Carries a request to its receiver, and returns the result of the handler; `nil` if the connection was lost.
    ///
    /// - Parameters:
    ///   - sender: The incarnation that has sent the request; `nil` for a client that is not a node.
    ///   - receiver: The index of the node that receives the request.
    ///   - drawn: The latencies and the fault that were drawn for the request.
    /// - Throws: An error if the request or its reply is lost.
    private func carry<Message: SimulatedNetwork.Request>(
        _ request: Message,
        from sender: Incarnation?,
        to receiver: Int,
        _ drawn: NetworkDice.Throw
    ) async throws -> Result<Message.Reply, any Error>? {
        let link = LinkID(from: sender?.node, to: receiver)
        try await travel(drawn.request, over: link)
        switch drawn.fault {
        case .requestLost: throw Lost()
        case .connectionLostBefore: return nil
        case .connectionLostAfter, .replyLost, nil: break
        }
        let process = try arrive(over: link, at: receiver)
        if let delay = drawn.duplicate {
            let way = UnderWay(rest)
            addMessage(Message.self, from: sender?.node, to: receiver) { [self] in
                try await travel(delay, over: link)
                let process = try arrive(over: link, at: receiver)
                count { $0.duplicated += 1 }
                _ = try await handle(request, as: process)
                way.end()
            }
        }
        let result = try await handle(request, as: process)
        return drawn.fault == .connectionLostAfter ? nil : result
    }

    private func arrive(over link: LinkID, at receiver: Int) throws -> Incarnation {
        switch with({ $0.machine.requestArrives(over: link, at: receiver) }) {
        case .reaches(let process): return process
        case .lost: throw Lost()
        }
    }

    private func handle<Message: SimulatedNetwork.Request>(
        _ request: Message,
        as process: Incarnation
    ) async throws -> Result<Message.Reply, any Error> {
        try await hold(process)
        let found = with { state -> (handler: Handler?, name: String)? in
            guard state.machine.isCurrent(process) else { return nil }
            state.counts.delivered += 1
            let node = state.nodes[process.node]
            return (node.handlers[ObjectIdentifier(Message.self)], node.name)
        }
        guard let (handler, name) = found else { throw Lost() }
        guard let handler else {
            return .failure(SimulatedNetwork.NoHandlerError(node: name, request: "\(Message.self)"))
        }
        let done = PendingReply<Message.Reply>()
        addTask(of: process, name: "\(Message.self) at \(name)") {
            do { done.arrive(.success(try await handler(request) as! Message.Reply)) } catch {
                done.arrive(.failure(error))
            }
        }
        let result = try await done.wait(as: process, in: self)
        strike(process)
        try await hold(process)
        return result
    }

    /// Starts the task that carries a message. If the task throws, the message counts as lost.
    ///
    /// - Parameters:
    ///   - type: The type of the message, which is part of the task's name.
    ///   - sender: The index of the node that sends the message; `nil` for a client that is not a node.
    ///   - receiver: The index of the node that receives the message.
    ///   - travel: The operation of the task.
    private func addMessage(
        _ type: Any.Type,
        from sender: Int?,
        to receiver: Int,
        _ travel: @escaping @Sendable () async throws -> Void
    ) {
        let mark = UnderWay(tasks)
        // A message on its way belongs to no process.
        create(in: 0) {
            transit.addTask(name: "\(type) to \(name(of: receiver))") { [self] in
                do { try await travel() } catch { lose(type, from: sender, to: receiver) }
                mark.end()
            }
        }
    }
}

/// The error that ends the delivery of a message that is lost.
private struct Lost: Error {}
