internal import TaskControl

/// A store in the memory of this process, for tests and previews.
///
/// A ``MemoryStore`` coordinates the tasks of one process, as if each were a process of its own: pass one store to several calls of `withLease`. Its content
/// is lost when it is deallocated.
///
/// ```swift
/// let store = MemoryStore(clock: TestClock())
/// let lease = try await store.grantLease(timeToLive: .seconds(5))
/// _ = try await store.transact(StoreTransaction(success: [.put("worker/1", Data(), lease: lease.id)]))
/// ```
///
/// Leases last exactly as long as is asked for: there is no minimum, and a lease of zero or less ends at once. The revision of an empty store is 1. The
/// latest changes are kept for watches, up to a limit; a watch that begins before them, or does not keep up, reports that it is incomplete. Every answer
/// has the term 0.
///
/// ## Time
/// A lease ends when the clock shows its end: at the next call, or, while there are watches, also between calls, through a timer on the clock. Without
/// watches the store has no task.
///
/// ## Errors
/// ``StoreError/Reason/leaseNotFound``, and ``StoreError/Reason/refused`` for a transaction that changes a key twice. A call of a cancelled
/// task has no effect and throws `CancellationError`.
public final class MemoryStore: CoordinationStore {
    private typealias Machine = MemoryStoreStateMachine<UnsafeContinuation<Wake, Never>>

    /// How the wait of a watch ends.
    private enum Wake: Sendable {
        case changes(StoreChanges)
        case left
    }

    private struct State {
        var machine: Machine
        /// The latest timer. It may have ended.
        var timer: (number: UInt64, task: Task<Void, Never>)?
    }

    private let state: Locked<State>
    private let stopwatch: Stopwatch

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - clock: The clock by which leases end. By default the clock that continues while the machine sleeps.
    ///   - historyLimit: The number of changes that are kept for watches. By default 1,000, which take less than a megabyte with values of up to 500 bytes. A
    ///     watch also reports that it is incomplete after a transaction with more changes than the limit; with a limit of zero or less, after each
    ///     transaction.
    public init(clock: any Clock<Duration> = ContinuousClock(), historyLimit: Int = 1_000) {
        stopwatch = Stopwatch(clock)
        state = Locked(State(machine: Machine(historyLimit: historyLimit)))
    }

    /// Drops the changes that are kept for watches, as an administrator of a store does: a watch that begins after an earlier revision reports that it is
    /// incomplete.
    public func compact() { perform { $0.compact(now: $1) } }

    /// The number of leases, for tests.
    var leaseCount: Int { state.withLock(\.machine.leaseCount) }

    // MARK: Operations

    /// Grants a new lease of exactly the given duration.
    ///
    /// - Parameter timeToLive: The duration. A lease of zero or less ends at once; one of more than 100 years lasts 100 years.
    /// - Returns: The lease. Its ID is never used again.
    /// - Throws: `CancellationError` if the caller is cancelled.
    /// - Complexity: O(*n*) in the number of leases.
    public nonisolated(nonsending) func grantLease(timeToLive: Duration) async throws -> StoreLease {
        try Task.checkCancellation()
        return perform { $0.grant(timeToLive, now: $1) }
    }

    /// Renews a lease: its whole duration begins again.
    ///
    /// - Parameter id: The lease.
    /// - Returns: The lease, with the duration with which it was granted.
    /// - Throws: ``StoreError`` with the reason ``StoreError/Reason/leaseNotFound``; `CancellationError` if the caller is cancelled.
    /// - Complexity: O(*n*) in the number of leases.
    public nonisolated(nonsending) func renewLease(_ id: LeaseID) async throws -> StoreLease {
        try Task.checkCancellation()
        return try perform { $0.renew(id, now: $1) }.get()
    }

    /// Ends a lease and removes the entries that are attached to it, in one revision. Does nothing if there is no such lease.
    ///
    /// - Parameter id: The lease.
    /// - Throws: `CancellationError` if the caller is cancelled.
    /// - Complexity: O(*n*) in the number of leases and entries.
    public nonisolated(nonsending) func revokeLease(_ id: LeaseID) async throws {
        try Task.checkCancellation()
        perform { $0.revoke(id, now: $1) }
    }

