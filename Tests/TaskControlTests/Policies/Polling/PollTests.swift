import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct PollTests {
    private final class NotSendable {
        var number = 0
    }

    private actor Job {
        private var calls = 0
        private let journal = NotSendable()

        /// The closures touch the actor's state without `await`.
        func finish() async throws -> Int {
            try await poll(every: .none) {
                assertIsolated()
                calls += 1
                journal.number += 10
                return calls
            } until: { calls in
                assertIsolated()
                journal.number += 1
                return calls == 3
            } + journal.number
        }
    }

    @Test func theClosuresRunInTheCallersIsolation() async throws {
        #expect(try await Job().finish() == 36)
    }

    @Test func theFirstValueThatSatisfiesTheConditionIsReturnedAfterGrowingDelays() async throws {
        let clock = TestClock(advancesAutomatically: true)
        var times: [Duration] = []
        let value = try await poll(every: .exponential(base: .seconds(1)).capped(at: .seconds(5)), clock: clock) {
            times.append(clock.now.offset)
            return times.count
        } until: {
            $0 == 6
        }
        #expect(value == 6)
        #expect(times == [0, 1, 3, 7, 12, 17].map { .seconds($0) })
    }

    @Test func theDefaultDelaysGrowFromOneSecondToFifteen() async throws {
        let clock = TestClock(advancesAutomatically: true)
        var times: [Duration] = []
        _ = try await poll(clock: clock) {
            times.append(clock.now.offset)
            return times.count
        } until: {
            $0 == 12
        }
        var longest = Duration.seconds(1)
        for (time, next) in zip(times, times.dropFirst()) {
            #expect(next - time >= longest / 2 && next - time <= longest)
            longest = min(longest * 1.5, .seconds(15))
        }
        #expect(longest == .seconds(15))
    }

    @Test func aCallThatFailsIsFollowedByAnother() async throws {
        let clock = TestClock(advancesAutomatically: true)
        var calls = 0
        let value = try await poll(every: .fixed(.seconds(2)), clock: clock) {
            calls += 1
            if calls < 3 { throw MarkedError() }
            return calls
        } until: { _ in
            true
        }
        #expect(value == 3)
        #expect(clock.now.offset == .seconds(4))
    }

    @Test func anErrorThatIsNotWorthAnotherCallEndsThePoll() async throws {
        var calls = 0
        await #expect(throws: MarkedError("refused")) {
            try await poll(every: .none, shouldRetry: { $0 as? MarkedError != MarkedError("refused") }) {
                calls += 1
                throw MarkedError(calls < 3 ? "busy" : "refused")
            } until: { (_: Int) in
                true
            }
        }
        #expect(calls == 3)
        await #expect(throws: CancellationError.self) {
            try await poll(every: .none) {
                throw CancellationError()
            } until: { (_: Int) in
                true
            }
        }
    }

    @Test func anErrorOfTheConditionEndsThePoll() async {
        var calls = 0
        await #expect(throws: MarkedError.self) {
            try await poll(every: .none) {
                calls += 1
                return calls
            } until: {
                if $0 == 2 { throw MarkedError() }
                return false
            }
        }
        #expect(calls == 2)
    }

    @Test func withoutTimeNoCallIsMade() async {
        for limit in [Duration.zero, .seconds(-1), .seconds(Int64.min)] {
            let error = await #expect(throws: PollTimeoutError.self) {
                try await poll(within: limit) {
                    Issue.record("a call was made")
                    return 1
                } until: { _ in
                    true
                }
            }
            #expect(error?.calls == 0 && error?.lastValue == nil && error?.lastError == nil)
        }
    }

    @Test func aCancelledCallerMakesNoCall() async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await poll(within: .seconds(60)) {
                Issue.record("a call was made")
                return 1
            } until: { _ in
                true
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aCancellationDuringACallWinsOverTheErrorAndOverAValueThatDoesNotSatisfy() async {
        for fails in [false, true] {
            let task = Task {
                try await poll(every: .none) {
                    withUnsafeCurrentTask { $0?.cancel() }
                    if fails { throw MarkedError() }
                    return 1
                } until: {
                    $0 == 2
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func aValueThatSatisfiesIsReturnedAlsoToACancelledCaller() async throws {
        let task = Task {
            try await poll(every: .none, within: .seconds(60)) {
                withUnsafeCurrentTask { $0?.cancel() }
                return 1
            } until: {
                $0 == 1
            }
        }
        #expect(try await task.value == 1)
    }

    @Test func errorsOfLimitsInsideTheOperationAreThoseOfACall() async throws {
        let clock = TestClock(advancesAutomatically: true)
        var calls = 0
        let value = try await poll(every: .fixed(.seconds(1)), clock: clock) {
            calls += 1
            if calls == 1 { throw TimeoutError(duration: .seconds(1)) }
            if calls == 2 { throw DeadlineExceededError() }
            return calls
        } until: { _ in
            true
        }
        #expect(value == 3)
        await #expect(throws: DeadlineExceededError.self) {
            try await poll(every: .none, within: .seconds(60), shouldRetry: { _ in false }) {
                throw DeadlineExceededError()
            } until: { (_: Int) in
                true
            }
        }
    }

    @Test func aHintOfAnErrorExtendsTheDelay() async throws {
        struct Busy: RetryAdvising {
            let retryAfter: Duration?
        }
        let clock = TestClock(advancesAutomatically: true)
        var calls = 0
        _ = try await poll(every: .fixed(.seconds(1)), clock: clock) {
            calls += 1
            if calls == 1 { throw Busy(retryAfter: .seconds(30)) }
            return calls
        } until: { _ in
            true
        }
        #expect(clock.now.offset == .seconds(30))
        await #expect(throws: Busy.self) {
            try await poll(every: .fixed(.seconds(1)), clock: clock) {
                throw Busy(retryAfter: .seconds(61))
            } until: { (_: Int) in
                true
            }
        }
    }

    /// All sequences of values and errors, after which the delay would end after the limit.
    @Test func theTimeoutHasTheLastValueAndTheErrorOfTheLastCall() async {
        var sequences: [[Bool]] = [[]]
        for length in 1...fullSize(9, inDebug: 5) {
            sequences = sequences.flatMap { [$0 + [true], $0 + [false]] }
            for returns in sequences {
                let backoff = RetryBackoff.custom { call, _ in call < length ? .zero : .seconds(7_200) }
                var calls = 0
                let error = await #expect(throws: PollTimeoutError.self) {
                    try await poll(every: backoff, within: .seconds(3_600)) {
                        calls += 1
                        guard returns[calls - 1] else { throw MarkedError("\(calls)") }
                        return calls
                    } until: { _ in
                        false
                    }
                }
                #expect(calls == length && error?.calls == length)
                #expect(error?.lastValue as? Int == returns.lastIndex(of: true).map { $0 + 1 })
                #expect(error?.lastError as? MarkedError == (returns[length - 1] ? nil : MarkedError("\(length)")))
            }
        }
    }

    @Test func aCustomBackoffReceivesTheValueAndEndsThePoll() async {
        let clock = TestClock(advancesAutomatically: true)
        let backoff = RetryBackoff.custom { call, error in
            guard let error = error as? PollTimeoutError else { return nil }
            #expect(error.calls == call && error.lastError == nil)
            return (error.lastValue as? Int).flatMap { $0 < 3 ? .seconds($0) : nil }
        }
        var calls = 0
        let error = await #expect(throws: PollTimeoutError.self) {
            try await poll(every: backoff, clock: clock) {
                calls += 1
                return calls
            } until: { _ in
                false
            }
        }
        #expect(error?.calls == 3 && error?.lastValue as? Int == 3 && clock.now.offset == .seconds(3))
        await #expect(throws: MarkedError.self) {
            try await poll(every: backoff, clock: clock) {
                throw MarkedError()
            } until: { (_: Int) in
                true
            }
        }
    }

    @Test(arguments: [(-1, 1), (0, 1), (1, 1), (4, 4)])
    func aPollMakesAtMostItsNumberOfCalls(_ most: Int, _ expected: Int) async throws {
        let clock = TestClock(advancesAutomatically: true)
        var calls = 0
        let error = await #expect(throws: PollTimeoutError.self) {
            try await poll(every: .fixed(.seconds(1)), calls: most, clock: clock) {
                calls += 1
                return calls
            } until: { _ in
                false
            }
        }
        // No delay follows the last call.
        #expect(error?.calls == expected && calls == expected && clock.now.offset == .seconds(expected - 1))
        await #expect(throws: MarkedError.self) {
            try await poll(every: .none, calls: most, clock: clock) {
                throw MarkedError()
            } until: { (_: Int) in
                true
            }
        }
        let value = try await poll(every: .none, calls: most, clock: clock) {
            7
        } until: {
            $0 == 7
        }
        #expect(value == 7)
    }

    /// An error of the operation that looks like that of the poll is an error of a call.
    @Test func anErrorOfAnotherPollIsThatOfACall() async throws {
        var calls = 0
        let value = try await poll(every: .none) {
            calls += 1
            if calls < 3 { throw PollTimeoutError(calls: 7, lastValue: 7) }
            return calls
        } until: { _ in
            true
        }
        #expect(value == 3)
        let error = await #expect(throws: PollTimeoutError.self) {
            try await poll(every: .none, shouldRetry: { _ in false }) {
                throw PollTimeoutError(calls: 7, lastValue: 7)
            } until: { (_: Int) in
                true
            }
        }
        #expect(error?.calls == 7)
    }

    @Test func theErrorSaysHowManyCallsThereWereAndNotTheValue() {
        #expect(
            "\(PollTimeoutError(calls: 1, lastValue: "secret"))" == "the condition did not hold in time, after 1 call"
        )
        #expect(
            "\(PollTimeoutError(calls: 2, lastError: DeadlineExceededError()))"
                == "the condition did not hold in time, after 2 calls; the last call failed: the deadline has passed"
        )
    }

    @Test func aPollEmitsEventsFromItsFirstUnsuccessfulCallOn() async throws {
        let quiet = try await EventLog.events {
            _ = try await poll {
                1
            } until: { _ in
                true
            }
        }
        #expect(quiet.isEmpty)
        let events = try await EventLog.events {
            var calls = 0
            _ = try await poll(every: .fixed(.seconds(1)), clock: TestClock(advancesAutomatically: true)) {
                calls += 1
                if calls == 2 { throw MarkedError() }
                return calls
            } until: {
                $0 == 3
            }
        }
        #expect(events.map(\.kind) == [.unsatisfied, .waiting, .retrying, .failed, .waiting, .retrying, .succeeded])
        #expect(events.map(\.attempt) == [1, 1, 2, 2, 2, 3, 3])
        #expect(events.allSatisfy { $0.primitive == .poll })
        #expect(events.unpaired.isEmpty)
        let failed = await EventLog.events {
            _ = try? await poll(every: .custom { _, _ in nil }) {
                "secret"
            } until: { _ in
                false
            }
        }
        #expect(failed.map(\.kind) == [.unsatisfied, .timedOut])
        #expect(!failed.lines.joined().contains("secret"))
        #expect(failed.unpaired.isEmpty)
    }
}
