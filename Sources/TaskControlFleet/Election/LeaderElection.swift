public import TaskControl
public import TaskControlSupervision

/// Elects one of several processes to do something, *as long as no process is paused for longer than the lease and all clocks run at about the same rate*. That is no
/// guarantee: a resource that two leaders would harm must check ``Lease/token``.
///
/// ```swift
/// let election = LeaderElection("scheduler", in: store)
/// election.lead(in: lifetime) { lease in
///     while true {
///         try lease.check()
///         try await runDueJobs(token: lease.token)
///         try await Task.sleep(for: .seconds(1))
///     }
/// }
/// ```
///
/// Each process is a candidate until it is elected, then runs the operation for as long as its lease is valid, and is a candidate again afterwards. See
/// ``withLease(_:in:timeToLive:holder:clock:body:)`` for the validity of the lease and for the cancellation of an operation whose lease is lost. `withLease` with the
/// same name uses the same lease: while its body runs, no process is elected.
///
/// Safe to use from any thread and any isolation.
public final class LeaderElection: Sendable {
    /// The state of this process in an election.
    @nonexhaustive
    public enum State: Hashable, Sendable {
        /// The process does not take part, or waits for the delay before its next attempt.
        case idle
        /// The process waits to be elected, or gives up its lease after it was the leader.
        case candidate
        /// The process is the leader, with the fencing token of its lease.
        case leader(FencingToken)
    }

    private struct Books {
        var candidates = 0
        var token: FencingToken?

        var state: State { token.map { .leader($0) } ?? (candidates > 0 ? .candidate : .idle) }
    }

    private let line: FleetLine
    private let store: any CoordinationStore
    private let timeToLive: Duration
    private let holder: String?
    private let clock: any Clock<Duration>
    private let source: EventSource
    private let books = Locked(Books())
    private let publication = StatePublication(State.idle)

    /// Creates an election in which this process does not take part yet. The store is not called.
    ///
    /// - Parameters:
    ///   - name: The name. All processes that use it in the same store elect one leader.
    ///   - store: The store.
    ///   - timeToLive: The duration of the lease of the leader, after which a crashed leader is replaced, as for
    ///     ``withLease(_:in:timeToLive:holder:clock:body:)``.
    ///   - holder: A description of this process, which ``leader()`` returns to all processes; `nil` for the host and the process ID.
    ///   - clock: Measures the lease, and the delays between two attempts.
    public init(
        _ name: String,
        in store: any CoordinationStore,
        timeToLive: Duration = .seconds(15),
        holder: String? = nil,
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        line = .lease(name)
        source = EventSource(.leaderElection, name: name)
        (self.store, self.timeToLive, self.holder, self.clock) = (store, timeToLive, holder, clock)
        Diagnostics.emit(source.event(.created))
    }

    deinit {
        publication.finish()
        Diagnostics.emit(source.event(.deallocated))
    }

    /// The name of the election, which all processes that take part use.
    public var name: String { line.name }

    /// The state of this process. It may have changed by the time the caller uses it.
    public var state: State { publication.state }

    /// A stream of the current state and each later one, which ends when this object is deallocated.
    ///
    /// A process that loses its lease stops being the leader at once, even if its operation has not ended yet. A reader that falls behind by more than 64 states misses
    /// the oldest of them.
    ///
    /// ## Cancellation
    /// The stream ends when the task that reads it is cancelled.
    public var states: AsyncStream<State> { publication.stream() }

