internal import TaskControl

/// A network between a client and a server that is a closure, with latency and faults that a seed decides.
///
/// ```swift
/// let network = SimulatedNetwork(
///     seed: 7,
///     clock: TestClock(autoJump: true),
///     latency: .milliseconds(5) ... .milliseconds(80),
///     faults: .init(errors: 0.1, lostReplies: 0.05, duplicates: 0.05)
/// )
/// let balance = try await network.send(Deposit(id: 1, amount: 5)) { try await bank.handle($0) }
/// ```
///
/// ## Ordering
/// What becomes of a request is drawn when it is sent: one seed gives one sequence of latencies and faults, for
/// requests in the order of their ``send(_:to:)``. Requests overtake each other as their latencies have it.
public final class SimulatedNetwork: Sendable {
    private struct State {
        var dice: NetworkDice
        var counts = Counts()
    }

    private let clock: any Clock<Duration>
    private let state: Locked<State>
    /// Minus the number of deliveries under way: zero is the mark of those who drain.
    let rest = Level(0)
    /// Where callers are whose request or reply was lost. Never opened.
    let neverAnswered = Gate()

    /// A network whose latencies and faults a seed decides.
    ///
    /// - Parameters:
    ///   - seed: Decides everything that is drawn.
    ///   - clock: What latencies are slept on.
    ///   - latency: How long a request is under way to the server, and a reply back; evenly distributed. Zero or more.
    ///     No latency (`.zero ... .zero`, the default) is no sleep either.
    ///   - faults: What goes wrong, and how often.
    public init(
        seed: UInt64,
        clock: any Clock<Duration> = ContinuousClock(),
        latency: ClosedRange<Duration> = .zero ... .zero,
        faults: Faults = .none
    ) {
        insist(
            latency.lowerBound >= .zero,
            "SimulatedNetwork(latency: \(latency)): nothing arrives before it is sent. Begin at zero or later."
        )
        self.clock = clock
        state = Locked(State(dice: NetworkDice(seed: seed, latency: latency, faults: faults)))
    }

    /// What has happened so far: one consistent look.
    public var counts: Counts { state.withLock(\.counts) }

    /// Sends a request to a server, and waits for its reply.
    ///
    /// When the reply, or the request, is lost, this waits until the caller is cancelled: that is what timeouts are
    /// for. A duplicate reaches the server after the request, in a task of its own with the caller's task-locals; what
    /// becomes of it there is told nobody.
    ///
    /// ## Cancellation
    /// A caller that is cancelled on the way to the server or back leaves at once: a request that has not arrived will
    /// not, one that has is not undone. The server is cancelled with the caller; a duplicate is not.
    ///
    /// - Parameters:
    ///   - request: What the server is given.
    ///   - server: Called in the isolation of the caller, once or not at all; for a duplicate once more, in none.
    /// - Returns: What the server returns.
    /// - Throws: What the server throws; ``ConnectionLostError``; `CancellationError` if the caller is cancelled on the way.
    public func send<Request: Sendable, Reply: Sendable>(
        _ request: Request,
        to server: @escaping @Sendable (Request) async throws -> Reply
    ) async throws -> Reply {
        let drawn = state.withLock { state in
            state.counts.sent += 1
            return state.dice.next()
        }
        switch drawn.fault {
        case .requestLost:
            throw await silence()
        case .connectionLostBefore:
            try await clock.pause(for: drawn.request)
            throw connectionLost()
        case .connectionLostAfter:
            _ = try await deliver(request, to: server, drawn)
            try await clock.pause(for: drawn.reply)
            throw connectionLost()
        case .replyLost:
            _ = try await deliver(request, to: server, drawn)
            throw await silence()
        case nil:
            let reply = try await deliver(request, to: server, drawn)
            try await clock.pause(for: drawn.reply)
            count { $0.answered += 1 }
            return try reply.get()
        }
    }

    /// Waits until no request is on its way to a server or being handled there: neither one that was sent nor a
    /// duplicate.
    ///
    /// Replies may still be on their way back. Requests that were lost are not waited for.
    ///
    /// ## Cancellation
    /// A caller that is cancelled leaves at once. What is under way goes on.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled, nothing else.
    public func drain() async throws {
        try await rest.wait(for: 0)
    }
}

extension SimulatedNetwork {
    /// The way to the server, and what it answers.
    private func deliver<Request: Sendable, Reply: Sendable>(
        _ request: Request,
        to server: @escaping @Sendable (Request) async throws -> Reply,
        _ drawn: NetworkDice.Throw
    ) async throws -> Result<Reply, any Error> {
        rest.move { $0 -= 1 }
        defer { rest.move { $0 += 1 } }
        try await clock.pause(for: drawn.request)
        count { $0.delivered += 1 }
        if let delay = drawn.duplicate { duplicate(request, to: server, after: delay) }
        do { return .success(try await server(request)) } catch { return .failure(error) }
    }

    private func duplicate<Request: Sendable, Reply: Sendable>(
        _ request: Request,
        to server: @escaping @Sendable (Request) async throws -> Reply,
        after delay: Duration
    ) {
        // Counted before the task is there, so that whoever drains now waits for it.
        rest.move { $0 -= 1 }
        Task(name: "SimulatedNetwork: duplicate") {
            defer { rest.move { $0 += 1 } }
            try await clock.pause(for: delay)
            count {
                $0.delivered += 1
                $0.duplicated += 1
            }
            _ = try await server(request)
        }
    }

    /// What a caller hears of what was lost: nothing, until it is cancelled.
    private func silence() async -> any Error {
        count { $0.lost += 1 }
        do { try await neverAnswered.wait() } catch { return error }
        preconditionFailure("The gate of lost requests was opened.")
    }

    private func connectionLost() -> ConnectionLostError {
        count { $0.failed += 1 }
        return ConnectionLostError()
    }

    private func count(_ change: (inout Counts) -> Void) {
        state.withLock { change(&$0.counts) }
    }
}
