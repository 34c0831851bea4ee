internal import TaskControl

/// A semaphore that limits how many tasks, in all processes together, hold a permit at the same time. The limit holds
/// *as long as no process is paused for longer than the duration of a lease and all clocks run at about the same rate*.
/// Because of these conditions, this is no guarantee: if an additional holder would harm a resource, the resource must
/// check ``Lease/token``.
///
/// ```swift
/// let conversions = FleetSemaphore("video-conversions", permits: 8, in: store)
///
/// try await conversions.withPermit { permit in
///     try await convert(video)
/// }
/// ```
///
/// Each permit is a lease. ``withLease(_:in:timeToLive:holder:clock:body:)`` describes how long a lease is valid, which
/// errors are thrown, and how a body whose lease is lost is cancelled. All processes must use the same number of
/// permits: a process with a higher number admits more tasks.
///
/// Safe to use from any thread and any isolation.
///
/// ## Ordering
/// First come, first served (FIFO), among the callers of all processes. A waiting caller can lose its place for the
/// reasons that ``withLease(_:in:timeToLive:holder:clock:body:)`` describes.
public final class FleetSemaphore: Sendable {
    private let line: FleetLine
    private let store: any StoreOperations
    private let timeToLive: Duration
    private let holder: String?
    private let clock: any Clock<Duration>
    private let source: EventSource

    /// Creates a semaphore. Does not call the store.
    ///
    /// - Parameters:
    ///   - name: The name of the semaphore. All processes that use the same name in the same store share the permits.
    ///   - permits: The number of permits, which must be the same in all processes. Less than 1 counts as 1.
    ///   - store: The store in which the processes coordinate.
    ///   - timeToLive: The duration of the lease of each permit. If a process crashes, its permits become available when this time has passed. See
    ///     ``withLease(_:in:timeToLive:holder:clock:body:)`` for the default and the limits.
    ///   - holder: A description of this process, for people who inspect the store; `nil` for the host name and the process ID.
    ///   - clock: The clock that measures the leases. It must continue while the machine sleeps, as the default does.
    public init(
        _ name: String,
        permits: Int,
        in store: any CoordinationStore,
        timeToLive: Duration = .seconds(15),
        holder: String? = nil,
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        line = .semaphore(name, permits: permits)
        source = EventSource(.fleetSemaphore, name: name)
        (self.store, self.timeToLive, self.holder, self.clock) = (store.backend.operations, timeToLive, holder, clock)
        source.emit(.created)
    }

    deinit { source.emit(.deallocated) }

    /// The name of the semaphore, which is the same in all processes that share the permits.
    public var name: String { line.name }

    /// The number of tasks, in all processes together, that can hold a permit at the same time. At least 1.
    public var permits: Int { line.permits }

    /// Waits for a permit, and holds it while a body runs.
    ///
    /// ## Cancellation
    /// If the caller is cancelled while the body runs, the body is cancelled, and this function waits for the end of
    /// the body. If the caller is cancelled before the body has begun, it stops waiting for a permit, and the body does
    /// not run.
    ///
    /// - Parameter body: Receives the lease of the permit. Runs in the caller's isolation. The permit is released when
    ///   the body has ended.
    /// - Returns: The value of the body.
    /// - Throws: The same errors as ``withLease(_:in:timeToLive:holder:clock:body:)``.
    public nonisolated(nonsending) func withPermit<Value>(
        _ body: nonisolated(nonsending) (Lease) async throws -> Value
    ) async throws -> Value {
        let events = CallEvents.begin(
            .fleetSemaphore,
            .waiting,
            .waiting,
            owner: source.identity,
            ownerName: source.name
        )
        let session = LeaseSession(
            line,
            store,
            timeToLive: timeToLive,
            holder: holder,
            clock: clock,
            events: events
        )
        return try await session.perform(body: body)
    }
}
