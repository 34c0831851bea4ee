internal import TaskControl

/// The operations of a fan-out that have ended, until the caller takes them. Pure: no lock, task or closure.
///
///     finish ──▶ finished ──take──▶ (the caller's)
///
/// Invariant, checked by `checkInvariants()` after each step of the tests: the caller does not wait while there is an
/// operation to take.
struct FanOutHandoffStateMachine {
    typealias Finished = _FanOutHandoff.Finished

    /// The operations that have ended, in the order of their ends.
    private var finished: [Finished] = []
    private var caller: Word?

    /// Adds an operation that has ended.
    ///
    /// - Returns: The continuation of the caller, which must be resumed; `nil` if the caller does not wait.
    mutating func finish(_ operation: Finished) -> Word? {
        finished.append(operation)
        defer { caller = nil }
        return caller
    }

    /// Takes all operations that have ended. The list of these operations is exchanged for the given list, so that a
    /// fan-out allocates memory for two lists only.
    ///
    /// - Parameter list: An empty list, which then contains the operations, the first that ended first.
    /// - Complexity: O(1).
    mutating func take(into list: inout [Finished]) { swap(&finished, &list) }

    /// Stores the continuation of the caller if no operation has ended.
    ///
    /// - Returns: Whether the continuation was stored, to be resumed when an operation has ended. If not, the caller
    ///   must take the operations at once.
    mutating func park(_ waiter: Word) -> Bool {
        guard finished.isEmpty else { return false }
        caller = waiter
        return true
    }

    func checkInvariants() { precondition(caller == nil || finished.isEmpty, "The caller waits for what is there.") }
}
