internal import TaskControl

/// A store in the memory of this process, for tests and previews.
///
/// The store coordinates the tasks of one process as if each were a separate process: pass the same store to several
/// calls of ``withLease(_:in:timeToLive:holder:clock:body:)``. When the store is deallocated, its content is lost.
///
/// ```swift
/// let store = MemoryStore()
/// try await withLease("report", in: store) { lease in
///     _ = try await store.commit(put: ["report": Data()], under: lease)
/// }
/// ```
///
/// A lease has exactly the requested duration: there is no minimum, and a lease of zero or less ends at once. An empty
/// store has the revision 1, and its first change has the revision 2. The store keeps the latest changes for watches,
/// up to a limit. If a watch needs older changes, because it begins at an earlier revision or is too slow, its next
/// report is incomplete (`StoreChanges.isComplete`). The store has no leader: the `StoreLease.term` is 0 in all
/// results.
///
/// ## Time
/// The store removes an expired lease, and the entries that are attached to it, at the next operation. While there are
/// watches, a timer on the store's clock also removes expired leases between operations. Without watches, the store
/// runs no task.
///
/// ## Errors
/// Renewing a lease that does not exist, or attaching an entry to it, throws ``StoreError/Reason/leaseNotFound``. A
/// transaction that changes the same key twice throws ``StoreError/Reason/refused``. An operation of a cancelled caller
/// has no effect and throws `CancellationError`.
public final class MemoryStore: CoordinationStore, StoreOperations {
    private typealias Machine = MemoryStoreStateMachine

    /// The reason for which a waiting watch is resumed.
    private enum Wake: Sendable {
        case changes(StoreChanges)
        case left
    }

    private struct State {
        var machine: Machine
        /// The latest timer and its number. The timer may have ended.
        var timer: (number: UInt64, task: Task<Void, Never>)?
    }

    private let state: Locked<State>
    private let stopwatch: Stopwatch

    /// The connection to the store, which is opaque.
    ///
    /// - Note: Only with `@_spi(Store) import TaskControlFleet`.
    @_spi(Store) public var backend: StoreBackend { StoreBackend(self) }

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - clock: The clock that measures leases. By default a clock that continues while the machine sleeps.
    ///   - historyLimit: The maximum number of changes that the store keeps for watches. By default 1,000, which take
    ///     less than a megabyte if the values have up to 500 bytes. After a transaction with more changes than the
    ///     limit, the next report of each watch is incomplete (`StoreChanges.isComplete`). With a limit of zero or
    ///     less, that is so after every transaction that changes entries.
    public init(clock: any Clock<Duration> = ContinuousClock(), historyLimit: Int = 1_000) {
        stopwatch = Stopwatch(clock)
        let primitive = TaskEvent.Primitive(rawValue: "MemoryStore")
        let limit = ComputedNumber.count(historyLimit, atLeast: 0, "MemoryStore(historyLimit:)", primitive)
        state = Locked(State(machine: Machine(historyLimit: limit)))
    }

    /// Removes all changes that the store keeps for watches, as the compaction of a database does. A watch that needs
    /// one of the removed changes then receives an incomplete report (`StoreChanges.isComplete`).
    package func compact() { perform { $0.compact(now: $1) } }

    /// The number of leases that have not ended. Intended for tests.
    var leaseCount: Int { state.withLock(\.machine.leaseCount) }

    // MARK: Operations

    /// Grants a new lease of exactly the given duration. When the lease expires or is revoked, the store removes the entries that are attached to it.
    ///
    /// - Parameter timeToLive: The requested duration. A lease of zero or less ends at once. A lease of more than 100 years lasts 100 years.
    /// - Returns: The lease. Its ID is never used again.
    /// - Throws: `CancellationError` if the caller is cancelled.
    /// - Complexity: O(*n*) in the number of leases.
    package nonisolated(nonsending) func grantLease(timeToLive: Duration) async throws -> StoreLease {
        try Task.checkCancellation()
        return perform { $0.grant(timeToLive, now: $1) }
    }

    /// Renews a lease: its whole duration begins again at the renewal.
    ///
    /// - Parameter id: The ID of the lease.
    /// - Returns: The lease, with the same duration as when it was granted.
    /// - Throws: ``StoreError`` with the reason ``StoreError/Reason/leaseNotFound`` if the lease has expired or was revoked; `CancellationError` if
    ///   the caller is cancelled.
    /// - Complexity: O(*n*) in the number of leases.
    package nonisolated(nonsending) func renewLease(_ id: LeaseID) async throws -> StoreLease {
        try Task.checkCancellation()
        return try perform { $0.renew(id, now: $1) }.get()
    }

    /// Ends a lease and removes the entries that are attached to it, in one revision. Does nothing if there is no such lease.
    ///
    /// - Parameter id: The ID of the lease.
    /// - Throws: `CancellationError` if the caller is cancelled.
    /// - Complexity: O(*n*) in the number of leases and entries.
    package nonisolated(nonsending) func revokeLease(_ id: LeaseID) async throws {
        try Task.checkCancellation()
        perform { $0.revoke(id, now: $1) }
    }

