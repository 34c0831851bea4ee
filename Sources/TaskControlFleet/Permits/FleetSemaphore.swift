internal import TaskControl

/// Limits how many tasks of all processes do something at the same time, *as long as no process is paused for longer than its lease and all clocks run at about the
/// same rate*. That is no guarantee: if additional holders would harm a resource, the resource must check ``Lease/token``.
///
/// ```swift
/// let conversions = FleetSemaphore("video-conversions", permits: 8, in: store)
///
/// try await conversions.withPermit { permit in
///     try await convert(video)
/// }
/// ```
///
/// Each permit is a lease of its own: see ``withLease(_:in:timeToLive:holder:clock:body:)`` for its validity, its errors, and the cancellation of a body whose
/// lease is lost. The processes must agree on the number of permits: a process with a higher number admits more.
///
/// Safe to use from any thread and any isolation.
///
/// ## Ordering
/// First come, first served, among the callers of all processes.
public final class FleetSemaphore: Sendable {
    private let line: FleetLine
    private let store: any CoordinationStore
    private let timeToLive: Duration
    private let holder: String?
    private let clock: any Clock<Duration>
    private let source: EventSource

    /// Creates a semaphore. The store is not called.
    ///
    /// - Parameters:
    ///   - name: The name. All processes that use it in the same store share the permits.
    ///   - permits: The number of permits. Less than 1 counts as 1.
    ///   - store: The store.
    ///   - timeToLive: The duration of the lease of each permit, as for ``withLease(_:in:timeToLive:holder:clock:body:)``.
    ///   - holder: A description of this process, for people who inspect the store; `nil` for the host and the process ID.
    ///   - clock: Measures the leases.
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
        (self.store, self.timeToLive, self.holder, self.clock) = (store, timeToLive, holder, clock)
        Diagnostics.emit(source.event(.created))
    }

    deinit { Diagnostics.emit(source.event(.deallocated)) }

    /// The name of the semaphore, which all processes that share the permits use.
    public var name: String { line.name }

    /// The number of permits, at least 1.
    public var permits: Int { line.permits }

    /// Waits for a permit, and holds it while a body runs.
    ///
    /// ## Cancellation
    /// As for ``withLease(_:in:timeToLive:holder:clock:body:)``: a cancelled caller cancels the body and waits for its end, or leaves the line.
    ///
    /// - Parameter body: Runs in the caller's isolation. Receives the lease of the permit.
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
        return try await session.performWithoutResults(body: body)
    }
}
