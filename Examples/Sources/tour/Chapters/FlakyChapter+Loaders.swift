import TaskControlHTTP
import TaskControlTesting

/// Loads one item, in one way or the other.
protocol Loader: Sendable {
    func load(_ item: String, from api: API) async throws -> Answer
}

/// As people write it today, when the network is good; and with a client that tries again by itself.
struct OneTryLoader: Loader {
    func load(_ item: String, from api: API) async throws -> Answer {
        try await api.ask(item)
    }
}

/// As people write it today, when it is not.
struct LoopLoader: Loader {
    func load(_ item: String, from api: API) async throws -> Answer {
        for _ in 1..<FlakyChapter.attempts {
            if let answer = try? await api.ask(item) { return answer }
        }
        return try await api.ask(item)
    }
}

/// With `retry`: a delay that grows, shifted by chance, and longer if the server says so.
struct RetryLoader: Loader {
    private let seed: UInt64
    let budget = RetryBudget()

    init(seed: UInt64) {
        self.seed = seed
    }

    func load(_ item: String, from api: API) async throws -> Answer {
        let backoff = RetryBackoff.exponential(base: .milliseconds(50))
            .capped(at: .seconds(1))
            .jittered(.full, using: SeededGenerator(seed: item.utf8.reduce(seed) { $0 &* 31 &+ UInt64($1) }))
        return try await retry(attempts: FlakyChapter.attempts, backoff: backoff, budget: budget) {
            try await api.ask(item)
        } shouldRetry: { error in
            guard let error = error as? HTTPError else { return false }
            return error.reason == .transport || error.statusCode == 503 || error.statusCode == 429
        }
    }
}

extension RetryBudget {
    var line: String { "left of the budget: \(available) of \(capacity)" }
}
