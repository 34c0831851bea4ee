// The two functions of AsyncGuardKit that TaskControl does not have yet. Once it has them, this file goes.

func withSingleFlight<Key: Hashable & Sendable, Value: Sendable>(
    key: Key,
    operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await operation()
}

struct RetryBackoff: Sendable {
    static func exponential(base: Duration) -> Self { Self() }
}

/// Without the delays.
func retry<Value: Sendable>(
    attempts: Int,
    backoff: RetryBackoff,
    operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    for _ in 1..<attempts {
        do {
            return try await operation()
        } catch {
            try Task.checkCancellation()
        }
    }
    return try await operation()
}
