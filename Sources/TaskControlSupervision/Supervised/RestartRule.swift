/// The rule for when supervised work is restarted. The rules are those of a supervisor in OTP: temporary, transient and permanent.
@nonexhaustive
public enum RestartRule: Hashable, Sendable, CaseIterable {
    /// The work runs once. If it throws, it has failed permanently. If its ``Supervisor`` would restart the work because another child has failed,
    /// the work is stopped permanently instead.
    case never
    /// The work runs again when it throws. When it returns, it has completed.
    case onFailure
    /// The work runs again when it throws or returns. A return counts as a failure, with an ``UnexpectedReturnError``.
    case always
}
