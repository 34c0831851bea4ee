internal import TaskControl

extension ResiliencePolicy {
    /// Makes one attempt: enters its parts, runs it, and leaves the parts.
    ///
    /// - Parameters:
    ///   - outcome: Returns the outcome of the attempt for the parts. Receives the error of the attempt; `nil` if it has
    ///     none.
    ///   - operation: Runs when the attempt has entered its parts.
    @usableFromInline
    package nonisolated(nonsending) func _attempt<Value>(
        outcome: ((any Error)?) -> PolicyOutcome = { $0.map(PolicyOutcome.init(of:)) ?? .healthy },
        _ operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        guard parts.hasAttemptParts else { return try await operation() }
        var (passes, time) = (AttemptOrder.noPasses, PolicyTime())
        do {
            try Task.checkCancellation()
            if try !parts.attempts.enter(&passes, at: &time) { try await parts.attempts.waitToEnter(&passes) }
        } catch {
            time = PolicyTime()
            parts.attempts.leave(&passes, with: .unknown, at: &time)
            throw error
        }
        do {
            let value = try await operation()
            time = PolicyTime()
            parts.attempts.leave(&passes, with: outcome(nil), at: &time)
            return value
        } catch {
            let outcome = outcome(error)
            time = PolicyTime()
            parts.attempts.leave(&passes, with: outcome, at: &time)
            throw error
        }
    }
}
