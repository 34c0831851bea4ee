/// The rule for when supervised work is restarted. The rules are those of a supervisor in OTP: temporary, transient and permanent.
@nonexhaustive
public enum RestartRule: Hashable, Sendable, CaseIterable {
    /// The work runs once: an error fails it permanently, and a restart of its siblings stops it permanently.
    case never
    /// The work runs again when it throws. When it returns, it has completed.
    case onFailure
    /// The work runs again when it throws or returns. A return counts as a failure, with an ``UnexpectedReturnError``.
    case always
}
