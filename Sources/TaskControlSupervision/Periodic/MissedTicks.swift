/// The rule for missed times of periodic work, at intervals or by a schedule of `TaskControlCalendar`: the times at which
/// the work should have begun, but could not, because it was still running, the process was suspended, or the device slept.
@nonexhaustive
public enum MissedTicks: Hashable, Sendable, CaseIterable {
    /// Missed times are left out: the work begins at the next regular time.
    case skip
    /// The work begins once, immediately, for all missed times together, and then at the next regular time.
    case once
    /// The work begins once for each missed time, without a pause between them, until no missed time is left.
    case all
}
