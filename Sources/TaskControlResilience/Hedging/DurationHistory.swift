internal import TaskControl

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
