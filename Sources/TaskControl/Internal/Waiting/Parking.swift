/// The state of one waiter, which may be settled (receive its outcome) before or after it has parked (stored its
/// continuation). A pure value, without a lock, task or closure.
///
///     expected ──park──▶ parked ──settle──▶ settled       the waiter is returned
///        └────settle──▶ settled ──park──▶ settled         the outcome is returned
///
/// Only the first outcome counts. A waiter must park only once.
enum Parking {
    case expected
    case parked(Word)
    case settled(WaitOutcome)

    /// Whether the waiter still waits for its outcome.
    var isWaiting: Bool {
        switch self {
        case .expected, .parked: true
        case .settled: false
        }
    }

    /// Stores the continuation of the waiter, unless the waiter already has an outcome.
    ///
    /// - Returns: The outcome with which the waiter must be resumed at once; `nil` if it must wait.
    mutating func park(_ waiter: Word) -> WaitOutcome? {
        switch self {
        case .expected:
            self = .parked(waiter)
            return nil
        case .settled(let outcome): return outcome
        case .parked: preconditionFailure("A waiter parks once.")
        }
    }

    /// Gives the waiter its outcome, unless it already has one.
    ///
    /// - Returns: The waiter, which must be resumed; `nil` if it has not parked yet, or already had an outcome.
    mutating func settle(with outcome: WaitOutcome) -> Word? {
        switch self {
        case .expected:
            self = .settled(outcome)
            return nil
        case .parked(let waiter):
            self = .settled(outcome)
            return waiter
        case .settled: return nil
        }
    }
}
