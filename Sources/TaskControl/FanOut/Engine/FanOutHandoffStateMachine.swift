/// The operations of a fan-out that have ended, until the caller takes them. Pure: no lock, task or closure.
///
///     finish ──▶ finished ──take──▶ (the caller's)
///
/// Invariant, checked by `checkInvariants()` after each step of the tests: the caller does not wait while something has finished.
struct FanOutHandoffStateMachine<Finished, Waiter> {
    /// In the order in which they have finished.
    private var finished: [Finished] = []
    private var caller: Waiter?

    /// An operation has ended.
    ///
    /// - Returns: The caller, to be resumed.
    mutating func finish(_ operation: Finished) -> Waiter? {
        finished.append(operation)
        defer { caller = nil }
        return caller
    }

    /// Takes all that has finished. The memory of the list goes to and fro, so that a fan-out allocates two.
    ///
    /// - Parameter list: Empty.
    /// - Complexity: O(1).
    mutating func take(into list: inout [Finished]) { swap(&finished, &list) }

    /// - Returns: Whether the caller is kept, and resumed when an operation has ended.
    mutating func park(_ waiter: Waiter) -> Bool {
        guard finished.isEmpty else { return false }
        caller = waiter
        return true
    }

    func checkInvariants() { precondition(caller == nil || finished.isEmpty, "The caller waits for what is there.") }
}
