import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The delays, without a clock.
@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct RetryScheduleTests {
    private struct Failure: Error, Equatable {
        var number = 0
    }

    /// Draws one end of each range.
    private struct End: RandomNumberGenerator, Sendable {
        let bits: UInt64
        static let low = End(bits: .min)
        static let high = End(bits: .max)

        mutating func next() -> UInt64 { bits }
    }

    private func delays(_ backoff: RetryBackoff, _ count: Int, hint: Duration? = nil) -> [Duration] {
        var schedule = RetrySchedule(backoff)
        return (1...count).compactMap { schedule.delay(afterAttempt: $0, error: Failure(), hint: hint) }
    }

    // MARK: Shapes

    @Test func noneIsNoDelay() {
        #expect(delays(.none, 70) == Array(repeating: .zero, count: 70))
    }

    @Test func fixedIsTheSameEachTime() {
        #expect(delays(.fixed(.milliseconds(500)), 70) == Array(repeating: .milliseconds(500), count: 70))
    }

    @Test func exponentialDoubles() {
        #expect(delays(.exponential(base: .seconds(1)), 4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        let base = Duration.milliseconds(50)
        #expect(delays(.exponential(base: base), 30) == (0..<30).map { base * (1 << $0) })
    }

    @Test(arguments: [1, 1.1, 1.5, 2, 3, 10])
    func exponentialGrowsByItsFactor(factor: Double) {
        var expected = 0.05
        for delay in delays(.exponential(base: .milliseconds(50), factor: factor), 9) {
            let seconds = delay / .seconds(1)
            #expect(abs(seconds - expected) <= expected * 1e-12)
            expected *= factor
        }
    }

    @Test func aNegativeDelayOfACustomBackoffIsNoDelay() {
        let negative = RetryBackoff.custom { attempt, _ in .seconds(attempt == 1 ? -1 : Int64.min) }
        #expect(delays(negative, 2) == [.zero, .zero])
        #expect(delays(negative.jittered(.decorrelated, using: End.high), 2) == [.zero, .zero])
    }

    @Test func aNegativeDurationOfAnyBackoffIsNoDelay() {
        let remaining = Duration.seconds(-1)
        for backoff in [
            .fixed(remaining), .exponential(base: remaining), .fixed(.seconds(1)).capped(at: remaining),
        ] as [RetryBackoff] {
            #expect(delays(backoff, 2) == [.zero, .zero])
        }
    }

    @Test func customIsAskedWithTheAttemptAndItsError() {
        let asked = OrderRecorder<Int>()
        var schedule = RetrySchedule(
            .custom { attempt, error in
                asked.record(attempt)
                return (error as? Failure).map { .seconds($0.number + attempt) }
            }
        )
        #expect(schedule.delay(afterAttempt: 1, error: Failure(number: 10), hint: nil) == .seconds(11))
        #expect(schedule.delay(afterAttempt: 2, error: Failure(number: 20), hint: nil) == .seconds(22))
        #expect(schedule.delay(afterAttempt: 3, error: MarkedError(), hint: .seconds(1)) == nil)
        #expect(asked.events == [1, 2, 3])
    }

    // MARK: Cap

    @Test func aCapCutsWhatIsLonger() {
        let capped = RetryBackoff.exponential(base: .seconds(1)).capped(at: .seconds(5))
        #expect(delays(capped, 5) == [1, 2, 4, 5, 5].map { .seconds($0) })
        #expect(delays(.fixed(.seconds(1)).capped(at: .seconds(5)), 1) == [.seconds(1)])
        #expect(delays(.fixed(.seconds(1)).capped(at: .zero), 1) == [.zero])
        #expect(
            delays(.custom { attempt, _ in .seconds(attempt * 4) }.capped(at: .seconds(5)), 2) == [
                .seconds(4), .seconds(5),
            ]
        )
    }

    @Test func ofSeveralCapsTheLowestHolds() {
        let backoff = RetryBackoff.fixed(.seconds(10))
        #expect(delays(backoff.capped(at: .seconds(3)).capped(at: .seconds(4)), 1) == [.seconds(3)])
        #expect(delays(backoff.capped(at: .seconds(4)).capped(at: .seconds(3)), 1) == [.seconds(3)])
    }

    // MARK: Jitter

    @Test func fullIsBetweenZeroAndTheDelay() {
        let backoff = RetryBackoff.exponential(base: .seconds(1))
        #expect(delays(backoff.jittered(.full, using: End.low), 3) == [.zero, .zero, .zero])
        #expect(delays(backoff.jittered(.full, using: End.high), 3) == [1, 2, 4].map { .seconds($0) })
    }

    @Test func equalIsBetweenHalfOfTheDelayAndTheDelay() {
        let backoff = RetryBackoff.exponential(base: .seconds(2))
        #expect(delays(backoff.jittered(.equal, using: End.low), 3) == [1, 2, 4].map { .seconds($0) })
        #expect(delays(backoff.jittered(.equal, using: End.high), 3) == [2, 4, 8].map { .seconds($0) })
    }

    @Test func decorrelatedIsBetweenTheBaseAndThreeTimesTheLastDelay() {
        let backoff = RetryBackoff.exponential(base: .seconds(1), factor: 7)
        #expect(delays(backoff.jittered(.decorrelated, using: End.low), 4) == [1, 1, 1, 1].map { .seconds($0) })
        #expect(delays(backoff.jittered(.decorrelated, using: End.high), 4) == [3, 9, 27, 81].map { .seconds($0) })
        let capped = backoff.capped(at: .seconds(20))
        #expect(delays(capped.jittered(.decorrelated, using: End.high), 4) == [3, 9, 20, 20].map { .seconds($0) })
        let low = backoff.capped(at: .milliseconds(100))
        #expect(delays(low.jittered(.decorrelated, using: End.high), 2) == [.milliseconds(100), .milliseconds(100)])
    }

    @Test func decorrelatedBeginsAtWhatTheBackoffSays() {
        let fixed = RetryBackoff.fixed(.seconds(2))
        #expect(delays(fixed.jittered(.decorrelated, using: End.low), 2) == [.seconds(2), .seconds(2)])
        #expect(delays(fixed.jittered(.decorrelated, using: End.high), 2) == [.seconds(6), .seconds(18)])
        // 1, then 100, which is more than three times the last, then 2.
        let custom = RetryBackoff.custom { attempt, _ in .seconds([1, 100, 2][attempt - 1]) }
        #expect(delays(custom.jittered(.decorrelated, using: End.high), 3) == [3, 100, 300].map { .seconds($0) })
        #expect(delays(custom.jittered(.decorrelated, using: End.low), 3) == [1, 100, 2].map { .seconds($0) })
        #expect(delays(.none.jittered(.decorrelated, using: End.high), 2) == [.zero, .zero])
    }

    @Test func eachDecorrelatedDelayIsInTheRangeThatTheLastOneLeaves() {
        let (base, cap) = (Duration.milliseconds(50), Duration.seconds(20))
        for seed in 0..<1_000 as Range<UInt64> {
            let backoff = RetryBackoff.exponential(base: base).capped(at: cap)
                .jittered(.decorrelated, using: SeededGenerator(seed: seed))
            var last = base
            for delay in delays(backoff, 30) {
                #expect(delay >= base && delay <= min(last * 3, cap))
                last = delay
            }
        }
    }

    /// By tenths: each is hit as often as another.
    @Test(arguments: RetryJitter.allCases)
    func whatIsDrawnIsUniform(jitter: RetryJitter) {
        var tenths = Array(repeating: 0, count: 10)
        for seed in 0..<20_000 as Range<UInt64> {
            let backoff = RetryBackoff.fixed(.seconds(10)).jittered(jitter, using: SeededGenerator(seed: seed))
            let seconds = delays(backoff, 1)[0] / .seconds(1)
            let part =
                switch jitter {
                case .full: seconds / 10
                case .equal: (seconds - 5) / 5
                case .decorrelated: (seconds - 10) / 20
                }
            tenths[min(Int(part * 10), 9)] += 1
        }
        #expect(tenths.allSatisfy { (1_800...2_200).contains($0) }, "\(tenths)")
    }

    @Test(arguments: RetryJitter.allCases)
    func jitterComesAfterTheCapInWhateverOrder(jitter: RetryJitter) {
        let (plain, cap, seeded) = (
            RetryBackoff.exponential(base: .seconds(1)), Duration.seconds(3), SeededGenerator(seed: 3)
        )
        let one = delays(plain.capped(at: cap).jittered(jitter, using: seeded), 20)
        let other = delays(plain.jittered(jitter, using: seeded).capped(at: cap), 20)
        #expect(one == other)
        #expect(one.allSatisfy { $0 <= cap })
        // Not all at the cap: it was applied before.
        #expect(Set(one.suffix(10)).count == 10)
    }

    @Test func ofSeveralJittersTheLastHolds() {
        let backoff = RetryBackoff.fixed(.seconds(4)).jittered(.full, using: End.low).jittered(.equal, using: End.low)
        #expect(delays(backoff, 1) == [.seconds(2)])
    }

    @Test func eachScheduleDrawsFromItsOwnCopyOfTheGenerator() {
        let backoff = RetryBackoff.fixed(.seconds(1)).jittered(.full, using: SeededGenerator(seed: 9))
        let first = delays(backoff, 10)
        #expect(delays(backoff, 10) == first)
        #expect(Set(first).count == 10)
        let other = RetryBackoff.fixed(.seconds(1)).jittered(.full, using: SeededGenerator(seed: 10))
        #expect(delays(other, 10) != first)
    }

    @Test func withoutAGeneratorTheSystemsIsUsed() {
        let backoff = RetryBackoff.fixed(.seconds(1)).jittered(.full)
        #expect(Set(delays(backoff, 10) + delays(backoff, 10)).count > 10)
    }

    // MARK: Hints

    private static let hints: [Duration] = [
        .seconds(-100), .zero, .milliseconds(1), .seconds(1), .seconds(10), .seconds(60), .seconds(61), .seconds(100),
        .seconds(Int64.max),
    ]

    @Test(arguments: [Duration.zero, .milliseconds(1), .seconds(1), .seconds(10), .seconds(100), .longestWait])
    func aHintLiftsTheDelayAndEndsTheRetriesBeyondAMinute(_ own: Duration) {
        for hint in Self.hints {
            let expected = hint <= own ? own : hint <= .seconds(60) ? hint : nil
            #expect(delays(.fixed(own), 1, hint: hint) == [expected].compactMap(\.self), "hint \(hint)")
        }
        #expect(delays(.fixed(own), 1) == [own])
    }

    @Test(arguments: [Duration.zero, .seconds(1), .seconds(20), .seconds(3_600)])
    func aHintEndsTheRetriesBeyondTheCap(_ cap: Duration) {
        for hint in Self.hints {
            let expected = hint <= .zero ? .zero : hint <= cap ? hint : nil
            #expect(delays(.none.capped(at: cap), 1, hint: hint) == [expected].compactMap(\.self), "hint \(hint)")
        }
    }

    @Test func aHintIsNotJittered() {
        let backoff = RetryBackoff.fixed(.seconds(10)).jittered(.full, using: End.low)
        #expect(delays(backoff, 1, hint: .seconds(6)) == [.seconds(6)])
    }

    @Test func aHintIsForgottenByTheNextDecorrelatedDelay() {
        let backoff = RetryBackoff.fixed(.seconds(1)).jittered(.decorrelated, using: End.high)
        #expect(delays(backoff, 3, hint: .seconds(20)) == [20, 20, 27].map { .seconds($0) })
    }

    // MARK: The absurd

    @Test func nothingIsLongerThanACenturyAndNothingTraps() {
        let long: [Duration] = [.zero, .nanoseconds(1), .seconds(1), .longestWait, .seconds(Int64.max)]
        var shapes = long.map { RetryBackoff.fixed($0) } + long.map { delay in RetryBackoff.custom { _, _ in delay } }
        for base in long {
            for factor in [1, 1.000_1, 2, 1e300, .greatestFiniteMagnitude] {
                shapes.append(.exponential(base: base, factor: factor))
            }
        }
        for shape in shapes {
            for cap in [nil, .zero, .seconds(1), .seconds(Int64.max)] as [Duration?] {
                let capped = cap.map { shape.capped(at: $0) } ?? shape
                let jittered = RetryJitter.allCases.flatMap { jitter in
                    [End.low, End.high].map { capped.jittered(jitter, using: $0) }
                }
                for backoff in jittered + [capped] {
                    var schedule = RetrySchedule(backoff)
                    for attempt in Array(1...70) + [1_000, .max - 1] {
                        for hint in [nil, .seconds(Int64.max)] as [Duration?] {
                            let delay = schedule.delay(afterAttempt: attempt, error: Failure(), hint: hint)
                            guard let delay, delay < .zero || delay > .longestWait else { continue }
                            Issue.record("\(backoff) after attempt \(attempt): \(delay)")
                        }
                    }
                }
            }
        }
    }

    @Test func seventyAttemptsFromNothingAreNothing() {
        #expect(delays(.exponential(base: .zero), 70) == Array(repeating: .zero, count: 70))
        #expect(delays(.exponential(base: .zero, factor: 1e300), 70).allSatisfy { $0 == .zero })
        #expect(delays(.exponential(base: .seconds(1)), 70).last == .longestWait)
    }
}
