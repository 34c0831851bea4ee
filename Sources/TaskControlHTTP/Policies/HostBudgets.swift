/// The retry budgets of the hosts that a client talks to.
final class HostBudgets: Sendable {
    /// More hosts than this are those of a crawler: budgets that nobody has drawn on are let go then, and are the same when they are made
    /// anew.
    private static let comfortable = 64

    private let budgets = Locked<[String: RetryBudget]>([:])

    func budget(of host: String, make: @Sendable (String) -> RetryBudget) -> RetryBudget {
        if let budget = budgets.withLock({ $0[host] }) { return budget }
        let made = make(host)
        let (budget, gone) = budgets.withLock { budgets -> (RetryBudget, [String: RetryBudget]) in
            if let budget = budgets[host] { return (budget, [:]) }
            var gone: [String: RetryBudget] = [:]
            if budgets.count >= Self.comfortable {
                gone = budgets
                budgets = budgets.filter { $0.value.available < $0.value.capacity }
                // Those of hosts that are down never fill again: one of them has to go.
                if budgets.count >= Self.comfortable, let one = budgets.keys.first { budgets[one] = nil }
            }
            budgets[host] = made
            return (made, gone)
        }
        withExtendedLifetime(gone) {}
        return budget
    }
}
