internal import TaskControl

/// The recent durations of the calls of one operation, for hedges (additional attempts) that begin when a call takes
/// unusually long: see ``HedgeDelay/quantile(of:)``.
///
/// ```swift
/// let history = DurationHistory(quantile: 0.95)          // one per operation
/// ```
///
/// ``withHedging(after:maxHedges:budget:clock:operation:shouldHedge:)-(_,_,_,_,()->Value,_)`` records the duration of each
/// successful attempt. An attempt that was cancelled, because another attempt succeeded first or the caller was
/// cancelled, is recorded as *longer than* its duration, so that the quantile does not sink with every hedge. Attempts
/// that fail for another reason are not recorded.
///
/// Safe to use from any thread and any isolation.
public final class DurationHistory: Sendable {
    private let samples: Locked<CensoredDurations>

    /// Creates an empty history.
    ///
    /// - Parameters:
    ///   - quantile: The share of calls that end without a hedge: a hedge begins when a call takes longer than this
    ///     share of the recent calls did. Less than 0.01 counts as 0.01, more than 0.999 as 0.999, and NaN as the
    ///     default. By default 0.95: about one call in 20 is hedged ("The Tail at Scale", 2013).
    ///   - capacity: The largest number of durations that are kept. In a full history, a new duration replaces the
    ///     oldest. Less than `minimumSamples` counts as `minimumSamples`.
    ///   - minimumSamples: The number of durations that are needed for an estimate. With fewer durations, a call is
    ///     hedged only after a failure. Less than 1 counts as 1.
    public init(quantile: Double = 0.95, capacity: Int = 1_000, minimumSamples: Int = 100) {
        let minimum = ComputedNumber.count(minimumSamples, "DurationHistory(minimumSamples:)", .withHedging)
        let capacity = ComputedNumber.count(
            capacity,
            atLeast: minimum,
            "DurationHistory(capacity:)",
            .withHedging
        )
        let quantile = ComputedNumber.number(
            quantile,
            in: 0.01...0.999,
            default: 0.95,
            "DurationHistory(quantile:)",
            .withHedging
        )
        samples = Locked(CensoredDurations(quantile: quantile, capacity: capacity, minimum: minimum))
    }

    /// The quantile of the recent durations: the duration that the share `quantile` of them does not exceed. `nil` if
    /// fewer than `minimumSamples` durations are known. (Both names are parameters of the initializer.)
    ///
    /// The estimate is computed again when one twentieth of the durations are new.
    public var estimate: Duration? { samples.withLock { $0.estimate } }

    func record(_ duration: Duration, isCensored: Bool) {
        samples.withLock { $0.record(duration, isCensored: isCensored) }
    }
}

/// The time after which ``withHedging(after:maxHedges:budget:clock:operation:shouldHedge:)-(_,_,_,_,()->Value,_)`` begins
/// another attempt, counted from the beginning of the previous attempt.
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

    /// Returns a delay that is the quantile of the recent durations of an operation: ``DurationHistory/estimate``.
    /// While the history has too few durations, another attempt begins only after a failure.
    ///
    /// - Parameter history: The history of the operation, to which each call with this delay adds its durations.
    public static func quantile(of history: DurationHistory) -> HedgeDelay {
        HedgeDelay(fixed: nil, history: history)
    }

    /// The delay; `nil` if only a failure begins another attempt.
    var duration: Duration? { fixed ?? history?.estimate }
}
