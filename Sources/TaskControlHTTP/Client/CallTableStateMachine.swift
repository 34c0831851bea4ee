internal import TaskControl

/// The calls of a client that run, and the callers that wait for their ends. Pure: a value without a lock, a task or a
/// closure of its own.
///
/// ```
/// enter ──▶ live ──cancelAll──▶ cancelled
///             │                     │
///             └───────leave─────────┴──▶ (gone)
/// ```
///
/// A call attaches what ends its current wait, the *canceller*, and detaches it when the wait has ended. A call that was
/// cancelled learns this when it attaches the next one, or at its end.
///
/// Generic over the cancellers, which it owns. Each is returned exactly once, so that the storage can call or release it
/// without the lock: when it is detached, when the call is cancelled or ends, or at once if the call was cancelled before.
struct CallTableStateMachine<Canceller> {
    typealias ID = Ticket
    typealias Drain = WaiterTable.ID

    private struct Entry: Ticketed {
        let serial: UInt64
        var canceller: Canceller?
        /// The cause of the cancellation; `nil` while the call is live.
        var cause: CancellationCause?
        /// Whether a shutdown has cancelled the call at the end of its grace period.
        var isCutOff = false
    }

    private var entries = SlotTable<Entry>()
    private var drains = WaiterTable()
    private var nextSerial: UInt64 = 0
    /// The number of calls that have not ended and were not cancelled.
    private(set) var liveCount = 0
    /// Whether later calls are refused.
    private(set) var isClosed = false
    /// Whether the present calls make no further attempt.
    private(set) var hasEndedAttempts = false

    /// The number of calls for which memory is allocated.
    var capacity: Int { Int(entries.extent) }

    /// Adds a call.
    ///
    /// - Returns: The ID of the call; `nil` if it is refused.
    mutating func enter() -> ID? {
        if isClosed { return nil }
        let slot = entries.insert(Entry(serial: nextSerial))
        nextSerial += 1
        liveCount += 1
        return entries.ticket(at: slot)
    }

    /// Stores the canceller of a call that begins to wait.
    ///
    /// - Returns: The canceller, if it must be called at once, since the call was cancelled, with the cause; `nil` if it
    ///   is stored.
    mutating func attach(_ canceller: Canceller, to id: ID) -> (Canceller, CancellationCause)? {
        guard entries.contains(id) else { return nil }
        if let cause = entries[id.slot].cause { return (canceller, cause) }
        entries[id.slot].canceller = canceller
        return nil
    }

    /// Removes the canceller of a call whose wait has ended.
    mutating func detach(_ id: ID) -> Canceller? {
        entries.contains(id) ? entries[id.slot].canceller.take() : nil
    }

    /// Returns why a call was cancelled, and whether at the end of a grace period; `nil` if it was not.
    func cancellation(of id: ID) -> (cause: CancellationCause, isCutOff: Bool)? {
        guard entries.contains(id), let cause = entries[id.slot].cause else { return nil }
        return (cause, entries[id.slot].isCutOff)
    }

    /// Removes a call that has ended.
    ///
    /// - Returns: The canceller, if it is attached, and the callers that have waited for the end of the last call.
    mutating func leave(_ id: ID) -> (canceller: Canceller?, drained: [Word]) {
        guard entries.contains(id) else { return (nil, []) }
        if entries[id.slot].cause == nil { liveCount -= 1 }
        let canceller = entries[id.slot].canceller.take()
        entries.discard(id.slot)
        return (canceller, entries.count == 0 && drains.hasWaiting ? drains.wakeAll(with: .reached) : [])
    }

    /// Cancels the live calls.
    ///
    /// - Parameter isCutOff: Whether a shutdown cancels them at the end of its grace period.
    /// - Returns: The calls, and the cancellers of those that wait.
    mutating func cancelAll(for cause: CancellationCause, isCutOff: Bool = false) -> (
        ids: [ID], cancellers: [Canceller]
    ) {
        var (ids, cancellers): ([ID], [Canceller]) = ([], [])
        for slot in 0..<entries.extent where entries.isOccupied(slot) && entries[slot].cause == nil {
            (entries[slot].cause, entries[slot].isCutOff) = (cause, isCutOff)
            ids.append(entries.ticket(at: slot))
            if let canceller = entries[slot].canceller.take() { cancellers.append(canceller) }
        }
        liveCount = 0
        return (ids, cancellers)
    }

    /// Refuses later calls.
    mutating func close() { isClosed = true }

    /// Ends the attempts of the present calls: those that run continue, and none follows.
    mutating func endAttempts() { hasEndedAttempts = true }

    /// Adds a caller that waits for the end of all calls; `nil` if there is none to wait for.
    mutating func drain() -> Drain? { entries.count == 0 ? nil : drains.enroll() }

    /// Stores the continuation of such a caller: see ``WaiterTable/park(_:_:)``.
    mutating func park(_ drain: Drain, _ waiter: Word) -> WaitOutcome? { drains.park(drain, waiter) }

    /// Removes such a caller, which was cancelled: see ``WaiterTable/leave(_:with:)``.
    mutating func leave(_ drain: Drain) -> Word? { drains.leave(drain, with: .left) }
}
