internal import TaskControl

/// Runs a body while this process holds a lease, which at most one process holds at a time *as long as no process is paused for longer than the lease and all
/// clocks run at about the same rate*. That is no guarantee: a resource must check ``Lease/token``, or change by ``Lease/guarded(_:)``, if two holders would
/// harm it.
///
/// ```swift
/// try await withLease("nightly-report", in: store) { lease in
///     for account in accounts {
///         try lease.check()
///         try await reports.write(account, token: lease.token)
///     }
/// }
/// ```
///
/// The caller waits for its turn. While it waits and while the body runs, the lease is renewed each third of its duration. If it cannot be renewed, the body is
/// cancelled before the store can grant the lease to another process: its `Task.cancellationCause` is `.leaseLost(name:)`. A body that ignores its cancellation
/// is awaited, and ``Lease/isValid`` is `false` in the meantime.
///
/// A renewal counts from the time at which it was sent, and only if a later transaction has confirmed it. The lease is valid for the granted duration less a
/// margin: a tenth of the duration, since clocks may run at different rates, and twice the longest of the recent round trips to the store. The second part is at
/// most a third of the duration.
///
/// Never ask for a lease within the body of a lease of the same name: the inner call would wait for the outer one.
///
/// A holder that crashes is replaced when its lease has expired in the store.
///
/// ## Ordering
/// First come, first served: by the order in which the entries of the callers were created in the store. A caller loses its place, and enters the line again, if
/// its process is paused or has no contact to the store for longer than the lease, or if its actor is busy until the lease is lost: the body never begins with a
/// lease that is not valid.
///
/// ## Cancellation
/// A cancelled caller cancels the body and waits for its end. A caller that is cancelled while it waits for its turn leaves the line. In both cases, the entry in
/// the store is deleted before this throws `CancellationError`, which takes at most half of the duration of the lease if the store does not answer. Events report
/// whether the entry was deleted, the lease was revoked, or the lease was left to expire.
///
/// ## Errors of the store
/// While a caller waits, calls of the store are repeated. The error of the store is thrown if the line cannot be entered for one duration of the lease, or if the
/// store refuses the calls, for example for a lack of permission.
///
/// - Parameters:
///   - name: The name of the lease. All processes that use the name in the same store exclude each other. It may have any characters.
///   - store: The store.
///   - timeToLive: The duration of the lease, after which a crashed holder is replaced. By default 15 s, as in the leader election of Kubernetes: long enough for
///     a change of the store's leader. The store may extend it. Less than 100 ms counts as 100 ms, and more than 100 years as 100 years.
///   - holder: A description of this process, for people who inspect the store; `nil` for the host and the process ID.
///   - clock: Measures the lease. It must count the time for which the machine is suspended, as the default does.
///   - body: Runs in the caller's isolation, in a child task that has the caller's task name. Receives the lease.
/// - Returns: The value of the body.
/// - Throws: ``LeaseLostError`` if the lease was lost before the body has ended, regardless of what the body has returned or thrown; the error of the body;
///   ``StoreError``, or another error of the store, if the line cannot be entered; `CancellationError` if the caller is cancelled and the body has not returned
///   a value.
public nonisolated(nonsending) func withLease<Value>(
    _ name: String,
    in store: any CoordinationStore,
    timeToLive: Duration = .seconds(15),
    holder: String? = nil,
    clock: some Clock<Duration> = ContinuousClock(),
    body: nonisolated(nonsending) (Lease) async throws -> Value
) async throws -> Value {
    let events = CallEvents.begin(.withLease, .waiting, .waiting, ownerName: name)
    let session = LeaseSession(
        .lease(name),
        store,
        timeToLive: timeToLive,
        holder: holder,
        clock: clock,
        events: events
    )
    return try await session.performWithoutResults(body: body)
}
