internal import TaskControl

extension SimulatedNetwork {
    /// Sends a request to a server that is a closure, and waits for its reply.
    ///
    /// When the reply, or the request, is lost, this waits until the caller is cancelled: use a time limit. A duplicate reaches the
    /// server after the request, in a task of its own with the caller's task-locals; its result is ignored.
    ///
    /// ## Cancellation
    /// A caller that is cancelled while the request or the reply travels returns at once. A request that has not arrived does not
    /// arrive later; the effect of a request that has arrived is not undone. The server is cancelled with the caller; a duplicate is
    /// not.
    ///
    /// - Parameters:
    ///   - request: The value that the server receives.
    ///   - server: Called in the isolation of the caller, once or not at all; for a duplicate once more, without isolation.
    /// - Returns: The value that the server returns.
    /// - Throws: The error that the server throws; ``ConnectionLostError``; `CancellationError` if the caller is cancelled while the
    ///   request or the reply travels.
    public func send<Message: Sendable, Reply: Sendable>(
        _ request: Message,
        to server: @escaping @Sendable (Message) async throws -> Reply
    ) async throws -> Reply {
        let drawn = storage.draw(from: nil, to: nil)
        switch drawn.fault {
        case .requestLost:
            throw await silence()
        case .connectionLostBefore:
            try await storage.timeline.pause(for: drawn.request)
            throw storage.connectionLost()
        case .connectionLostAfter:
            _ = try await deliver(request, to: server, drawn)
            try await storage.timeline.pause(for: drawn.reply)
            throw storage.connectionLost()
        case .replyLost:
            _ = try await deliver(request, to: server, drawn)
            throw await silence()
        case nil:
            let reply = try await deliver(request, to: server, drawn)
            try await storage.timeline.pause(for: drawn.reply)
            storage.count { $0.answered += 1 }
            return try reply.get()
        }
    }

    /// Delivers a request to the server, and returns its answer.
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
        // Counted before the task is there, so that a drainer that comes now waits for it.
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

    /// The wait of a caller whose message was lost: it receives nothing, until it is cancelled.
    private func silence() async -> any Error {
        storage.count { $0.lost += 1 }
        do { try await neverAnswered.wait() } catch { return error }
        preconditionFailure("The gate of lost requests was opened.")
    }
}

extension NetworkStorage {
    func connectionLost() -> SimulatedNetwork.ConnectionLostError {
        count { $0.failed += 1 }
        return SimulatedNetwork.ConnectionLostError()
    }
}
