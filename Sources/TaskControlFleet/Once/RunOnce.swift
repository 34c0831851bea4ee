internal import TaskControl

/// Runs a body once per period for all processes that call this function with the same name, period and store, and
/// returns when it has been run.
///
/// ```swift
/// // On each of five machines, at about 02:00.
/// let isMine = try await runOnce("nightly report", for: "2026-11-24", in: store) { lease in
///     try await save(try await api.fetchFeed(), of: "2026-11-24", token: lease.token)
/// }
/// ```
///
/// The first caller runs the body while it holds a lease, and records the period in the store. The other callers wait,
/// so that one of them can take over if the process of the first one crashes, and return `false` when the period is
/// recorded. A caller that comes later returns `false` at once. Periods are texts of your choice, which all processes
/// must compute alike, such as the date, or the `period` of a `CalendarSchedule.Tick` of `TaskControlCalendar`. The last 100
/// periods of a name are remembered: an older period is run again.
///
/// ## A crash in the middle
/// A lease alone does not make the number of runs exactly one: see ``Lease/FencingToken``. This function runs the body *at
/// least* once: the period is recorded after the body, and a run that throws, crashes, or loses its lease is repeated by the
/// next caller. So the body must be safe to repeat: for example, it replaces the report of the period. For a body that must
/// not run twice, use ``runAtMostOnce(_:for:in:timeToLive:holder:clock:body:)``. Two bodies run at the same time only in the cases
/// that ``withLease(_:in:timeToLive:holder:clock:body:)`` names; the body can pass the ``Lease/token`` on to a resource
/// that checks it. Runs of different periods of one name never overlap otherwise.
///
/// ## Cancellation
/// If the caller is cancelled while it waits, it stops waiting, and the body does not run. If it is cancelled while the
/// body runs, the body is cancelled, and awaited. If the body returns all the same, the period is recorded before this
/// function returns `true`.
///
/// - Parameters:
///   - name: The name of the job. It may contain any characters. Leases of ``withLease(_:in:timeToLive:holder:clock:body:)``
///     with the same name are independent of it.
///   - period: The period. Compared byte by byte, in UTF-8.
///   - store: The store in which the processes coordinate.
///   - timeToLive: The duration of the lease, which is also the time after which a waiting caller replaces a crashed
///     one. See ``withLease(_:in:timeToLive:holder:clock:body:)`` for the default and the limits.
///   - holder: A description of this process, for people who inspect the store; `nil` for the host name and the process ID.
///   - clock: The clock that measures the lease. It must continue while the machine sleeps, as the default does.
///   - body: Receives the lease. Runs in the caller's isolation, in a child task with the caller's task name.
/// - Returns: Whether this call has run the body; `false` if the period had been recorded.
/// - Throws: The error of the body: the period is then run again by the next caller. ``LeaseLostError`` if the lease was lost before the period was recorded; ``StoreError``,
///   or another error of the store; the error of the clock if it cannot sleep. `CancellationError` if the caller is
///   cancelled and the body has not returned.
@discardableResult
public nonisolated(nonsending) func runOnce(
    _ name: String,
    for period: String,
    in store: any CoordinationStore,
    timeToLive: Duration = .seconds(15),
    holder: String? = nil,
    clock: some Clock<Duration> = ContinuousClock(),
    body: nonisolated(nonsending) (Lease) async throws -> Void
) async throws -> Bool {
    try await run(name, period, store, timeToLive, holder, clock) { lease, record in
        try await body(lease)
        try await record()
    }
}

/// Runs a body at most once per period for all processes that call this function with the same name, period and store: for
/// a body that must not run twice, such as one that sends mail, and that may be left out.
///
/// ```swift
/// try await runAtMostOnce("newsletter", for: "2026-11-24", in: store) { _ in try await server.heartbeat() }
/// ```
///
/// The period is recorded before the body, and not after it. So a run that throws, crashes, or loses its lease is not
/// repeated, and the other callers return `false`. No lease can make the number of runs exactly one. In everything else
/// the function is like ``runOnce(_:for:in:timeToLive:holder:clock:body:)``, which runs the body at least once, and the
/// runs of both functions with the same name are recorded together.
///
/// ## Cancellation
/// If the caller is cancelled while it waits, it stops waiting, and the body does not run. If it is cancelled while the
/// body runs, the body is cancelled, and awaited. The period stays recorded.
///
/// - Parameters:
///   - name: The name of the job.
///   - period: The period. Compared byte by byte, in UTF-8.
///   - store: The store in which the processes coordinate.
///   - timeToLive: The duration of the lease, which is also the time after which a waiting caller replaces one that has
///     crashed before it recorded the period.
///   - holder: A description of this process, for people who inspect the store; `nil` for the host name and the process ID.
///   - clock: The clock that measures the lease. It must continue while the machine sleeps, as the default does.
///   - body: Receives the lease. Runs in the caller's isolation, in a child task with the caller's task name.
/// - Returns: Whether this call has run the body; `false` if the period had been recorded.
/// - Throws: The error of the body; the other errors of ``runOnce(_:for:in:timeToLive:holder:clock:body:)``.
@discardableResult
public nonisolated(nonsending) func runAtMostOnce(
    _ name: String,
    for period: String,
    in store: any CoordinationStore,
    timeToLive: Duration = .seconds(15),
    holder: String? = nil,
    clock: some Clock<Duration> = ContinuousClock(),
    body: nonisolated(nonsending) (Lease) async throws -> Void
) async throws -> Bool {
    try await run(name, period, store, timeToLive, holder, clock) { lease, record in
        try await record()
        try await body(lease)
    }
}

/// Runs a body that records the period, unless the period is recorded already.
private nonisolated(nonsending) func run(
    _ name: String,
    _ period: String,
    _ store: any CoordinationStore,
    _ timeToLive: Duration,
    _ holder: String?,
    _ clock: some Clock<Duration>,
    _ body:
        nonisolated(nonsending) (Lease, _ record: nonisolated(nonsending) () async throws -> Void) async throws -> Void
) async throws -> Bool {
    let operations = store.backend.operations
    let ledger = RunLedger(name: name, store: operations)
    // Without the lease, a caller that comes late does not wait for a run of another period. If the store fails, the wait for the lease repeats the call.
    if let (record, _) = try? await ledger.read(), record.run(of: period) != nil { return false }
    let events = CallEvents.begin(.runOnce, .waiting, .waiting, ownerName: name)
    let session = LeaseSession(
        .once(name),
        operations,
        timeToLive: timeToLive,
        holder: holder,
        clock: clock,
        events: events
    )
    return try await session.perform { lease in
        if try await ledger.read(under: lease, clock: clock).run(of: period) != nil { return false }
        try await body(lease) { try await ledger.record(period, under: lease, clock: clock) }
        return true
    }
}
