#if SUBPROCESSES
import TaskControl
import TestSupport
import Testing

/// Mistakes of a program's author, each with a message that says what to do.
@Suite(.timeLimit(.minutes(15)))
struct RetryTrapTests {
    @Test(.oneProcessAtATime) func noAttempts() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await retry(attempts: 0) {}
        }
        #expect(text(result).contains("retry(attempts: 0): the operation would never run. Allow 1 or more."))
    }

    @Test(.oneProcessAtATime) func aNegativeNumberOfAttemptsInACallerThatIsCancelled() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            withUnsafeCurrentTask { $0?.cancel() }
            try await retry(attempts: -1) { _ in
            } shouldRetry: { _ in
                true
            }
        }
        #expect(text(result).contains("retry(attempts: -1)"))
    }

    @Test(.oneProcessAtATime, arguments: [0, 0.999, -2])
    func aFactorThatDoesNotGrow(factor: Double) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [factor] in
            _ = RetryBackoff.exponential(base: .seconds(1), factor: factor)
        }
        #expect(text(result).contains("RetryBackoff.exponential(factor: \(factor))"))
        #expect(text(result).contains("Give a finite factor of 1 or more."))
    }

    /// As bits, since what is captured is sent as text, which has no infinity.
    @Test(.oneProcessAtATime, arguments: [Double.infinity.bitPattern, Double.nan.bitPattern])
    func aFactorThatIsNoNumber(bits: UInt64) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [bits] in
            _ = RetryBackoff.exponential(base: .seconds(1), factor: Double(bitPattern: bits))
        }
        #expect(text(result).contains("RetryBackoff.exponential(factor: \(Double(bitPattern: bits)))"))
    }

    @Test(.oneProcessAtATime) func aBudgetInDebt() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryBudget(capacity: -1)
        }
        #expect(text(result).contains("RetryBudget(capacity: -1)"))
    }

    @Test(.oneProcessAtATime) func aRetryThatCostsNothing() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryBudget(cost: 0)
        }
        #expect(text(result).contains("RetryBudget(cost: 0)"))
    }

    @Test(.oneProcessAtATime) func aThrottledRetryThatCostsNothing() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryBudget(throttledCost: 0)
        }
        #expect(text(result).contains("RetryBudget(throttledCost: 0)"))
    }
}
#endif
