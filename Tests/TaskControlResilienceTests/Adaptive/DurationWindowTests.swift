import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct DurationWindowTests {
    @Test func theMeanOfEqualDurations() {
        var window = DurationWindow()
        for _ in 0..<10 { window.add(0.25, running: 4, isFull: true) }
        let summary = window.summary
        #expect(abs(summary.mean - 0.25) < 1e-12 && summary.error < 1e-6 && summary.running == 4)
        #expect(window.isFull)
    }

    @Test func aSlowCallCountsAsTwiceTheMedian() {
        var window = DurationWindow()
        for number in 0..<99 { window.add(0.8 + Double(number % 5) * 0.1, running: 1, isFull: false) }
        let before = window.summary.mean
        window.add(1_000, running: 1, isFull: false)
        #expect(abs(before - 1) < 0.02)
        #expect((1.0...1.04).contains(window.summary.mean), "\(window.summary.mean)")
    }

    @Test func theErrorOfTheMeanIsThatOfIndependentCalls() {
        var random = SeededGenerator(seed: 1)
        var window = DurationWindow()
        for _ in 0..<1_200 { window.add(.random(in: 0.5..<1.5, using: &random), running: 1, isFull: false) }
        // The variance of a uniform distribution is a twelfth.
        #expect((0.8...1.2).contains(window.summary.error * 120))
        #expect(window.summary.low < 1 && window.summary.high > 1)
    }

    @Test func aWindowIsSlowerWhenNearlyAllOfTheLatestCallsAre() {
        var window = DurationWindow()
        for _ in 0..<100 { window.add(1, running: 1, isFull: true, reference: 1.3) }
        for _ in 0..<14 { window.add(2, running: 1, isFull: true, reference: 1.3) }
        #expect(!window.isSlowerNow)
        window.add(2, running: 1, isFull: true, reference: 1.3)
        #expect(window.isSlowerNow)
        for _ in 0..<2 { window.add(1, running: 1, isFull: true, reference: 1.3) }
        #expect(!window.isSlowerNow)
    }

    /// Clocks that stand still or jump give such durations.
    @Test func everyDurationHasABucket() {
        for seconds in [-1, 0, 1e-30, 1e-9, 1e9, .greatestFiniteMagnitude] {
            var window = DurationWindow()
            window.add(seconds, running: 1, isFull: false)
            #expect(window.summary.mean > 0)
        }
    }

    @Test func anEmptiedWindowCountsNothing() {
        var window = DurationWindow()
        window.add(1, running: 1, isFull: true)
        window.addDrop(isFull: true)
        window.removeAll()
        #expect(window.count == 0 && window.drops == 0)
        window.add(2, running: 3, isFull: false)
        #expect((1.9...2.3).contains(window.summary.mean) && window.summary.running == 3 && !window.isFull)
    }
}
