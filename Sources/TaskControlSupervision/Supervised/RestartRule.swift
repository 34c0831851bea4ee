/// The rule for when supervised work is restarted. The rules correspond to temporary, transient and permanent in
/// Erlang/OTP, except that a failure of work with the rule ``never`` also fails its ``Supervisor``.
@nonexhaustive
public enum RestartRule: Hashable, Sendable, CaseIterable {
    /// The work runs once. If it throws, it has failed permanently. If its ``Supervisor`` would restart the work
    /// because another child has failed, the work is stopped permanently instead.
    case never
    /// The work runs again when it throws. When it returns, it has completed.
    case onFailure
    /// The work runs again when it throws or returns: the default of `keepRunning`. A return counts as a failure, with a
    /// ``SupervisionError`` of the reason ``SupervisionError/Reason/completed``, except after the work was asked to stop.
    case always
}
