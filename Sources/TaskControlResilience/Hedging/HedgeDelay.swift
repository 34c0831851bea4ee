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

/// The recent durations of the calls of one operation, for ``HedgeDelay/quantile(_:capacity:minimumSamples:)``.
final class DurationHistory: Sendable {
    private let samples: Locked<CensoredDurations>

    init(quantile: Double, capacity: Int, minimumSamples: Int) {
        let minimum = ComputedNumber.count(minimumSamples, "HedgeDelay.quantile(minimumSamples:)", .withHedging)
        let capacity = ComputedNumber.count(
            capacity,
            atLeast: minimum,
            "HedgeDelay.quantile(capacity:)",
            .withHedging
        )
        let quantile = ComputedNumber.number(
            quantile,
            in: 0.01...0.999,
            default: 0.95,
            "HedgeDelay.quantile(_:)",
            .withHedging
        )
        samples = Locked(CensoredDurations(quantile: quantile, capacity: capacity, minimum: minimum))
    }

    var estimate: Duration? { samples.withLock { $0.estimate } }

    func record(_ duration: Duration, isCensored: Bool) {
        samples.withLock { $0.record(duration, isCensored: isCensored) }
    }
}

/// The recent durations of calls, and a quantile of them. For some calls, only a time is known that they would have
/// exceeded.
///
/// An attempt that lost against another attempt was cancelled: its duration is *censored*. If it were recorded like the
/// others or left out, the quantile would be too low. More calls would then be hedged and more durations censored,
/// which would make the quantile even lower. The estimate of Kaplan and Meier (1958) counts a censored attempt as
/// longer than all durations up to the time of its cancellation, and ignores it for longer durations.
struct CensoredDurations: Sendable {
    private struct Sample {
        let duration: Duration
        let isCensored: Bool
    }

    private let quantile: Double
    private let capacity: Int
    private let minimum: Int
    /// The samples, in a ring: when it is full, a new sample replaces the oldest one.
    private var samples: [Sample] = []
    /// The index in `samples` of the sample that is replaced next.
    private var next = 0
    /// The number of further samples after which the estimate is computed again.
    private var untilEstimate = 0
    /// The estimated quantile of the durations; `nil` while there are too few samples. Computed again when one
    /// twentieth of the samples are new.
    private(set) var estimate: Duration?

    init(quantile: Double, capacity: Int, minimum: Int) {
        precondition(quantile > 0 && quantile <= 1 && capacity >= minimum && minimum > 0, "There are samples.")
        self.quantile = quantile
        self.capacity = capacity
        self.minimum = minimum
    }

    /// Adds a duration.
    ///
    /// - Parameters:
    ///   - duration: The duration of a call.
    ///   - isCensored: Whether the call was cancelled after `duration`: it would have taken longer.
    /// - Complexity: O(1), except that the estimate is computed in O(*n* log *n*) once per *n* / 20 calls, for *n*
    ///   samples.
    mutating func record(_ duration: Duration, isCensored: Bool) {
        let sample = Sample(duration: max(.zero, duration), isCensored: isCensored)
        if samples.count < capacity { samples.append(sample) } else { samples[next] = sample }
        next = (next + 1) % capacity
        untilEstimate -= 1
        guard samples.count >= minimum, untilEstimate <= 0 else { return }
        untilEstimate = max(1, samples.count / 20)
        estimate = estimated()
    }

    private func estimated() -> Duration? {
        // Of equal durations, that of a call that ended comes before that of a call that was cancelled.
        let sorted = samples.sorted { ($0.duration, $0.isCensored ? 1 : 0) < ($1.duration, $1.isCensored ? 1 : 0) }
        var (remaining, survival) = (sorted.count, 1.0)
        for sample in sorted {
            if !sample.isCensored { survival *= 1 - 1 / Double(remaining) }
            remaining -= 1
            if 1 - survival >= quantile - 1e-9 { return sample.duration }
        }
        // Too many samples are censored to know the quantile: it is at least the longest duration.
        return sorted.last?.duration
    }
}
