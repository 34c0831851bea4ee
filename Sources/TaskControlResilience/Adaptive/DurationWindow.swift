/// A histogram of the durations of calls, in a fixed number of buckets: four for each doubling of the duration. Adding a call costs O(1).
///
/// The mean counts a call that took more than twice the median as twice the median. Otherwise a few slow calls would change the mean of a window more
/// than a queue does.
struct DurationWindow: Sendable {
    struct Summary {
        /// The mean duration, in seconds.
        var mean: Double
        /// The standard error of the mean, in seconds.
        var error: Double
        /// The average number of calls that ran when a call began.
        var running: Double

        /// The lower bound of the mean, in seconds: the true mean is larger with a probability of about 98 %.
        var low: Double { mean - 2 * error }
        /// The upper bound of the mean, in seconds: the true mean is smaller with a probability of about 98 %.
        var high: Double { mean + 2 * error }
    }

    private struct Bucket {
        var count = 0.0
        var sum = 0.0
        var sumOfSquares = 0.0
    }

    /// The number of calls that have returned a value.
    private(set) var count = 0
    /// The number of calls that ended at their time limit.
    private(set) var drops = 0
    /// The number of calls that began when the limit admitted no further call.
    private var full = 0
    /// The sum, over all calls, of the number of calls that ran when the call began.
    private var running = 0
    /// The largest number of calls that ran when a call began.
    private(set) var mostRunning = 0
    /// One bit for each of the latest 16 calls, the lowest for the latest: whether the call took longer than the
    /// `reference` with which it was added.
    private var slower: UInt16 = 0
    private var buckets = [Bucket](repeating: Bucket(), count: Self.octaves.count * Self.perOctave)

    /// The binary exponents of the durations that are distinguished: from a nanosecond to more than an hour.
    private static let octaves = -30..<12
    private static let perOctave = 4

    /// Whether at least 90 % of the calls began when the limit admitted no further call. With less load, the calls show little about a higher limit.
    var isFull: Bool { 10 * full >= 9 * (count + drops) }

    /// Whether at least half of the calls began when the limit admitted no further call.
    var isOftenFull: Bool { 2 * full >= count + drops }

    /// Adds a call that has returned a value.
    ///
    /// - Parameters:
    ///   - seconds: The duration of the call, in seconds.
    ///   - running: The number of calls that ran when the call began, including itself.
    ///   - isFull: Whether the limit admitted no further call at that time.
    ///   - reference: The duration in seconds above which the call counts as slow for ``isSlowerNow``.
    mutating func add(_ seconds: Double, running: Int, isFull: Bool, reference: Double = .infinity) {
        slower = slower << 1 | (seconds > reference ? 1 : 0)
        let seconds = max(seconds, Self.lowerBound(of: 0))
        let index = Self.index(of: seconds)
        buckets[index].count += 1
        buckets[index].sum += seconds
        buckets[index].sumOfSquares += seconds * seconds
        count += 1
        self.running += running
        mostRunning = max(mostRunning, running)
        full += isFull ? 1 : 0
    }

    mutating func addDrop(isFull: Bool) {
        drops += 1
        full += isFull ? 1 : 0
    }

    mutating func removeAll() {
        for index in buckets.indices { buckets[index] = Bucket() }
        (count, drops, full, running, mostRunning) = (0, 0, 0, 0, 0)
        slower = 0
    }

    /// Whether at least 15 of the latest 16 calls took longer than the `reference` with which they were added: too many
    /// for a few slow calls, or for chance.
    var isSlowerNow: Bool { slower.nonzeroBitCount >= 15 }

    private static func index(of seconds: Double) -> Int {
        let octave = min(Int(seconds.exponent), octaves.upperBound - 1)
        return (octave - octaves.lowerBound) * perOctave + Int((seconds.significand - 1) * Double(perOctave))
    }

    private static func lowerBound(of index: Int) -> Double {
        let part = Double(index % perOctave) / Double(perOctave)
        return Double(sign: .plus, exponent: octaves.lowerBound + index / perOctave, significand: 1 + part)
    }

    /// The mean and the other figures of the calls that have returned a value. There must be at least one such call.
    ///
    /// - Complexity: O(1).
    var summary: Summary {
        let count = Double(count)
        let bound = 2 * median
        var (sum, sumOfSquares) = (0.0, 0.0)
        for bucket in buckets where bucket.count > 0 {
            let isSlow = bucket.sum > bound * bucket.count
            sum += isSlow ? bound * bucket.count : bucket.sum
            sumOfSquares += isSlow ? bound * bound * bucket.count : bucket.sumOfSquares
        }
        let mean = sum / count
        let variance = max(0, sumOfSquares / count - mean * mean)
        return Summary(mean: mean, error: (variance / count).squareRoot(), running: Double(running) / count)
    }

    private var median: Double {
        var (index, below, half) = (0, 0.0, Double(count) / 2)
        while below + buckets[index].count < half {
            below += buckets[index].count
            index += 1
        }
        half = (half - below) / buckets[index].count
        return Self.lowerBound(of: index) + half * (Self.lowerBound(of: index + 1) - Self.lowerBound(of: index))
    }
}
