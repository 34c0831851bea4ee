/// The rule for when supervised work is restarted. The rules are those of a supervisor in OTP: temporary, transient and permanent.
@nonexhaustive
public enum RestartRule: Hashable, Sendable, CaseIterable {
    /// The work runs once. An error fails it permanently, and so a restart because of another child of its ``Supervisor`` stops it permanently.
    case never
    /// The work runs again when it throws. When it returns, it has completed.
    case onFailure
    /// The work runs again when it throws or returns. A return counts as a failure, with an ``UnexpectedReturnError``.
    case always
}
