/// The durations of the calls of a window, in buckets of a fourth of an octave, so that a call costs O(1) and a window needs no memory of its own.
/// Pure.
///
/// The mean counts a call that took more than twice the median as twice the median. A few slow calls would otherwise decide it, and the mean of a
/// window would differ from that of the next one more than by a queue.
struct DurationWindow: Sendable {
    struct Summary {
        /// The mean, in seconds.
        var mean: Double
        /// The standard error of the mean.
        var error: Double
        /// The number of calls that ran when a call began, on average.
        var running: Double

        /// The mean that is exceeded with a probability of about 98 %.
        var low: Double { mean - 2 * error }
        /// The mean that is not reached with a probability of about 2 %.
        var high: Double { mean + 2 * error }
    }

    private struct Bucket {
        var count = 0.0
        var sum = 0.0
        var sumOfSquares = 0.0
    }

    /// The calls that have taken a time.
    private(set) var count = 0
    /// The calls that ended at their time limit.
    private(set) var drops = 0
    private var full = 0
    private var running = 0
    /// The largest number of calls that ran when a call began.
    private(set) var mostRunning = 0
    /// Of each of the latest 16 calls, whether it took longer than the reference: the latest call is the lowest bit.
    private var slower: UInt16 = 0
    private var buckets = [Bucket](repeating: Bucket(), count: Self.octaves.count * Self.perOctave)

    /// From a nanosecond to more than an hour.
    private static let octaves = -30..<12
    private static let perOctave = 4

    /// Whether nearly all calls began when no other call was admitted. A window with less load says little about a higher limit.
    var isFull: Bool { 10 * full >= 9 * (count + drops) }

    /// Whether half of the calls began when no other call was admitted.
    var isOftenFull: Bool { 2 * full >= count + drops }

    /// - Parameters:
    ///   - seconds: The duration of the call.
    ///   - running: The number of calls that ran when it began, including itself.
    ///   - isFull: Whether no other call was admitted at that time.
    ///   - reference: The duration in seconds above which the call is one of the slower ones.
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

    /// Whether nearly all of the latest 16 calls took longer than the reference: a few slow calls among them, or chance, do not suffice.
    var isSlowerNow: Bool { slower.nonzeroBitCount >= 15 }

    private static func index(of seconds: Double) -> Int {
        let octave = min(Int(seconds.exponent), octaves.upperBound - 1)
        return (octave - octaves.lowerBound) * perOctave + Int((seconds.significand - 1) * Double(perOctave))
    }

    private static func lowerBound(of index: Int) -> Double {
        let part = Double(index % perOctave) / Double(perOctave)
        return Double(sign: .plus, exponent: octaves.lowerBound + index / perOctave, significand: 1 + part)
    }

    /// - Precondition: There is a call.
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
