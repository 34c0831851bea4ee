extension Supervisor {
    /// The children that a ``Supervisor`` restarts when one of them fails. The strategies are those of Erlang/OTP: one for
    /// one, one for all, rest for one.
    ///
    /// Children that have ended are not restarted. A running child with the rule ``RestartRule/never`` is stopped
    /// permanently when it would be restarted.
    @nonexhaustive
    public enum Strategy: Hashable, Sendable, CaseIterable {
        /// Only the failed child is restarted.
        case one
        /// All children are restarted: they are stopped in the reverse of the order in which they were added, and then
        /// started in the order in which they were added.
        case all
        /// The failed child and the children that were added after it are restarted: they are stopped in the reverse of the
        /// order in which they were added, and then started in the order in which they were added.
        case rest
    }
}
