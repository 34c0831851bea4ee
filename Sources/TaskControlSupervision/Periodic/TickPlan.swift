/// The times of periodic work, for the loop of `every`: regular intervals, or the times of a calendar.
package protocol TickPlan: Sendable {
    /// A value that describes a tick to the work.
    associatedtype Tick: Sendable

    /// Returns what follows. `now` is the time since the beginning of the periodic work.
    mutating func step(at now: Duration) -> TickStep<Tick>

    /// Records that the work of a tick has succeeded.
    mutating func succeed(at now: Duration)

    /// Records that the work of a tick has failed.
    ///
    /// - Returns: The time until the next tick, for diagnostics; `nil` if there must be no further tick.
    mutating func fail(with error: any Error, at now: Duration) -> Duration?
}

/// The next step of the loop of `every`.
package enum TickStep<Tick: Sendable>: Sendable {
    /// Sleeps until a time since the beginning, and asks again.
    case sleep(until: Duration)
    /// Does the work.
    case begin(Tick)
}
