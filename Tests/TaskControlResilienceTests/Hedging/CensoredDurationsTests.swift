import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct CensoredDurationsTests {
    @Test func withoutCensoringItIsTheQuantile() {
        var durations = CensoredDurations(quantile: 0.95, capacity: 100, minimum: 100)
        for number in (1...99).reversed() { durations.record(.milliseconds(number), isCensored: false) }
        #expect(durations.estimate == nil)
        durations.record(.milliseconds(100), isCensored: false)
        #expect(durations.estimate == .milliseconds(95))
    }

    @Test func theOldestDurationIsReplaced() {
        var durations = CensoredDurations(quantile: 0.5, capacity: 10, minimum: 10)
        for _ in 0..<10 { durations.record(.seconds(1), isCensored: false) }
        for _ in 0..<6 { durations.record(.seconds(2), isCensored: false) }
        #expect(durations.estimate == .seconds(2))
        for _ in 0..<10 { durations.record(.seconds(-1), isCensored: false) }
        #expect(durations.estimate == .zero, "a clock that runs backwards")
    }

    /// The first three of four end at 1, 2 and 4; one is cancelled at 3. By hand: 1 − 3/4 × 2/3 = 1/2 at 2, and 1 at 4.
    @Test func aCensoredDurationCountsUpToItsTime() {
        var durations = CensoredDurations(quantile: 0.51, capacity: 4, minimum: 4)
        for (seconds, isCensored) in [(4, false), (3, true), (2, false), (1, false)] {
            durations.record(.seconds(seconds), isCensored: isCensored)
        }
        #expect(durations.estimate == .seconds(4))
        var half = CensoredDurations(quantile: 0.5, capacity: 4, minimum: 4)
        for (seconds, isCensored) in [(4, false), (3, true), (2, false), (1, false)] {
            half.record(.seconds(seconds), isCensored: isCensored)
        }
        #expect(half.estimate == .seconds(2))
    }

    @Test func whereAllIsCensoredItIsTheLongestSeen() {
        var durations = CensoredDurations(quantile: 0.5, capacity: 4, minimum: 2)
        for seconds in [3, 1] { durations.record(.seconds(seconds), isCensored: true) }
        #expect(durations.estimate == .seconds(3))
    }

    /// Calls that take 10 ms, and 4 % of them 200 ms. Those that take longer than the estimate are hedged, and lose against a hedge of 10 ms. Recorded as
    /// they end, the estimate sinks to 10 ms, and all calls are hedged.
    @Test(arguments: Schedules.seeds(20, inDebug: 1))
    func theEstimateDoesNotSinkWithTheHedges(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var durations = CensoredDurations(quantile: 0.95, capacity: 1_000, minimum: 100)
        var hedges = 0
        for number in 0..<20_000 {
            let isSlow = Int.random(in: 0..<100, using: &random) < 4
            let milliseconds = isSlow ? 200 : Double.random(in: 5..<15, using: &random)
            if let delay = durations.estimate, .milliseconds(milliseconds) > delay {
                if number >= 10_000 { hedges += 1 }
                durations.record(delay + .milliseconds(10), isCensored: true)
                durations.record(.milliseconds(10), isCensored: false)
            } else {
                durations.record(.milliseconds(milliseconds), isCensored: false)
            }
        }
        #expect(durations.estimate! >= .milliseconds(14))
        #expect(hedges <= 10_000 / 10, "\(hedges) hedges")
    }
}