    /// Executes a transaction: compares, and then changes and reads entries, in one atomic step.
    ///
    /// - Parameter transaction: The comparisons, and the operations for each of their outcomes.
    /// - Returns: The outcome.
    /// - Throws: ``StoreError`` with the reason ``StoreError/Reason/leaseNotFound``, or ``StoreError/Reason/refused`` if one of the lists of
    ///   operations changes a key twice; `CancellationError` if the caller is cancelled. If it throws, nothing is changed.
    /// - Complexity: O(*n*) per operation, in the number of entries.
    public nonisolated(nonsending) func transact(_ transaction: StoreTransaction) async throws
        -> StoreTransaction.Result
    {
        try Task.checkCancellation()
        return try perform { $0.transact(transaction, now: $1) }.get()
    }

    /// Reads the entries of a range.
    ///
    /// - Parameter range: The entries to read. A limit below 1 counts as 1.
    /// - Returns: The entries, and the revision at which they were read.
    /// - Throws: `CancellationError` if the caller is cancelled.
    /// - Complexity: O(log *n* + *m* log *m*) for *m* of *n* entries in the range.
    public nonisolated(nonsending) func read(_ range: StoreRange) async throws -> StoreSnapshot {
        try Task.checkCancellation()
        return perform { $0.read(range, now: $1) }
    }

    /// Reports the changes of a range in the order of their revisions, until the caller is cancelled or `receive` throws.
    ///
    /// All changes of a revision are in one report. A watch that begins after a future revision reports the changes after that revision.
    ///
    /// - Parameters:
    ///   - range: The entries to watch. Its order and limit do not matter.
    ///   - revision: The revision after which changes are reported.
    ///   - receive: Called with each group of changes, in the caller's isolation. The first call has no changes.
    /// - Throws: The error of `receive`; `CancellationError` if the caller is cancelled.
    /// - Complexity: O(*n*) per report, in the number of changes that are kept and of watches.
    public nonisolated(nonsending) func watch(
        _ range: StoreRange,
        after revision: Int64,
        receive: nonisolated(nonsending) (StoreChanges) async throws -> Void
    ) async throws {
        try Task.checkCancellation()
        let id = perform { $0.beginWatch(range, after: revision, now: $1) }
        defer { perform { $0.endWatch(id, now: $1) } }
        while true {
            let wake: Wake = await suspend { waiter in
                switch perform({ $0.next(id, waiter, now: $1) }) {
                case .report(let changes): .changes(changes)
                case .wait: nil
                case .left: .left
                }
            } onCancel: {
                state.withLock { $0.machine.leave(id) }?.resume(returning: .left)
            }
            guard case .changes(let changes) = wake else { throw CancellationError() }
            try await receive(changes)
        }
    }

    // MARK: Steps

    /// Asks the machine, and then does what it has answered.
    @discardableResult
    private func perform<Answer>(_ event: (inout Machine, Duration) -> Machine.Step<Answer>) -> Answer {
        // Read outside the lock: the clock may be of the client.
        let now = stopwatch.now
        let step = state.withLock { event(&$0.machine, now) }
        for delivery in step.deliveries { delivery.waiter.resume(returning: .changes(delivery.changes)) }
        switch step.timer {
        case .keep: break
        case .stop: replaceTimer(with: nil)
        case .start(let number, let end): startTimer(number, end)
        }
        return step.answer
    }

    private func startTimer(_ number: UInt64, _ end: Duration) {
        // Inherits nothing of the caller whose call has started it.
        let task = Task.detached(name: "MemoryStore: end of a lease") { [weak self, stopwatch] in
            do { try await stopwatch.sleep(until: end.upToNanosecond) } catch { return }
            self?.perform { $0.timerEnded(number, now: $1) }
        }
        replaceTimer(with: (number, task))
    }

    /// Cancels the latest timer, unless it is still wanted, and keeps another one in its place, if that is wanted: several callers may come here in
    /// another order than the machine has answered them.
    private func replaceTimer(with new: (number: UInt64, task: Task<Void, Never>)?) {
        let cancelled = state.withLock { state in
            let known = [state.timer, new].compactMap(\.self)
            state.timer = known.first { state.machine.isTimer($0.number) }
            return known.filter { $0.number != state.timer?.number }
        }
        for timer in cancelled { timer.task.cancel() }
    }
}
