import Foundation
import TaskControlHTTP
import TaskControlTesting

/// A way to load an item.
protocol Loader: Sendable {
    func load(_ item: String, from api: API) async throws -> Answer
}

/// A loader as people write it today, when the network is good; and a loader with a client that retries by itself.
struct OneTryLoader: Loader {
    func load(_ item: String, from api: API) async throws -> Answer { try await api.ask(item) }
}

/// A loader as people write it today, when the network is unreliable.
struct LoopLoader: Loader {
    func load(_ item: String, from api: API) async throws -> Answer {
        for _ in 1..<FlakyChapter.attempts {
            if let answer = try? await api.ask(item) { return answer }
        }
        return try await api.ask(item)
    }
}

/// A loader with `retry`: a delay that grows, is randomized, and is longer if the server requests it.
struct RetryLoader: Loader {
    private let seed: UInt64
    private let budget = RetryBudget()

    init(seed: UInt64) { self.seed = seed }

    func load(_ item: String, from api: API) async throws -> Answer {
        let backoff = RetryBackoff.exponential(base: .milliseconds(50))
            .capped(at: .seconds(1))
            .jittered(.full, using: SeededGenerator(seed: item.utf8.reduce(seed) { $0 &* 31 &+ UInt64($1) }))
        return try await retry(attempts: FlakyChapter.attempts, backoff: backoff, budget: budget) {
            try await api.ask(item)
        } shouldRetry: { error in
            guard let error = error as? EndpointError else { return false }
            return error.reason == .transport || error.statusCode == 503 || error.statusCode == 429
        }
    }
}
