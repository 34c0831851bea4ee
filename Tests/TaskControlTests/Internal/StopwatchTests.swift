import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct StopwatchTests {
    @Test func theUsualClockIsThatOfContinuousClock() {
        let before = ContinuousClock.now
        let watch = Stopwatch(ContinuousClock())
        let after = ContinuousClock.now
        for _ in 0..<1_000 {
            let start = ContinuousClock.now
            let (time, nanoseconds) = (watch.now, watch.nanoseconds)
            let end = ContinuousClock.now
            #expect(after.duration(to: start) <= time && time <= before.duration(to: end))
            #expect(time <= .nanoseconds(nanoseconds) && .nanoseconds(nanoseconds) <= before.duration(to: end))
        }
    }

    @Test func anotherClockIsReadInItsOwnTime() async {
        let clock = TestClock()
        let watch = Stopwatch(clock)
        await clock.advance(by: .seconds(3) + .nanoseconds(5))
        #expect(watch.now == .seconds(3) + .nanoseconds(5) && watch.nanoseconds == 3_000_000_005)
    }
}
