/// The children that a ``Supervisor`` restarts when one of them fails. The strategies are those of OTP: one for one, one for all, rest for one.
@nonexhaustive
public enum SupervisionStrategy: Hashable, Sendable, CaseIterable {
    /// The failed child, alone.
    case one
    /// All children: they are stopped in reverse order, and started in order.
    case all
    /// The failed child and the children that were added after it: they are stopped in reverse order, and started in order.
    case rest
}
