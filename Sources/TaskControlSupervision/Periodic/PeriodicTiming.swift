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
