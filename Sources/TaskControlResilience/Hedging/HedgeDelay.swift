internal import TaskControl

/// The time after which ``withHedging(after:maxHedges:budget:clock:operation:shouldHedge:)-(_,_,_,_,()->Value,_)`` begins
/// another attempt, counted from the beginning of the previous attempt.
///
/// ```swift
/// let delay = HedgeDelay.quantile()          // one per operation, kept for all of its calls
/// ```
///
/// Safe to use from any thread and any isolation.
public struct HedgeDelay: Sendable {
    private let fixed: Duration?
    let history: DurationHistory?

    /// Returns a delay that is the same for each call.
    ///
    /// - Parameter delay: The delay. If it is zero or negative, all attempts that `maxHedges` and `budget` allow begin
    ///   at once, without a wait for the result of an earlier attempt.
    public static func fixed(_ delay: Duration) -> HedgeDelay {
        HedgeDelay(fixed: max(.zero, delay), history: nil)
    }

    /// Returns a delay that is a quantile of the recent durations of one operation, so that another attempt begins when a
    /// call takes unusually long. The delay keeps these durations, and its copies share them: create one per operation, and
    /// pass it to all calls of the operation. A delay that is created for each call knows no durations, and begins no hedge
    /// before a failure.
    ///
    /// Each call with this delay records the duration of each successful attempt. An attempt that was cancelled, because
    /// another attempt succeeded first or the caller was cancelled, is recorded as *longer than* its duration, so that the
    /// quantile does not sink with every hedge. Attempts that fail for another reason are not recorded.
    ///
    /// - Parameters:
    ///   - quantile: The share of calls that end without a hedge: a hedge begins when a call takes longer than this
    ///     share of the recent calls did. Less than 0.01 counts as 0.01, more than 0.999 as 0.999, and NaN as the
    ///     default. By default 0.95: about one call in 20 is hedged ("The Tail at Scale", 2013).
    ///   - capacity: The largest number of durations that are kept. When it is reached, a new duration replaces the
    ///     oldest. Less than `minimumSamples` counts as `minimumSamples`.
    ///   - minimumSamples: The number of durations that are needed for an estimate. With fewer durations, a call is
    ///     hedged only after a failure. Less than 1 counts as 1.
    public static func quantile(
        _ quantile: Double = 0.95,
        capacity: Int = 1_000,
        minimumSamples: Int = 100
    ) -> HedgeDelay {
        HedgeDelay(
            fixed: nil,
            history: DurationHistory(quantile: quantile, capacity: capacity, minimumSamples: minimumSamples)
        )
    }

    /// The present delay. `nil` for a quantile of fewer durations than it needs: only a failure then begins another attempt.
    ///
    /// A quantile is computed again when one twentieth of its durations are new.
    public var duration: Duration? { fixed ?? history?.estimate }
}
