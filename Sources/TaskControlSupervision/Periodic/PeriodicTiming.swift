/// The rule for when periodic work begins again.
@nonexhaustive
public enum PeriodicTiming: Hashable, Sendable {
    /// One interval after the work has ended.
    case fixedDelay
    /// A time at the beginning plus a multiple of the interval, however long the work takes. The times never drift.
    ///
    /// The work never overlaps itself: what happens with a time that passes while it runs, or while the device sleeps, is the rule for missed
    /// ticks.
    case fixedRate(missed: MissedTicks = .skip)
}

/// The rule for the times of periodic work at which the work could not begin.
@nonexhaustive
public enum MissedTicks: Hashable, Sendable, CaseIterable {
    /// Missed times are left out: the work begins at the next time.
    case skip
    /// The work begins once for all of them, at once, and then at the next time.
    case once
    /// The work begins once for each of them, without a pause, until it has caught up.
    case all
}
