/// The rule for when the periodic work of `AsyncLifetime.every` begins again.
///
/// The rule applies after a success. After a failure, the parameter `backoff` of `every` can delay the work further.
@nonexhaustive
public enum PeriodicTiming: Hashable, Sendable {
    /// The work begins again one interval after it has ended.
    case fixedDelay
    /// The work begins at fixed times: at that of the first tick, and at multiples of the interval after it. These
    /// times do not depend on how long the work takes, and never drift.
    ///
    /// The work never overlaps itself. `missed` is the rule for the times that pass while the work still runs, or while
    /// the device sleeps: by default they are left out.
    case fixedRate(missed: MissedTicks = .skip)
}

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
