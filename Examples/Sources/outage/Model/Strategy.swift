import TaskControl
import TaskControlResilience
import TaskControlTesting

/// The reaction of a client to a failed request.
enum Strategy: CaseIterable, Sendable {
    case naive
    case backoff
    case budget
    case breaker

    var name: String {
        switch self {
        case .naive: "naive retry"
        case .backoff: "backoff and jitter"
        case .budget: "backoff, jitter and a budget"
        case .breaker: "the same and a breaker"
        }
    }

    /// Makes a call with this strategy. `seed` is that of this call's jitter: `retry` copies the generator, so calls with the same seed would have the
    /// same delays.
    nonisolated(nonsending) func call(
        seed: UInt64,
        _ shared: Protection,
        _ request: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        let backoff = RetryBackoff.exponential(base: .seconds(5))
            .capped(at: .seconds(60))
            .jittered(.full, using: SeededGenerator(seed: seed))
        switch self {
        case .naive: try await retry(attempts: .max, backoff: .fixed(.seconds(5)), operation: request)
        case .backoff: try await retry(attempts: .max, backoff: backoff, operation: request)
        case .budget: try await retry(attempts: .max, backoff: backoff, budget: shared.budget, operation: request)
        case .breaker:
            try await withPolicy(shared.breaker) {
                try await retry(attempts: .max, backoff: backoff, budget: shared.budget, operation: request)
            }
        }
    }
}

/// The parts that all clients share, as the users of one application server do: each strategy uses some of them.
struct Protection: Sendable {
    let budget = RetryBudget()
    let breaker = CircuitBreaker(name: "breaker")
}

/// The service has refused a request.
struct Unavailable: Error {}
