extension SilenceLimit {
    /// Runs an operation that its caller lends with this limit, as `run(_:)` does, but in the caller's isolation.
    package nonisolated(nonsending) func run<Value>(
        lent operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        // The operation is used only while its caller waits, and only here: see `borrowing(_:)`.
        try await borrowing(LentResultRun<SilenceLimit, Value>(run: Self.run)).run(self, operation).get()
    }

    private nonisolated(nonsending) static func run<Value>(
        _ limit: SilenceLimit,
        _ operation: nonisolated(nonsending) @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        await withoutActuallyEscaping(operation) { operation in
            let (reading, isolation) = (Reading(operation), #isolation)
            do {
                try await limit.run { try await reading.run(isolation: isolation) }
            } catch {
                return .failure(error)
            }
            guard let value = reading.value else { preconditionFailure("The operation has returned a value.") }
            return .success(value)
        }
    }

    /// A lent operation and its value. Sendable because one child task writes the value, which is read when that task has ended.
    private final class Reading<Value>: @unchecked Sendable {
        private let operation: nonisolated(nonsending) @Sendable () async throws -> Value
        private(set) var value: Value?

        init(_ operation: nonisolated(nonsending) @escaping @Sendable () async throws -> Value) {
            self.operation = operation
        }

        func run(isolation: isolated (any Actor)?) async throws { value = try await operation() }
    }
}
