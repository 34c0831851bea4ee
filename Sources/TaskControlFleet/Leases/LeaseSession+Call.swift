internal import TaskControl

extension LeaseSession {
    /// The result of one entry in the line: the value of the body, or a result that another process has published.
    private enum Outcome<Value> {
        case value(Value)
        /// The entry with the result that another process has published. The body was not called.
        case adopted(StoreEntry)
    }

    /// Enters the line (``FleetLine``), waits for the caller's turn, runs a body while the lease is held, and leaves the line. Enters the line again
    /// if the lease is lost before the body begins.
    ///
    /// - Parameters:
    ///   - publish: Returns the entry to publish for the other callers in the line, from the result of the body; `nil` to publish nothing. Not called
    ///     if the lease was lost or the caller is cancelled.
    ///   - adopt: Returns the value of an entry with the result that another process has published, or throws its error; `nil` if the entry cannot be
    ///     read: then the caller enters the line again, ignores further results, and runs the body when it is its turn.
    ///   - body: Runs in the caller's isolation while the lease is held. The body is cancelled when the lease is lost.
    /// - Returns: The value of the body, or the value that another process has published.
    /// - Throws: The errors of ``withLease(_:in:timeToLive:holder:clock:body:)``; `CancellationError` also if the caller is asked to stop (``stop``)
    ///   while it waits.
    nonisolated(nonsending) func perform<Value>(
        publish: (Result<Value, any Error>) -> Publication? = { _ in nil },
        adopt: (StoreEntry) throws -> Value? = { _ in nil },
        body: nonisolated(nonsending) (Lease) async throws -> Value
    ) async throws -> Value {
        var session = self
        do {
            while true {
                var line = session.line
                var value: Value?
                switch try await session.attempt(publish, body) {
                case .value(let own)?: value = own
                case .adopted(let entry)?:
                    value = try adopt(entry)
                    if value == nil { events?.emit(.resultUnreadable, isInside: false) }
                    line = line.withoutResult
                case nil: break
                }
                if let value {
                    events?.end(.completed, .completed)
                    return value
                }
                session = LeaseSession(after: session, in: line)
            }
        } catch {
            let isCancelled = error is CancellationError && (Task.isCancelled || session.read { $0.isWithdrawn })
            events?.end(isCancelled ? .left : .failed, isCancelled ? .cancelled : .failed, error: error)
            throw error
        }
    }

    /// Does what ``perform(publish:adopt:body:)`` describes, with the given arguments of that function, but enters the line
    /// (``FleetLine``) only once.
    ///
    /// - Returns: The outcome; `nil` if the lease was lost before the body began: then the line must be entered again.
    private nonisolated(nonsending) func attempt<Value>(
        _ publish: (Result<Value, any Error>) -> Publication?,
        _ body: nonisolated(nonsending) (Lease) async throws -> Value
    ) async throws -> Outcome<Value>? {
        try Task.checkCancellation()
        // The task that renews the lease outlives the caller's deadline and cancellation: the body may need time to end.
        let renewals = await withoutDeadline { spawn { await self.run() } }
        let turn = await turn()
        var result: Result<Value, any Error>?
        var hasBegun = false
        if case .holding(let token) = turn, !Task.isCancelled {
            events?.emit(.acquired, .entered(.running), detail: "token \(token)")
            result = await withCancellation(because: .leaseLost(name: line.name), when: loss) {
                // The wait for the caller's actor may have taken longer than the lease.
                let lease = Lease(session: self, token: token)
                guard lease.isValid else { throw CancellationError() }
                hasBegun = true
                return try await body(lease)
            }
        }
        let loss = end()
        let publication = loss == nil && !Task.isCancelled ? result.flatMap(publish) : nil
        renewals.cancel()
        await renewals.value
        await withoutDeadline { spawn { await self.leave(publication) } }.value
        if loss != nil, !hasBegun, !Task.isCancelled { return nil }
        return try decide(turn, result, loss)
    }

    private func decide<Value>(
        _ turn: Turn,
        _ result: Result<Value, any Error>?,
        _ loss: LeaseLostError.Reason?
    ) throws -> Outcome<Value> {
        if let loss {
            var error: (any Error)?
            if case .failure(let failure)? = result, !(failure is CancellationError) { error = failure }
            // A cancelled caller receives CancellationError, whatever was thrown.
            try Task.checkCancellation()
            throw lossError(loss, underlyingError: error)
        }
        switch (turn, result) {
        case (_, .success(let value)?): return .value(value)
        case (.adopted(let entry), _): return .adopted(entry)
        case (_, .failure(let error)?), (.failed(let error), _):
            try Task.checkCancellation()
            throw error
        case (.holding, nil), (.left, nil): throw CancellationError()
        }
    }
}
