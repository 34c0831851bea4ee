import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct SlidingWindowTests {
    @Test func aCountIsForgottenWithItsBucket() {
        var window = SlidingWindow<Int>(length: .seconds(10), buckets: 5)
        window.add(1, to: window.current)
        window.move(to: .seconds(3))
        window.add(10, to: window.current)
        #expect(window.total == 11)
        window.move(to: .seconds(9.999))
        #expect(window.total == 11)
        window.move(to: .seconds(10))
        #expect(window.total == 10)
        window.move(to: .seconds(12))
        #expect(window.total == 0)
    }

    @Test func aLongPauseClearsTheWindow() {
        var window = SlidingWindow<Int>(length: .seconds(10), buckets: 5)
        window.add(1, to: window.current)
        window.move(to: .seconds(1_000_000))
        #expect(window.total == 0)
        window.add(1, to: window.current)
        window.move(to: .seconds(1_000_009))
        #expect(window.total == 1)
        window.move(to: .seconds(1_000_010))
        #expect(window.total == 0)
    }

    @Test func timeThatRunsBackwardsDoesNotMoveTheWindow() {
        var window = SlidingWindow<Int>(length: .seconds(10), buckets: 5)
        window.move(to: .seconds(5))
        window.add(1, to: window.current)
        window.move(to: .seconds(1))
        #expect(window.total == 1 && window.current == 2)
    }

    @Test func aCountForAnEarlierBucketLeavesWithThatBucket() {
        var window = SlidingWindow<Int>(length: .seconds(10), buckets: 5)
        let first = window.current
        window.move(to: .seconds(8))
        window.add(1, to: first)
        #expect(window.total == 1 && window.latest(4) == 0 && window.latest(5) == 1)
        window.move(to: .seconds(10))
        #expect(window.total == 0)
        window.add(1, to: first)
        window.add(1, to: window.current + 1)
        #expect(window.total == 0, "there is no such bucket")
    }

    /// A window that has moved by more than its length uses its buckets again.
    @Test func anEarlierBucketIsFoundAlsoWhereTheWindowHasMovedRound() {
        var window = SlidingWindow<Int>(length: .seconds(10), buckets: 5)
        for second in stride(from: 0, to: 30, by: 2) {
            window.move(to: .seconds(second))
            let added = min(window.current, 4)
            for age in 0...added { window.add(1, to: window.current - age) }
            #expect(window.latest(1) == 1 && window.latest(2) <= 3 && window.latest(5) == window.total)
        }
        #expect(window.total == 1 + 2 + 3 + 4 + 5)
        window.move(to: .seconds(34))
        #expect(window.total == 1 + 2)
    }

    @Test func countsOfTheTimeBeforeRemoveAllDoNotReturn() {
        var window = SlidingWindow<Int>(length: .seconds(10), buckets: 5)
        let first = window.current
        window.add(3, to: first)
        window.removeAll()
        window.add(1, to: first)
        #expect(window.total == 0)
        window.add(1, to: window.current)
        #expect(window.total == 1)
    }

    @Test func aWindowShorterThanItsBucketsMoves() {
        var window = SlidingWindow<Int>(length: Duration(secondsComponent: 0, attosecondsComponent: 1), buckets: 5)
        window.add(1, to: window.current)
        window.move(to: .nanoseconds(1))
        #expect(window.total == 0)
    }

    /// Each count is in the window for at most its length, and for at least its length without one bucket.
    @Test(arguments: Schedules.seeds(40, inDebug: 10))
    func aCountIsInTheWindowForItsLength(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...12, using: &random)
        let width = Int.random(in: 1...5, using: &random)
        var window = SlidingWindow<Int>(length: .seconds(width * count), buckets: count)
        var (now, times) = (0, [Int]())
        for _ in 0..<500 {
            now +=
                Int.random(in: 0...3, using: &random) == 0 ? Int.random(in: 0...(2 * width * count), using: &random) : 1
            window.move(to: .seconds(now))
            let least = times.count { $0 > now - width * (count - 1) }
            let most = times.count { $0 > now - width * count }
            #expect((least...most).contains(window.total))
            window.add(1, to: window.current)
            times.append(now)
            window.checkInvariants()
        }
    }
}
