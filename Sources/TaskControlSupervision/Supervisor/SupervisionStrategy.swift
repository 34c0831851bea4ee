/// The children that a ``Supervisor`` restarts when one of them fails. The strategies are those of Erlang/OTP: one for
/// one, one for all, rest for one.
@nonexhaustive
public enum SupervisionStrategy: Hashable, Sendable, CaseIterable {
    /// Only the failed child is restarted.
    case one
    /// All children are restarted: stopped in reverse order, and started in order.
    case all
    /// The failed child and the children that were added after it are restarted: stopped in reverse order, and started in order.
    case rest
}
