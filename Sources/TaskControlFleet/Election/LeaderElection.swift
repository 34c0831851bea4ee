public import TaskControl
public import TaskControlSupervision

/// An election of one of several processes as the leader, which runs an operation. The leader holds a ``Lease`` in a
/// ``CoordinationStore``. At most one process is the leader, *as long as no process is paused for longer than the lease
/// and all clocks run at about the same rate*. Because of these conditions, this is no guarantee: if a second leader
/// would harm a resource, the resource must check ``Lease/token``.
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
/// Each process that calls ``lead(in:limit:backoff:grace:priority:operation:)`` is a candidate until it is elected, and
/// then runs its operation for as long as its lease is valid. If the lease is lost or the operation throws, the process
/// becomes a candidate again. ``withLease(_:in:timeToLive:holder:clock:body:)`` describes how long a lease is valid,
/// and how an operation whose lease is lost is cancelled. A call of `withLease` with the name of the election uses the
/// same lease: while the body of that call runs, no process is elected.
///
/// Safe to use from any thread and any isolation.
public final class LeaderElection: Sendable {
    /// The state of this process in an election.
    @nonexhaustive
    public enum State: Hashable, Sendable {
        /// The process does not take part in the election, or waits for the delay between two attempts before it
        /// becomes a candidate again.
        case idle
        /// The process waits to be elected. Or it is no longer the leader, and its operation has not ended or its lease
        /// is not released yet.
        case candidate
        /// The process is the leader. The associated value is the fencing token of its lease.
        case leader(Lease.FencingToken)
    }

    private struct Books {
        var candidates = 0
        var token: Lease.FencingToken?

        var state: State { token.map { .leader($0) } ?? (candidates > 0 ? .candidate : .idle) }
    }

    private let line: FleetLine
    private let store: any StoreOperations
    private let timeToLive: Duration
    private let holder: String?
    private let clock: any Clock<Duration>
    private let source: EventSource
    private let books = Locked(Books())
    private let publication = StatePublication(State.idle)

    /// Creates an election in which this process does not take part yet. Does not call the store.
    ///
    /// - Parameters:
    ///   - name: The name of the election. All processes that use the same name in the same store elect one leader.
    ///   - store: The store in which the processes coordinate.
    ///   - timeToLive: The duration of the leader's lease. If the leader crashes, another process is elected when this time has passed. See
    ///     ``withLease(_:in:timeToLive:holder:clock:body:)`` for the default and the limits.
    ///   - holder: A description of this process, which ``leader()`` returns to all processes; `nil` for the host name and the process ID.
    ///   - clock: The clock that measures the lease and the backoff delays. It must continue while the machine sleeps, as the default does.
    public init(
        _ name: String,
        in store: any CoordinationStore,
        timeToLive: Duration = .seconds(15),
        holder: String? = nil,
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        line = .lease(name)
        source = EventSource(.leaderElection, name: name)
        (self.store, self.timeToLive, self.holder, self.clock) = (store.backend.operations, timeToLive, holder, clock)
        source.emit(.created)
    }

    deinit {
        publication.finish()
        source.emit(.deallocated)
    }

    /// The name of the election, which all processes that take part use.
    public var name: String { line.name }

    /// The state of this process in the election. It may have changed by the time the caller uses it.
    public var state: State { publication.state }

    /// A new stream of the states of this process, which begins with the current ``State`` and ends when this object is
    /// deallocated.
    ///
    /// If the process loses its lease, the state changes from `leader` to `candidate` at once, even if the operation
    /// has not ended yet. The stream buffers the latest 64 states: a reader that is further behind misses the oldest
    /// ones.
    ///
    /// ## Cancellation
    /// The stream ends when the task that reads it is cancelled.
    public var states: AsyncStream<State> { publication.stream() }

    /// Takes part in the election, and runs an operation whenever this process is the leader. The operation is retained until
    /// the work ends: an object that owns the lifetime must not be captured, or only weakly.
    ///
    /// If the lease is lost, the operation is cancelled; an operation that ignores its cancellation can then run beside
    /// that of the next leader. When the operation has ended because it threw or because the lease was lost, the process
    /// releases a lease that it still holds, waits for the delay of `backoff`, and becomes a candidate again. This continues until the operation returns (the work is then
    /// completed), the lifetime ends, the returned work is stopped, or the work fails permanently because of `limit` or
    /// `backoff`.
    ///
    /// The operation can run several times, and must be safe to repeat.
    ///
    /// ## Cancellation
    /// When the lifetime ends, a candidate stops waiting, and the operation of a leader is cancelled, as when the lease
    /// is lost. After the
    /// operation has ended, the process releases its lease, so the next leader does not wait until the lease has
    /// expired. See `AsyncLifetime.keepRunning` for the effect of the lifetime's `shutdown(grace:)`.
    ///
    /// - Parameters:
    ///   - lifetime: The lifetime that owns the work.
    ///   - limit: The number of failures within a period of time after which the work fails permanently. Each error of
    ///     the operation or the store, and each loss of the lease, is a failure. By default unlimited, because the
    ///     store may be unreachable for a long time.
    ///   - backoff: The delay before each new attempt. See `AsyncLifetime.keepRunning` for the default. If a custom backoff returns `nil` for an
    ///     error, such as a ``StoreError`` with the reason ``StoreError/Reason/unauthorized``, the work fails permanently.
    ///   - grace: The time for which the operation may continue after a call of `SupervisedWork.stop()`, before it is
    ///     cancelled. By default zero: it is cancelled at once. A process that is not the leader stops at once in any
    ///     case.
    ///   - priority: The priority of the work's task; `nil` for the caller's priority.
    ///   - operation: Runs while this process is the leader, and receives the lease. It runs in the caller's isolation and with the caller's
    ///     task-locals, but without the caller's deadline.
    /// - Returns: The work: a handle to observe and stop it. `SupervisedWork.state` is `running` while this process is
    ///   the leader.
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

    /// Starts the work that ``lead(in:limit:backoff:grace:priority:operation:)`` returns. The parameters are those of
    /// that function, after the clock of the election. A separate generic function, because `AsyncLifetime.keepRunning`
    /// needs the concrete type of the clock.
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
            // The operation has done what a leader must do when it returns.
            restart: .onFailure,
            limit: limit,
            backoff: backoff,
            grace: grace,
            priority: priority,
            clock: clock,
            operation: operation
        )
    }

    /// Returns the process that is the leader now, according to the store; `nil` if there is no leader. The leader may have changed by the time the
    /// caller uses the result.
    ///
    /// - Throws: ``StoreError``; `CancellationError` if the caller is cancelled.
    public nonisolated(nonsending) func leader() async throws -> Lease.Holder? {
        let range = StoreRange(.prefix(line.prefix), order: .creation, limit: 1)
        return try await store.read(range).entries.first.map(Lease.Holder.init)
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
            try await session.perform { lease in
                // A leader that was asked to stop in the meantime gives up the leadership at once.
                if run.isStopping { return }
                hasBegun = true
                publish { $0.token = lease.token }
                defer { resign(lease.token) }
                // The operation may ignore its cancellation: the loss is published before the operation ends.
                async let _: Void = announceLoss(of: lease)
                run.markReady()
                try await operation(lease)
            }
        } catch is CancellationError where !hasBegun && run.isStopping && !Task.isCancelled {
            // The candidate has left the line.
        }
    }

    private func announceLoss(of lease: Lease) async {
        _ = await lease.session.loss()
        if lease.session.read({ $0.isLost }) { resign(lease.token) }
    }

    private func resign(_ token: Lease.FencingToken) {
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
