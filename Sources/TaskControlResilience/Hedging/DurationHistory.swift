internal import TaskControl

/// The recent durations of the calls of one operation, for hedges (additional attempts) that begin when a call takes
/// unusually long: see ``HedgeDelay/quantile(of:)``.
///
/// ```swift
/// let history = DurationHistory(quantile: 0.95)          // one per operation
/// ```
///
/// ``hedged(after:maxHedges:budget:clock:operation:shouldHedge:)-(_,_,_,_,()->Value,_)`` records the duration of each successful attempt. An attempt
/// that was cancelled, since another attempt won, is recorded as *longer than* its duration, so that the quantile does not sink with every hedge.
/// Failed attempts are not recorded.
///
/// Safe to use from any thread and any isolation.
public final class DurationHistory: Sendable {
    private let samples: Locked<CensoredDurations>

    /// Creates an empty history.
    ///
    /// - Parameters:
    ///   - quantile: The share of calls that end without a hedge: a hedge begins when a call has taken longer than this
    ///     share of the recent calls. Traps unless it is more than 0, and less than 1. By default 0.95: about one call
    ///     in 20 is hedged ("The Tail at Scale", 2013).
    ///   - capacity: The number of durations that are kept; a new one then replaces the oldest. Traps if it is less
    ///     than `minimumSamples`.
    ///   - minimumSamples: The number of durations that are needed for an estimate. With fewer durations, a call is hedged only after a failure. Traps
    ///     if it is less than 1.
    public init(quantile: Double = 0.95, capacity: Int = 1_000, minimumSamples: Int = 100) {
        insist(
            quantile > 0 && quantile < 1,
            "DurationHistory(quantile: \(quantile)): the quantile is a share of the calls. Give more than 0, and less than 1."
        )
        insist(
            minimumSamples >= 1,
            "DurationHistory(minimumSamples: \(minimumSamples)): without durations there is no quantile. Give 1 or more."
        )
        insist(
            capacity >= minimumSamples,
            "DurationHistory(capacity: \(capacity)): there would never be \(minimumSamples) durations. Give \(minimumSamples) or more."
        )
        samples = Locked(CensoredDurations(quantile: quantile, capacity: capacity, minimum: minimumSamples))
    }

    /// The quantile of the recent durations; `nil` if fewer than `minimumSamples` (a parameter of the initializer) are
    /// known.
    ///
    /// The estimate is computed again when one twentieth of the durations are new.
    public var estimate: Duration? { samples.withLock { $0.estimate } }

    func record(_ duration: Duration, isCensored: Bool) {
        samples.withLock { $0.record(duration, isCensored: isCensored) }
    }
}

/// The time after which ``hedged(after:maxHedges:budget:clock:operation:shouldHedge:)-(_,_,_,_,()->Value,_)`` begins
/// another attempt, counted from the beginning of the previous attempt.
public struct HedgeDelay: Sendable {
    private let fixed: Duration?
    let history: DurationHistory?

    /// Returns the same delay for each call.
    ///
    /// - Parameter delay: The delay. With zero or less, all attempts begin at the same time.
    public static func fixed(_ delay: Duration) -> HedgeDelay {
        HedgeDelay(fixed: max(.zero, delay), history: nil)
    }

    /// Returns a delay that is the quantile of a history, which receives the durations of the call. While the history has too few durations, only a
    /// failure begins another attempt.
    ///
    /// - Parameter history: The history of the operation.
    public static func quantile(of history: DurationHistory) -> HedgeDelay {
        HedgeDelay(fixed: nil, history: history)
    }

    /// The delay; `nil` if only a failure begins another attempt.
    var duration: Duration? { fixed ?? history?.estimate }
}
