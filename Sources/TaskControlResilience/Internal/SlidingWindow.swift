/// Counts of the recent past, in buckets of equal length, of which the oldest is cleared as time passes. Pure.
///
/// The window moves only when it is asked to, so that it needs no timer. Time that runs backwards does not move it.
struct SlidingWindow<Counts: AdditiveArithmetic> {
    /// The sum of all buckets.
    private(set) var total = Counts.zero
    /// The number of the current bucket. Bucket numbers increase, and are never reused.
    private(set) var current: UInt64 = 0

    private var buckets: [Counts]
    /// The index of the current bucket.
    private var index = 0
    private let width: Duration
    /// The end of the current bucket.
    private var end: Duration

    /// - Parameters:
    ///   - length: The length of the window. More than zero.
    ///   - count: The number of buckets.
    init(length: Duration, buckets count: Int) {
        precondition(length > .zero && count > 0, "A window has a length and buckets.")
        buckets = Array(repeating: .zero, count: count)
        // Not zero, however short the window is: time must leave a bucket.
        width = max(length / count, Duration(secondsComponent: 0, attosecondsComponent: 1))
        end = width
    }

    /// The number of the oldest bucket that counts.
    var oldest: UInt64 { current < UInt64(buckets.count) ? 0 : current + 1 - UInt64(buckets.count) }

    /// Moves the window, so that the current bucket is that of a time.
    ///
    /// - Complexity: O(*n*) in the number of buckets that have passed, at most all.
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

    /// The index of a bucket that counts. Without a division, which takes longer than the rest of a count.
    private func index(of number: UInt64) -> Int {
        let distance = Int(current - number)
        return distance <= index ? index - distance : index - distance + buckets.count
    }

    /// Adds counts to a bucket, unless that has left the window.
    mutating func add(_ counts: Counts, to number: UInt64) {
        guard number >= oldest, number <= current else { return }
        buckets[index(of: number)] += counts
        total += counts
    }

    /// The sum of the latest buckets.
    func latest(_ count: Int) -> Counts {
        let first = current + 1 < UInt64(count) ? 0 : current + 1 - UInt64(count)
        return (max(first, oldest)...current).reduce(.zero) { $0 + buckets[index(of: $1)] }
    }

    /// Clears all buckets. Their numbers are not reused: calls that began before do not count afterwards.
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
