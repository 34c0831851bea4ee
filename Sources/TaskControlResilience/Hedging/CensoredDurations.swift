/// The recent durations of calls, of which some are only known to be longer than a time, and a quantile of them.
///
/// A call that lost against another attempt was cancelled: its duration is *censored*. If it were recorded like the others or left out, the quantile
/// would be too low, so that more calls would be hedged and more would be censored, which would make the quantile even lower. The estimate of Kaplan
/// and Meier (1958) counts a censored call among those that took longer, up to the time at which it was cancelled.
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
    private var next = 0
    private var untilEstimate = 0
    /// The quantile; `nil` while there are too few samples. Computed again when one twentieth of the samples are new.
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
    ///   - isCensored: Whether the call was cancelled, so that it would have taken longer.
    /// - Complexity: O(1), and O(*n* log *n*) in the number of samples for every twentieth of them.
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
        // At one time, a call that ended comes before a call that was cancelled.
        let sorted = samples.sorted { ($0.duration, $0.isCensored ? 1 : 0) < ($1.duration, $1.isCensored ? 1 : 0) }
        var (remaining, survival) = (sorted.count, 1.0)
        for sample in sorted {
            if !sample.isCensored { survival *= 1 - 1 / Double(remaining) }
            remaining -= 1
            if 1 - survival >= quantile - 1e-9 { return sample.duration }
        }
        // More was censored than the quantile leaves: it is at least as long as everything that was seen.
        return sorted.last?.duration
    }
}
