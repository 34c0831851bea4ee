import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct PollProgressTests {
    private enum Call: CaseIterable { case value, error }

    private static func progress(_ backoff: RetryBackoff) -> PollProgress<Int> { PollProgress(backoff) }

    /// All sequences of values and errors: the numbers, the last value, the last error, and the delay are those of a model that keeps all calls.
    @Test func theTimeoutHasTheLastValueAndTheErrorOfTheLastCall() {
        let depth = fullSize(12, inDebug: 9)
        var sequences: [[Call]] = [[]]
        for _ in 0..<depth {
            sequences = sequences.flatMap { sequence in Call.allCases.map { sequence + [$0] } }
            for sequence in sequences {
                var progress = Self.progress(.exponential(base: .seconds(1)).capped(at: .seconds(20)))
                var lastDelay: Duration?
                for (index, call) in sequence.enumerated() {
                    let step: PollProgress<Int>.Step
                    switch call {
                    case .value:
                        progress.record(index)
                        step = progress.afterValue(remaining: nil)
                    case .error:
                        progress.record(MarkedError())
                        step = progress.afterError(MarkedError(), hint: nil, remaining: nil)
                    }
                    if case .wait(let delay) = step { lastDelay = delay } else { lastDelay = nil }
                }
                let error = progress.timeout
                #expect(error.calls == sequence.count)
                #expect(error.lastValue == sequence.lastIndex(of: .value))
                #expect((error.lastError != nil) == (sequence.last == .error))
                #expect(lastDelay == .seconds(min(20, 1 << (sequence.count - 1))))
            }
        }
    }

    @Test func aDelayThatEndsAtTheLimitOrLaterEndsThePollAtOnce() {
        for (remaining, waits) in [(nil, true), (1_001, true), (1_000, false), (999, false), (0, false), (-5, false)]
            as [(Int?, Bool)]
        {
            let remaining = remaining.map { Duration.milliseconds($0) }
            var progress = Self.progress(.fixed(.seconds(1)))
            progress.record(1)
            if case .wait(.seconds(1)) = progress.afterValue(remaining: remaining) {
                #expect(waits)
            } else {
                #expect(!waits)
            }
            progress.record(MarkedError())
            if case .wait(.seconds(1)) = progress.afterError(MarkedError(), hint: nil, remaining: remaining) {
                #expect(waits)
            } else {
                #expect(!waits)
            }
        }
    }

    @Test func aHintExtendsTheDelayUpToTheCap() {
        var progress = Self.progress(.fixed(.seconds(1)).capped(at: .seconds(10)))
        progress.record(MarkedError())
        guard case .wait(.seconds(10)) = progress.afterError(MarkedError(), hint: .seconds(10), remaining: nil) else {
            Issue.record("the hint is not the delay")
            return
        }
        progress.record(MarkedError())
        guard case .fail(let error) = progress.afterError(MarkedError(), hint: .seconds(11), remaining: nil) else {
            Issue.record("a hint beyond the cap does not end the poll")
            return
        }
        #expect(error is MarkedError)
    }

    @Test func aCustomBackoffSeesTheValueAndEndsThePoll() {
        var progress = Self.progress(
            .custom { call, error in
                guard let error = error as? PollTimeoutError<Int> else { return nil }
                #expect(error.calls == call)
                return error.lastValue.flatMap { $0 < 3 ? .seconds($0) : nil }
            }
        )
        for value in 1...2 {
            progress.record(value)
            guard case .wait(.seconds(value)) = progress.afterValue(remaining: nil) else {
                Issue.record("the delay is not that of the value")
                return
            }
        }
        progress.record(3)
        guard case .endInTimeout = progress.afterValue(remaining: nil) else {
            Issue.record("nil does not end the poll")
            return
        }
        progress.record(MarkedError())
        guard case .fail = progress.afterError(MarkedError(), hint: nil, remaining: nil) else {
            Issue.record("nil does not end the poll after an error")
            return
        }
    }
}
