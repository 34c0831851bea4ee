/// The calls that wait in the caller's task, which are the same for every queue whose turns last.
extension _TurnStorage {
    /// Waits for a turn, runs `body` in the caller's task, and ends the turn.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) func run<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        try checkReentrancy()
        var mustWait = false
        let turn = try enterCaller(mustWait: &mustWait)
        if mustWait { try await waitInCaller(turn) }
        do {
            let value = try await turn.held.holding(body)
            turn.finish(.completed)
            return value
        } catch {
            turn.finish(.failed(error))
            throw error
        }
    }

    @usableFromInline
    func checkReentrancy() throws {
        if isHeldByCaller { throw QueueReentrancyError(queueName: source.name) }
    }
}