    /// Executes a transaction: checks conditions, and then changes and reads entries, in one atomic step.
    ///
    /// - Parameter transaction: The conditions, the operations to execute if all of them hold, and the operations to
    ///   execute otherwise.
    /// - Returns: The outcome: which operations were executed, and the entries that were read.
    /// - Throws: ``StoreError`` with the reason ``StoreError/Reason/leaseNotFound`` if the transaction attaches an
    ///   entry to a lease that does not exist, or ``StoreError/Reason/refused`` if one of the lists of operations
    ///   changes the same key twice; `CancellationError` if the caller is cancelled. If this function throws, nothing
    ///   is changed.
    /// - Complexity: O(*n*) per operation, in the number of entries.
    package nonisolated(nonsending) func transact(_ transaction: StoreTransaction) async throws
        -> StoreTransaction.Result
    {
        try Task.checkCancellation()
        return try perform { $0.transact(transaction, now: $1) }.get()
    }

    /// Reads the entries of a range.
    ///
    /// - Parameter range: The entries to read. A `StoreRange.limit` below 1 counts as 1.
    /// - Returns: The entries, and the revision at which they were read.
    /// - Throws: `CancellationError` if the caller is cancelled.
    /// - Complexity: O(log *n* + *m* log *m*) for *m* of *n* entries in the range.
    package nonisolated(nonsending) func read(_ range: StoreRange) async throws -> StoreSnapshot {
        try Task.checkCancellation()
        return perform { $0.read(range, now: $1) }
    }

    /// Reports the changes of a range in the order of their revisions, until the caller is cancelled or `receive`
    /// throws.
    ///
    /// All changes of one revision are in the same report. If the given revision is in the future, only changes after
    /// that revision are reported. If the store no longer keeps all changes after the given revision, or after the last
    /// report of a slow watch, the next report is incomplete (`StoreChanges.isComplete`) and contains no changes. The
    /// watch then continues with the changes after the revision of that report.
    ///
    /// - Parameters:
    ///   - range: The entries to watch. The order and the limit of the range do not matter.
    ///   - revision: The revision after which changes are reported.
    ///   - receive: Called with each group of changes, in the caller's isolation. The first call has no changes: it
    ///     reports that the watch has begun.
    /// - Throws: The error of `receive`; `CancellationError` if the caller is cancelled.
    /// - Complexity: O(*n*) per report, in the number of watches and of changes that the store keeps for them.
    package nonisolated(nonsending) func watch(
        _ range: StoreRange,
        after revision: Int64,
        receive: nonisolated(nonsending) (StoreChanges) async throws -> Void
    ) async throws {
        try Task.checkCancellation()
        let id = perform { $0.beginWatch(range, after: revision, now: $1) }
        defer { perform { $0.endWatch(id, now: $1) } }
        while true {
            let wake: Wake = await suspend { waiter in
                switch perform({ $0.next(id, Word(of: waiter), now: $1) }) {
                case .report(let changes): .changes(changes)
                case .wait: nil
                case .left: .left
                }
            } onCancel: {
                state.withLock { $0.machine.leave(id) }?.resume(with: Wake.left)
            }
            guard case .changes(let changes) = wake else { throw CancellationError() }
            try await receive(changes)
        }
    }

    // MARK: Steps

    /// Calls a function that passes an event and the current time to the state machine, while the lock is held. Then
    /// executes the actions that the state machine returns, and returns the state machine's answer.
    @discardableResult
    private func perform<Answer>(_ event: (inout Machine, Duration) -> Machine.Step<Answer>) -> Answer {
        // The time is read outside the lock, because the clock may be the client's code.
        let now = stopwatch.now
        let step = state.withLock { event(&$0.machine, now) }
        for delivery in step.deliveries { delivery.waiter.resume(with: Wake.changes(delivery.changes)) }
        switch step.timer {
        case .keep: break
        case .stop: replaceTimer(with: nil)
        case .start(let number, let end): startTimer(number, end)
        }
        return step.answer
    }

    private func startTimer(_ number: UInt64, _ end: Duration) {
        // The task inherits nothing from the caller whose call has started it.
        let task = Task.detached(name: "MemoryStore: end of a lease") { [weak self, stopwatch] in
            do { try await stopwatch.sleep(until: end.upToNanosecond) } catch { return }
            self?.perform { $0.timerEnded(number, now: $1) }
        }
        replaceTimer(with: (number, task))
    }

    /// Replaces the task of the latest timer, and cancels the timer that is no longer needed. Concurrent callers may call this function in another
    /// order than that of the state machine's answers: a timer that is out of date is not stored.
    ///
    /// - Parameter new: The new timer; `nil` if the timer must only be stopped.
    private func replaceTimer(with new: (number: UInt64, task: Task<Void, Never>)?) {
        let cancelled = state.withLock { state in
            let known = [state.timer, new].compactMap(\.self)
            state.timer = known.first { state.machine.isTimer($0.number) }
            return known.filter { $0.number != state.timer?.number }
        }
        for timer in cancelled { timer.task.cancel() }
    }
}
