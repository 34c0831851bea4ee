import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct AttemptStateMachineTests {
    private static let times = [0, 1, 999, 1_000, 1_001].map { Duration.milliseconds($0) }

    /// All numbers of attempts and of failures: each delay is that of the attempt before it, and the attempts end with their number.
    @Test func theAttemptsAreCountedAndEachHasItsDelay() {
        for attempts in 1...fullSize(20, inDebug: 8) {
            for failures in 1...attempts {
                let backoff = RetryBackoff.exponential(base: .seconds(1)).capped(at: .seconds(20))
                var machine = AttemptStateMachine(attempts: attempts, backoff: backoff, maxElapsed: nil)
                for number in 1..<failures {
                    #expect(machine.number == number && machine.mayRepeat)
                    let delay = machine.delay(after: MarkedError(), hint: nil)
                    #expect(delay == .seconds(min(20, 1 << (number - 1))))
                    machine.next()
                }
                #expect(machine.number == failures && machine.mayRepeat == (failures < attempts))
            }
        }
    }

    @Test func aDelayThatEndsAtTheDeadlineIsNotInTimeAndOneThatEndsAtTheLimitIs() {
        let optional = [nil] + Self.times
        for (maxElapsed, elapsed) in optional.flatMap({ limit in Self.times.map { (limit, $0) } }) {
            let machine = AttemptStateMachine(attempts: 2, backoff: .none, maxElapsed: maxElapsed)
            for (delay, remaining) in Self.times.flatMap({ delay in optional.map { (delay, $0) } }) {
                let isBeforeDeadline = remaining.map { delay < $0 } ?? true
                let isWithinLimit = maxElapsed.map { elapsed + delay <= $0 } ?? true
                #expect(
                    machine.isInTime(delay, elapsed: maxElapsed == nil ? nil : elapsed, remaining: remaining)
                        == (isBeforeDeadline && isWithinLimit)
                )
            }
        }
        let machine = AttemptStateMachine(attempts: 2, backoff: .none, maxElapsed: .seconds(Int64.max))
        #expect(machine.isInTime(.longestWait, elapsed: .longestWait, remaining: nil))
        #expect(!machine.isInTime(.zero, elapsed: .zero, remaining: .milliseconds(-5)))
    }

    @Test func aHintExtendsTheDelayUpToTheCap() {
        let backoff = RetryBackoff.fixed(.seconds(1)).capped(at: .seconds(10))
        var machine = AttemptStateMachine(attempts: 9, backoff: backoff, maxElapsed: nil)
        let delays = [nil, -1, 0, 1, 2, 10, 11].map { (hint: Int?) in
            machine.delay(after: MarkedError(), hint: hint.map { .seconds($0) })
        }
        #expect(delays == [1, 1, 1, 1, 2, 10, nil].map { (seconds: Int?) in seconds.map { .seconds($0) } })
    }

    @Test func aCustomBackoffReceivesTheNumberAndTheError() {
        let backoff = RetryBackoff.custom { number, error in
            #expect(error as? MarkedError == MarkedError("\(number)"))
            return number < 3 ? .seconds(number) : nil
        }
        var machine = AttemptStateMachine(attempts: .max, backoff: backoff, maxElapsed: nil)
        let delays = (1...3).map { number in
            if number > 1 { machine.next() }
            return machine.delay(after: MarkedError("\(number)"), hint: nil)
        }
        #expect(delays == [.seconds(1), .seconds(2), nil])
    }

    @Test func theTokensAreThoseOfTheLastRepetition() {
        var machine = AttemptStateMachine(attempts: 9, backoff: .none, maxElapsed: nil)
        #expect(machine.tokens == nil)
        for tokens in [5, 14, nil, 5] as [Int?] {
            machine.take(tokens)
            machine.next()
            #expect(machine.tokens == tokens)
        }
    }
}
