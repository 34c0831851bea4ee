#if SUBPROCESSES
import TaskControlResilience
import TestSupport
import Testing

/// Mistakes of a program's author, each with a message that says what to do.
@Suite(.timeLimit(.minutes(15)))
struct CircuitBreakerTrapTests {
    /// As bits, since what is captured is sent as text, which has no infinity.
    @Test(.oneProcessAtATime, arguments: [0, -1, 1.001, Double.nan, .infinity].map(\.bitPattern))
    func aThresholdThatIsNoShare(bits: UInt64) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [bits] in
            _ = CircuitBreaker(failureThreshold: Double(bitPattern: bits))
        }
        #expect(text(result).contains("CircuitBreaker(failureThreshold: \(Double(bitPattern: bits)))"))
        #expect(text(result).contains("Give more than 0, and at most 1."))
    }

    @Test(.oneProcessAtATime) func noWindow() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CircuitBreaker(window: .zero)
        }
        #expect(
            text(result).contains("CircuitBreaker(window: 0.0 seconds): no outcome would count. Give more than zero.")
        )
    }

    @Test(.oneProcessAtATime) func noMinimumOfCalls() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CircuitBreaker(minimumCalls: 0)
        }
        #expect(
            text(result).contains(
                "CircuitBreaker(minimumCalls: 0): without calls there is no share of failures. Give 1 or more."
            )
        )
    }

    @Test(.oneProcessAtATime) func neverOpen() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CircuitBreaker(openDuration: .zero)
        }
        #expect(text(result).contains("CircuitBreaker(openDuration: 0.0 seconds)"))
    }

    @Test(.oneProcessAtATime) func noProbes() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CircuitBreaker(probes: 0)
        }
        #expect(text(result).contains("CircuitBreaker(probes: 0): the breaker would never close. Give 1 or more."))
    }

    @Test(.oneProcessAtATime) func everyCallSlow() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CircuitBreaker(slowCall: .zero)
        }
        #expect(text(result).contains("CircuitBreaker(slowCall: 0.0 seconds): every call would be slow."))
    }
}
#endif
