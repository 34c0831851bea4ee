/// The rule for when periodic work begins again.
@nonexhaustive
public enum PeriodicTiming: Hashable, Sendable {
    /// The work begins again one interval after it has ended.
    case fixedDelay
    /// The work begins at the first time plus multiples of the interval, regardless of how long it takes. These times never drift.
    ///
    /// The work never overlaps itself: `missed` is the rule for the times that pass while the work runs, or while the device sleeps.
    case fixedRate(missed: MissedTicks = .skip)
}

/// The rule for the times of periodic work at which the work could not begin.
@nonexhaustive
public enum MissedTicks: Hashable, Sendable, CaseIterable {
    /// Missed times are left out: the work begins at the next time.
    case skip
    /// The work begins once for all missed times, immediately, and then at the next time.
    case once
    /// The work begins once for each missed time, without a pause, until it has caught up.
    case all
}
