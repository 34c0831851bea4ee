internal import TaskControl

/// Runs a body while this process holds a lease with a given name. At most one caller, of all processes, holds the
/// lease at a time, *as long as no process is paused for longer than the duration of the lease and all clocks run at
/// about the same rate*. Because of these conditions, this is no guarantee: if a second holder would harm a resource,
/// the resource must check ``Lease/token``, or be changed with ``CoordinationStore/commit(if:put:delete:under:)``.
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
/// The caller waits until no other caller holds the lease, and then runs the body. While the caller waits and while the
/// body runs, the lease is renewed after each third of its duration. If the lease cannot be renewed, the body is
/// cancelled before the store can grant the lease to another process; `Task.cancellationCause` inside the body is then
/// `.leaseLost(name:)`. If the body ignores the cancellation, this function waits for the end of the body, and
/// ``Lease/isValid`` is `false` in the meantime.
///
/// The lease is valid for the granted duration, less a margin. The duration is counted from the time at which the last
/// request to grant or renew the lease was sent to the store; a request counts only if a later transaction has
/// confirmed its effect. The margin is the sum of two parts. The first is a tenth of the duration, because clocks may
/// run at different rates. The second is twice the longest of the recent round trips to the store, but at most a third
/// of the duration.
///
/// Do not call `withLease` within the body of a lease with the same name: the inner call would wait for the outer one, and neither would end.
///
/// If the holder's process crashes, the next caller obtains the lease when it has expired in the store.
///
/// ## Ordering
/// First come, first served (FIFO): each caller has an entry in the store, and the entries are ordered by their
/// creation. A caller loses its place, and waits again behind all others, if its process is paused or has no contact to
/// the store for longer than the lease, or if the actor on which the body must run is busy until the lease is lost. The
/// body never begins with a lease that is not valid.
///
/// ## Cancellation
/// If the caller is cancelled while the body runs, the body is cancelled, and this function waits for the end of the
/// body. If the caller is cancelled before the body has begun, it stops waiting for the lease, and the body does not
/// run.
///
/// In every case, also without a cancellation, this function tries to delete the caller's entry in the store before it
/// returns or throws. If the store does not answer, this takes at most half of the duration of the lease, and the entry
/// stays until the lease expires. Diagnostic events report whether the entry was deleted, the lease was revoked, or the
/// lease is left to expire.
///
/// ## Errors of the store
/// While the caller waits, a call of the store that fails is repeated, except in two cases, in which this function
/// throws the store's error: the caller's entry could not be created within one duration of the lease, or the store
/// refuses the call, for example because a permission is missing.
///
/// - Parameters:
///   - name: The name of the lease. Of all callers that use the same name in the same store, one holds the lease at a time. The name may contain any
///     characters.
///   - store: The store in which the processes coordinate.
///   - timeToLive: The duration of the lease, which is also the time after which a crashed holder is replaced. By default 15 s, as in Kubernetes'
///     leader election: long enough for a change of the store's leader. The store may extend the duration. Values below 100 ms count as 100 ms, and
///     values above 100 years as 100 years.
///   - holder: A description of this process, for people who inspect the store; `nil` for the host name and the process ID.
///   - clock: The clock that measures the lease. It must continue while the machine sleeps, as the default does.
///   - body: Receives the lease. Runs in the caller's isolation, in a child task with the caller's task name.
/// - Returns: The value of the body.
/// - Throws: ``LeaseLostError`` if the lease was lost before the body ended, regardless of the value or the error of
///   the body; otherwise the error of the body; ``StoreError``, or another error of the store, if the caller's entry
///   cannot be created or the store refuses a waiting caller's calls; the error of the clock if it cannot sleep while
///   the caller waits. If the caller is cancelled, `CancellationError` instead of all these errors; but if the body has
///   returned a value and the lease was not lost, that value is returned.
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
        store.backend.operations,
        timeToLive: timeToLive,
        holder: holder,
        clock: clock,
        events: events
    )
    return try await session.perform(body: body)
}
