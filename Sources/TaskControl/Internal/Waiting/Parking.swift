/// A waiter that may be settled before it has parked. Pure.
///
///     expected ──park──▶ parked ──settle──▶ settled       the waiter is returned
///        └────settle──▶ settled ──park──▶ settled         the outcome is returned
///
/// The first outcome counts. A waiter parks once.
enum Parking<Waiter, Outcome> {
    case expected
    case parked(Waiter)
    case settled(Outcome)

    /// Whether it has not been settled.
    var isWaiting: Bool {
        switch self {
        case .expected, .parked: true
        case .settled: false
        }
    }

    /// - Returns: The result with which the waiter must be resumed at once; `nil`: it waits.
    mutating func park(_ waiter: Waiter) -> Outcome? {
        switch self {
        case .expected:
            self = .parked(waiter)
            return nil
        case .settled(let outcome): return outcome
        case .parked: preconditionFailure("A waiter parks once.")
        }
    }

    /// - Returns: The waiter, to be resumed; `nil`: it has not parked yet, or had been settled before.
    mutating func settle(with outcome: Outcome) -> Waiter? {
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
