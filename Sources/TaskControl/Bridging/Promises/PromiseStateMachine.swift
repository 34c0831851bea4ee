/// The state of a result that is set once, and of the callers that wait for it. A pure value, without a lock, task or
/// closure.
///
///     pending ──settle──▶ settled         the waiters that have parked are returned
///        │                   │
///        │ enroll: an ID     │ enroll: nil, the caller need not wait
///        ▼                   ▼
///
/// The result itself is stored by ``_Promise``, in the step that settles the machine.
struct PromiseStateMachine {
    /// The continuation of a caller that waits.
    typealias Waiter = Word
    typealias ID = WaiterTable.ID

    private(set) var isSettled = false
    private var waiters = WaiterTable()

    /// The number of callers that wait, or have not parked yet.
    var waiterCount: Int { waiters.count }

    /// Adds a caller, unless the result is set.
    ///
    /// - Returns: The ID of the caller, which must then call `park(_:_:)`; `nil` if the result is set.
    /// - Complexity: O(1), amortized.
    mutating func enroll() -> ID? { isSettled ? nil : waiters.enroll() }

    /// Stores the continuation of a caller.
    ///
    /// - Returns: The outcome with which the caller must be resumed at once; `nil` if it must wait.
    mutating func park(_ id: ID, _ waiter: Waiter) -> WaitOutcome? { waiters.park(id, waiter) }

    /// Removes a caller that was cancelled. Has no effect after the result was set.
    ///
    /// - Returns: The waiter, which must be resumed; `nil` if it has not parked, or waits no longer.
    mutating func leave(_ id: ID) -> Waiter? { waiters.leave(id, with: .left) }

    /// Sets the result, once.
    ///
    /// - Returns: The waiters, which must be resumed; `nil` if the result was set before.
    /// - Complexity: O(*n*) in the number of waiters.
    mutating func settle() -> [Waiter]? {
        if isSettled { return nil }
        isSettled = true
        return waiters.wakeAll(with: .reached)
    }
}
