internal import TaskControl

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
