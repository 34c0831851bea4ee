/// The operations of a fan-out that have ended, until the caller takes them. Pure: no lock, task or closure.
///
///     finish ──▶ finished ──take──▶ (the caller's)
///
/// Invariant, checked by `checkInvariants()` after each step of the tests: the caller does not wait while something has finished.
struct FanOutHandoffStateMachine<Finished, Waiter> {
    /// The operations that have ended, in the order of their ends.
    private var finished: [Finished] = []
    private var caller: Waiter?

    /// Adds an operation that has ended.
    ///
    /// - Returns: The caller, to be resumed.
    mutating func finish(_ operation: Finished) -> Waiter? {
        finished.append(operation)
        defer { caller = nil }
        return caller
    }

    /// Takes all operations that have ended. The two lists are exchanged, so that a fan-out allocates only two.
    ///
    /// - Parameter list: An empty list, which is exchanged for the list of the operations.
    /// - Complexity: O(1).
    mutating func take(into list: inout [Finished]) { swap(&finished, &list) }

    /// Parks the caller, if no operation has ended.
    ///
    /// - Returns: Whether the caller is kept, and resumed when an operation has ended.
    mutating func park(_ waiter: Waiter) -> Bool {
        guard finished.isEmpty else { return false }
        caller = waiter
        return true
    }

    func checkInvariants() { precondition(caller == nil || finished.isEmpty, "The caller waits for what is there.") }
}