    /// Takes part in the election until a lifetime ends, and runs an operation whenever this process is the leader.
    ///
    /// When the operation throws, or its lease is lost, the process gives up the leadership, waits for the delay of `backoff`, and is a candidate again. When
    /// the operation returns, the process gives up the leadership, is not a candidate again, and the work is completed.
    ///
    /// The operation must be safe to repeat. An operation that captures the object that declares the lifetime retains the object: capture it weakly.
    ///
    /// ## Cancellation
    /// The work ends with the lifetime: the operation is cancelled, or the process stops being a candidate. The entry in the store is deleted when the operation has
    /// ended, so that the next leader does not wait until the lease has expired. Work that has not been elected ends at once when it is asked to stop: `grace` applies
    /// only to the operation. See `AsyncLifetime.keepRunning` for `shutdown(grace:)`.
    ///
    /// - Parameters:
    ///   - lifetime: The owner of the work.
    ///   - limit: The number of failures per time after which the work fails permanently. By default unlimited: a store that is unreachable is a failure, too.
    ///   - backoff: The delay before each new attempt, as for `AsyncLifetime.keepRunning`. A custom backoff that returns `nil` for an error, such as a ``StoreError``
    ///     that reports missing permission, fails the work permanently.
    ///   - grace: The time for which the operation may continue after the work was asked to stop.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Receives the lease of the leader. Runs in the isolation of the code that calls this, with the task-locals of the caller and without its
    ///     deadline.
    /// - Returns: The work, to observe its state, which is `running` while this process is the leader.
    @discardableResult
    public func lead(
        in lifetime: AsyncLifetime,
        limit: RestartLimit = .unlimited,
        backoff: RetryBackoff = .supervision,
        grace: Duration = .zero,
        priority: TaskPriority? = nil,
        @_inheritActorContext operation: @escaping @isolated(any) @Sendable (Lease) async throws -> Void
    ) -> SupervisedWork {
        keepRunning(clock, in: lifetime, limit, backoff, grace, priority) { run in
            try await self.campaign(run, operation)
        }
    }

    /// Opens the type of the clock.
    private func keepRunning(
        _ clock: some Clock<Duration>,
        in lifetime: AsyncLifetime,
        _ limit: RestartLimit,
        _ backoff: RetryBackoff,
        _ grace: Duration,
        _ priority: TaskPriority?,
        _ operation: @escaping @isolated(any) @Sendable (SupervisedRun) async throws -> Void
    ) -> SupervisedWork {
        lifetime.keepRunning(
            name,
            limit: limit,
            backoff: backoff,
            grace: grace,
            priority: priority,
            clock: clock,
            operation: operation
        )
    }

    /// Returns the process that is the leader now, according to the store; `nil` if there is none. The leader may have changed by the time the caller uses it.
    ///
    /// - Throws: ``StoreError``, or `CancellationError`.
    public nonisolated(nonsending) func leader() async throws -> LeaseHolder? {
        let range = StoreRange(.prefix(line.prefix), order: .creation, limit: 1)
        return try await store.read(range).entries.first.map(LeaseHolder.init)
    }

    // MARK: Campaigns

    private func campaign(
        _ run: SupervisedRun,
        _ operation: @isolated(any) @Sendable (Lease) async throws -> Void
    ) async throws {
        let events = CallEvents.begin(
            .leaderElection,
            .waiting,
            .waiting,
            owner: source.identity,
            ownerName: source.name
        )
        let session = LeaseSession(line, store, timeToLive: timeToLive, holder: holder, clock: clock, events: events) {
            await run.waitForStop()
        }
        publish { $0.candidates += 1 }
        defer { publish { $0.candidates -= 1 } }
        var hasBegun = false
        do {
            try await session.performWithoutResults { lease in
                // A leader that is asked to stop in the meantime gives the leadership up at once.
                if run.isStopping { return }
                hasBegun = true
                publish { $0.token = lease.token }
                defer { resign(lease.token) }
                // The operation may ignore its cancellation: others learn of the loss before its end.
                async let _: Void = announceLoss(of: lease)
                run()
                try await operation(lease)
            }
        } catch is CancellationError where !hasBegun && run.isStopping && !Task.isCancelled {
            // The candidate has left the line.
        }
    }

    private func announceLoss(of lease: Lease) async {
        _ = await lease.session.loss()
        if case .lost = lease.session.read({ $0.phase }) { resign(lease.token) }
    }

    private func resign(_ token: FencingToken) {
        publish { if $0.token == token { $0.token = nil } }
    }

    private func publish(_ change: (inout Books) -> Void) {
        // Under the lock, so that the states have one order. The streams receive them outside.
        publication.update {
            books.withLock { books in
                let old = books.state
                change(&books)
                return books.state == old ? nil : books.state
            }
        }
    }
}
