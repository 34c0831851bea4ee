internal import TaskControl

/// The calls of a client that run: a lock around the ``CallTableStateMachine``.
///
/// A call belongs to the task of its caller, which the client must not cancel. So a call registers what ends its current
/// wait: the exchange of its transport, or a child task in which it waits.
final class CallTable: Sendable {
    typealias Canceller = @Sendable (CancellationCause) -> Void
    typealias Machine = CallTableStateMachine<Canceller>

    fileprivate struct Books {
        var machine = Machine()
        /// The names of calls that a shutdown has cancelled at the end of its grace period, until it has returned.
        var cutOff: [Machine.ID: String] = [:]
    }

    fileprivate let books = Locked(Books())
    private let source: EventSource

    init(_ source: EventSource) { self.source = source }

    var liveCount: Int { books.withLock(\.machine.liveCount) }

    /// Whether the present calls make no further attempt.
    var hasEndedAttempts: Bool { books.withLock(\.machine.hasEndedAttempts) }

    /// Adds a call.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled; the cause if the client refuses calls.
    @inline(never)
    func enter() throws -> CallEntry {
        try Task.checkCancellation()
        if let id = books.withLock({ $0.machine.enter() }) { return CallEntry(table: self, id: id) }
        source.emit(.refused, isInside: true)
        throw CancellationCause.shutdown(name: source.name)
    }

    fileprivate func attach(_ canceller: @escaping Canceller, to id: Machine.ID) {
        if let (cancel, cause) = books.withLock({ $0.machine.attach(canceller, to: id) }) { cancel(cause) }
    }

    fileprivate func detach(_ id: Machine.ID) {
        let canceller = books.withLock { $0.machine.detach(id) }
        withExtendedLifetime(canceller) {}
    }

    fileprivate func cause(of id: Machine.ID, name: () -> String) -> CancellationCause? {
        guard let (cause, isCutOff) = books.withLock({ $0.machine.cancellation(of: id) }) else { return nil }
        if isCutOff {
            let name = name()
            books.withLock { $0.cutOff[id] = name }
        }
        return cause
    }

    fileprivate func leave(_ id: Machine.ID) {
        let (canceller, drained) = books.withLock { $0.machine.leave(id) }
        for waiter in drained { waiter.resume(returning: .reached) }
        withExtendedLifetime(canceller) {}
    }

    // MARK: The owner

    /// Cancels the live calls: see ``CallTableStateMachine/cancelAll(for:isCutOff:)``.
    @discardableResult
    func cancelAll(for cause: CancellationCause, isCutOff: Bool = false) -> [Machine.ID] {
        let (ids, cancellers) = books.withLock { $0.machine.cancelAll(for: cause, isCutOff: isCutOff) }
        for cancel in cancellers { cancel(cause) }
        return ids
    }

    func refuse(waiting: WaitingWorkBehavior) {
        books.withLock { books in
            books.machine.close()
            if waiting == .cancel { books.machine.endAttempts() }
        }
        source.emit(.closed)
    }

    /// Returns the report about calls that were cancelled at the end of a grace period. Those that have not ended are left
    /// behind.
    func report(of ids: [Machine.ID]) -> ShutdownReport {
        let (names, left) = books.withLock { books in
            let left = ids.count { books.machine.cancellation(of: $0) != nil }
            return (ids.map { books.cutOff.removeValue(forKey: $0) }, left)
        }
        return ShutdownReport(
            cancelled: names.map { $0 ?? "a call" },
            leftBehind: Array(repeating: source.place(of: "a call"), count: left)
        )
    }

    /// Waits until no call runs.
    ///
    /// - Parameter staysWhenCancelled: Whether a cancelled caller continues to wait; otherwise it receives an error.
    func drain(staysWhenCancelled: Bool) async throws(CancellationError) {
        if !staysWhenCancelled, Task.isCancelled { throw CancellationError() }
        guard let drain = books.withLock({ $0.machine.drain() }) else { return }
        let wait = source.emitDraining()
        let outcome = await suspend { waiter in
            books.withLock { $0.machine.park(drain, Word(waiter)) }
        } onCancel: {
            if staysWhenCancelled { return }
            books.withLock { $0.machine.leave(drain) }?.resume(returning: .left)
        }
        source.emitDrained(wait, hasLeft: outcome == .left)
        if outcome == .left { throw CancellationError() }
    }
}

/// The place of a call among the running calls of its client.
struct CallEntry: Sendable {
    fileprivate let table: CallTable
    fileprivate let id: CallTable.Machine.ID

    /// Registers what ends the current wait of the call. Calls it at once if the call was cancelled before.
    func attach(_ canceller: @escaping CallTable.Canceller) { table.attach(canceller, to: id) }

    /// Ends the registration, when the wait has ended.
    func detach() { table.detach(id) }

    /// The cause for which the client has cancelled the call; `nil` if it has not.
    var cause: CancellationCause? { table.books.withLock { $0.machine.cancellation(of: id)?.cause } }

    /// Returns the cause for which the client has cancelled the call; `nil` if it has not.
    ///
    /// - Parameter name: Returns the name of the call. Called if a shutdown reports the call.
    func cause(name: () -> String) -> CancellationCause? { table.cause(of: id, name: name) }

    /// Ends the call.
    func leave() { table.leave(id) }

    /// Whether the call makes no further attempt.
    var hasEndedAttempts: Bool { table.hasEndedAttempts }
}
