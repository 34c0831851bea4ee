import Testing

@testable import TaskControlTesting

@Suite(.timeLimit(.minutes(15)))
struct ClockDriftTests {
    @Test func aClockThatDoesNotDriftIsExact() {
        let clock = ClockDrift(rate: 1)
        let odd = Duration(secondsComponent: 1 << 40, attosecondsComponent: 1)
        #expect(clock.time(at: odd) == odd)
        #expect(clock.moment(of: odd, after: .seconds(1)) == .seconds(1) + .seconds(365 * 86_400), "at most a year")
        #expect(clock.moment(of: .seconds(3), after: .seconds(1)) == .seconds(3))
        #expect(clock.moment(of: .seconds(1), after: .seconds(1)) == nil)
    }

    @Test func aChangeOfTheRateGoesOnFromTheTimeThatIsShown() {
        var clock = ClockDrift(rate: 2)
        clock.setRate(0.5, at: .seconds(10))
        #expect(clock.time(at: .seconds(10)) == .seconds(20))
        #expect(clock.time(at: .seconds(14)) == .seconds(22))
        clock.jump(by: .seconds(-5))
        #expect(clock.time(at: .seconds(14)) == .seconds(17))
        #expect(clock.rate == 0.5)
    }

    @Test(arguments: [Double.leastNonzeroMagnitude, 1e-300, 0.5, 1, 2, 1e300, .greatestFiniteMagnitude])
    func extremeRatesAndJumpsAreBounded(rate: Double) {
        var clock = ClockDrift(rate: rate)
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999) * 18
        for jump in [longest, longest, .zero - longest, .zero - longest, .zero - longest] {
            clock.jump(by: jump)
            #expect(abs(clock.time(at: .seconds(1)) / .seconds(1)) <= 0x1p63)
            if let next = clock.moment(of: .seconds(5), after: .seconds(1)) {
                #expect(next > .seconds(1) && next <= .seconds(1 + 365 * 86_400))
            }
            clock.setRate(rate, at: .seconds(1))
        }
    }

    /// However the time is rounded: a task that sleeps until the named moment finds the time shown, or has to sleep again a few times at most.
    @Test(arguments: [0.5, 0.9, 1 - 1e-9, 1, 1 + 1e-9, 1.1, 2, 1.0 / 3])
    func aSleeperComesToItsEnd(rate: Double) {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<1_000 {
            var clock = ClockDrift(rate: rate)
            var now = generator.duration(in: .zero ... .seconds(100_000))
            clock.jump(by: generator.duration(in: .seconds(-10) ... .seconds(10)))
            let deadline = clock.time(at: now) + generator.duration(in: .nanoseconds(1) ... .seconds(1_000))
            var sleeps = 0
            while let next = clock.moment(of: deadline, after: now) {
                #expect(next > now)
                // A clock of nanoseconds rounds down.
                now = .nanoseconds(next.nanoseconds)
                sleeps += 1
                if sleeps > 3 { break }
            }
            #expect(sleeps <= 3 && clock.time(at: now) >= deadline)
            #expect(clock.time(at: now) - deadline < .nanoseconds(10), "and not late")
        }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
