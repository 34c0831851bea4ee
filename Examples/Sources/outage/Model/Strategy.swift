import TaskControl
import TaskControlTesting

/// What a client does when its request fails.
enum Strategy: CaseIterable, Sendable {
    case naive
    case backoff
    case budget

    var name: String {
        switch self {
        case .naive: "naive retry"
        case .backoff: "backoff and jitter"
        case .budget: "backoff, jitter and a budget"
        }
    }

    /// - Parameters:
    ///   - seed: Of this call's jitter. `retry` copies the generator, so calls with one seed would wait alike.
    ///   - budget: Shared by all clients.
    nonisolated(nonsending) func call(
        seed: UInt64,
        budget: RetryBudget,
        _ request: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        let backoff = RetryBackoff.exponential(base: .seconds(5))
            .capped(at: .seconds(60))
            .jittered(.full, using: SeededGenerator(seed: seed))
        switch self {
        case .naive: try await retry(attempts: .max, backoff: .fixed(.seconds(5)), operation: request)
        case .backoff: try await retry(attempts: .max, backoff: backoff, operation: request)
        case .budget: try await retry(attempts: .max, backoff: backoff, budget: budget, operation: request)
        }
    }
}
