/// The expected replies of a ``PendingReplies``. Calls a ``ReplyStateMachine`` under a lock, and carries out its decisions
/// after unlocking.
///
/// The registrations retain this table, and not the ``PendingReplies``, whose end fails the requests that still wait.
@usableFromInline
final class _ReplyTable: Sendable {
    private struct Contents {
        var machine = ReplyStateMachine<_Promise>()
        /// The error of the connection, after the machine was closed.
        var failure: (any Error)?
    }

    private let state = Locked(Contents())
    let source: EventSource

    init(name: String?) {
        source = EventSource(.pendingReplies, name: name)
        source.emit(.created)
    }

    var count: Int { state.withLock { $0.machine.count } }

    /// Registers a key. An earlier registration of the same key ends with ``CancellationCause/superseded(key:)``.
    ///
    /// - Parameters:
    ///   - key: The ID of the request.
    ///   - promise: Receives the reply.
    /// - Returns: The registration, which ends when it is released.
    /// - Throws: The error with which the table was closed.
    @usableFromInline
    func expect(_ key: _ErasedKey, _ promise: _Promise) throws -> _ReplyRegistration {
        let key = key.described()
        let (answer, failure) = state.withLock { ($0.machine.expect(key, promise), $0.failure) }
        guard let answer else { throw failure! }
        if let superseded = answer.superseded {
            superseded.payload.fail(CancellationCause.superseded(key: superseded.key.text))
        }
        return _ReplyRegistration(self, answer.id, text: Diagnostics.whileObserved(key.text) ?? nil)
    }

    /// Removes and returns the promise of a key. Emits an event if the key is not registered.
    ///
    /// - Returns: The promise; `nil` if the key is not registered.
    @usableFromInline
    func take(_ key: _ErasedKey) -> _Promise? {
        let entry = state.withLock { $0.machine.reply(to: key) }
        if entry == nil { source.emit(.unexpectedReply, key: key.described().text) }
        return entry?.payload
    }

    fileprivate func leave(_ id: Ticket) {
        let entry = state.withLock { $0.machine.leave(id) }
        withExtendedLifetime(entry) {}
    }

    /// Fails all expected replies, and refuses later ones. Has no effect if the table was closed before.
    func close(_ error: any Error) {
        let (closed, moment) = state.withLock { contents in
            let closed = contents.machine.close()
            if closed != nil { contents.failure = error }
            return (closed, Diagnostics.moment)
        }
        guard let closed else { return }
        for entry in closed { entry.payload.fail(error) }
        source.emit(.closed, error: error, count: closed.count, at: moment)
    }
}

/// The registration of the ID of one request. The ID is removed when this object is deallocated, unless the reply has come.
@usableFromInline
final class _ReplyRegistration: Sendable {
    private let table: _ReplyTable
    private let id: Ticket
    /// The text of the ID in events; `nil` if no observer was registered when the ID was.
    private let text: String?

    init(_ table: _ReplyTable, _ id: Ticket, text: String?) {
        (self.table, self.id, self.text) = (table, id, text)
    }

    deinit { table.leave(id) }

    /// Waits for the reply. The ID stays registered meanwhile.
    @usableFromInline
    nonisolated(nonsending) func wait(for promise: _Promise) async throws {
        defer { withExtendedLifetime(self) {} }
        try await promise.wait(table.source, text)
    }
}
