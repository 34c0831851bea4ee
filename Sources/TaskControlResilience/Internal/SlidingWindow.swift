/// Counts within a time window of a given length that moves with the current time, and their sum. The window is divided
/// into buckets of equal length, and the oldest bucket is cleared as time passes.
///
/// The window moves only when `move(to:)` is called, so it needs no timer. It never moves back: a time before that of
/// an earlier `move(to:)` does not move it.
struct SlidingWindow<Counts: AdditiveArithmetic> {
    /// The sum of the counts in all buckets.
    private(set) var total = Counts.zero
    /// The number of the current bucket. Bucket numbers increase, and are never reused.
    private(set) var current: UInt64 = 0

    private var buckets: [Counts]
    /// The index of the current bucket in `buckets`.
    private var index = 0
    private let width: Duration
    /// The time at which the current bucket ends.
    private var end: Duration

    /// Creates an empty window.
    ///
    /// - Parameters:
    ///   - length: The length of the window. Must be more than zero.
    ///   - count: The number of buckets.
    init(length: Duration, buckets count: Int) {
        precondition(length > .zero && count > 0, "A window has a length and buckets.")
        buckets = Array(repeating: .zero, count: count)
        // More than zero even for a very short window, since `move(to:)` must advance.
        width = max(length / count, Duration(secondsComponent: 0, attosecondsComponent: 1))
        end = width
    }

    /// The number of the oldest bucket that is in the window.
    var oldest: UInt64 { current < UInt64(buckets.count) ? 0 : current + 1 - UInt64(buckets.count) }

    /// Moves the window forward until its current bucket contains the time `now`. The first bucket begins at time zero.
    ///
    /// - Complexity: O(*n*) in the number of buckets that are cleared.
    mutating func move(to now: Duration) {
        guard now >= end else { return }
        for _ in buckets.indices {
            advance()
            end += width
            if now < end { return }
        }
        // All buckets are empty, so nothing depends on where they begin.
        end = now + width
    }

    private mutating func advance() {
        current += 1
        index = index + 1 == buckets.count ? 0 : index + 1
        total -= buckets[index]
        buckets[index] = .zero
    }

    /// Returns the index in `buckets` of the bucket with the given number, which must be in the window. Computed
    /// without a division, which would take longer than counting.
    private func index(of number: UInt64) -> Int {
        let distance = Int(current - number)
        return distance <= index ? index - distance : index - distance + buckets.count
    }

    /// Adds counts to the bucket with the given number, unless that bucket has left the window.
    mutating func add(_ counts: Counts, to number: UInt64) {
        guard number >= oldest, number <= current else { return }
        buckets[index(of: number)] += counts
        total += counts
    }

    /// Returns the sum of the counts in the latest `count` buckets, including the current one.
    func latest(_ count: Int) -> Counts {
        let first = current + 1 < UInt64(count) ? 0 : current + 1 - UInt64(count)
        return (max(first, oldest)...current).reduce(.zero) { $0 + buckets[index(of: $1)] }
    }

    /// Clears all buckets. Bucket numbers are not reused, so counts for earlier buckets are ignored afterwards.
    mutating func removeAll() {
        current += UInt64(buckets.count)
        for index in buckets.indices { buckets[index] = .zero }
        total = .zero
    }

    /// Traps if an invariant does not hold.
    func checkInvariants() {
        precondition(buckets.reduce(.zero, +) == total, "the total is the sum of the buckets")
    }
}

extension SlidingWindow: Sendable where Counts: Sendable {}
