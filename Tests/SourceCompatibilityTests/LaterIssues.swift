// The function of AsyncGuardKit that TaskControl does not have yet. Once it has it, this file goes.

func withSingleFlight<Key: Hashable & Sendable, Value: Sendable>(
    key: Key,
    operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await operation()
}
