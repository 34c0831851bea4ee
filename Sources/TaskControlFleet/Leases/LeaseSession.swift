internal import Foundation
internal import TaskControl

/// One entry in a line (``FleetLine``), for a call of `withLease` or of a function that uses leases, such as
/// ``FleetSemaphore/withPermit(_:)``. The session connects the state machine of the entry with the store, and with the
/// tasks that wait for the state machine's decisions.
///
/// A task runs ``run()`` from the beginning of the wait until the body has ended: it renews the lease. This task is not
/// a child task of the caller, because a body that ends slowly after a cancellation must keep its lease. When the task
/// has ended, ``leave(_:)`` removes the entry.
final class LeaseSession: Sendable {
    typealias Machine = LeaseStateMachine

    private struct State {
        var machine: Machine
        var waiters = WaiterTable()
        /// The error of the last call of the store that has failed since the last proven renewal; `nil` if none has.
        var error: (any Error)?
        /// The entry with the result that another process has published; `nil` if there is none.
        var result: StoreEntry?
        /// The `losses` of the store before it has granted the lease.
        var losses = 0
        /// Cancels the body; `nil` if no body runs, or if the lease was lost.
        var cancelBody: (@Sendable (CancellationCause) -> Void)?
    }

    let line: FleetLine
    let store: any StoreOperations
    let clock: any Clock<Duration>
    let time: Stopwatch
    let events: CallEvents?
    /// The value of the caller's entry in the store: a ``Lease/Holder`` in JSON.
    let holder: Data
    /// The requested duration of the lease.
    let timeToLive: Duration
    /// A function that returns when the caller is asked to stop: a caller that still waits for the lease then stops waiting. `nil` if the caller
    /// cannot be asked to stop.
    let stop: (@Sendable () async -> Void)?
    private let state: Locked<State>

    convenience init(
        _ line: FleetLine,
        _ store: any StoreOperations,
        timeToLive: Duration,
        holder: String?,
        clock: any Clock<Duration>,
        events: CallEvents?,
        stop: (@Sendable () async -> Void)? = nil
    ) {
        self.init(line, store, timeToLive, Lease.Holder(holder: holder).data, clock, events, stop)
    }

    /// Creates a session for another entry of the same caller, in `line`: the same line, or the same without results.
    convenience init(after session: LeaseSession, in line: FleetLine) {
        self.init(
            line,
            session.store,
            session.timeToLive,
            session.holder,
            session.clock,
            session.events,
            session.stop
        )
    }

    private init(
        _ line: FleetLine,
        _ store: any StoreOperations,
        _ timeToLive: Duration,
        _ holder: Data,
        _ clock: any Clock<Duration>,
        _ events: CallEvents?,
        _ stop: (@Sendable () async -> Void)?
    ) {
        // A lease of less than 100 ms could not be renewed in time.
        let timeToLive = max(timeToLive, .milliseconds(100)).saturated
        let time = Stopwatch(clock)
        let machine = Machine(Machine.Rules(timeToLive: timeToLive, permits: line.permits), at: time.now)
        (self.line, self.store, self.clock, self.time, self.events) = (line, store, clock, time, events)
        (self.holder, self.timeToLive, self.stop) = (holder, timeToLive, stop)
        state = Locked(State(machine: machine))
    }

    // MARK: State

    /// Calls a function that reads the state machine, and returns the result of the function. A lock is held during the call.
    func read<Result>(_ body: (borrowing Machine) -> Result) -> Result { state.withLock { body($0.machine) } }

    /// Calls a function that changes the state machine, resumes the tasks that wait for a change, and returns the result of the function. A lock is
    /// held while the function is called. If the function records the loss of the lease, the body is cancelled when this call returns.
    @discardableResult
    func update<Result>(_ body: (inout Machine) -> Result) -> Result {
        let (result, before, after, woken, cancelBody) = state.withLock { state in
            let before = state.machine.phase
            let result = body(&state.machine)
            let cancelBody = state.machine.isLost ? state.cancelBody.take() : nil
            return (result, before, state.machine.phase, state.waiters.wakeAll(with: .reached), cancelBody)
        }
        for waiter in woken { waiter.resume(returning: .reached) }
        cancelBody?(.leaseLost(name: line.name))
        if before != after { emitChange(from: before, to: after) }
        return result
    }

    /// Returns the error for a lease that was lost, with the error of the store that has caused the loss.
    func lossError(_ reason: LeaseLostError.Reason, underlyingError: (any Error)? = nil) -> LeaseLostError {
        LeaseLostError(
            name: line.name,
            reason: reason,
            renewalError: reason == .expired ? state.withLock(\.error) : nil,
            underlyingError: underlyingError
        )
    }

    private func emitChange(from before: Machine.Phase, to after: Machine.Phase) {
        switch after {
        case .lost(let reason): events?.emit(.leaseLost, error: lossError(reason), isInside: false)
        case .entering where before == .waiting: events?.emit(.placeLost, isInside: false)
        default: break
        }
    }

    /// Waits until a function returns an answer other than `nil` for the current state machine. Calls the function again after each change, while a
    /// lock is held. Returns `nil` if the caller is cancelled.
    nonisolated(nonsending) func wait<Answer>(for answer: (borrowing Machine) -> Answer?) async -> Answer? {
        while true {
            let (found, id) = state.withLock { state in
                let found = answer(state.machine)
                return (found, found == nil ? state.waiters.enroll() : nil)
            }
            guard let id else { return found }
            let outcome = await suspend { waiter in
                state.withLock { $0.waiters.park(id, Word(waiter)) }
            } onCancel: {
                state.withLock { $0.waiters.leave(id, with: .left) }?.resume(returning: .left)
            }
            if outcome == .left { return nil }
        }
    }

    /// Stores the error of a failed call of the store or of the clock. ``turn()`` returns the error if the wait for the
    /// lease fails, and ``lossError(_:underlyingError:)`` contains it if the lease cannot be renewed in time.
    func keep(_ error: any Error) {
        let isConsequence = (error as? StoreError)?.reason == .leaseNotFound
        let old = state.withLock { state in
            let old = state.error
            // If the lease does not exist, it has ended because its renewals failed: their error is more informative.
            if !isConsequence || old == nil { state.error = error }
            return old
        }
        // The old error is released here, where the lock is not held.
        withExtendedLifetime(old) {}
    }

    /// Forgets the error that ``keep(_:)`` has stored, because a renewal was proven after it.
    func forgetError() {
        // Released here, where the lock is not held.
        _ = state.withLock { $0.error.take() }
    }

    func keep(result: StoreEntry?) {
        if let result { state.withLock { $0.result = result } }
    }

    /// Records that the store is about to grant the lease.
    func willGrant() {
        let losses = store.losses
        state.withLock { $0.losses = losses }
    }

    /// Whether the content of the store was replaced or lost since the lease was granted, as far as the store has noticed.
    var hasLostContent: Bool { store.losses != state.withLock(\.losses) }

    // MARK: The caller

    /// The reason for which the wait for the lease has ended.
    enum Turn {
        case holding(Lease.FencingToken)
        case adopted(StoreEntry)
        case failed(any Error)
        /// The caller is cancelled or was asked to stop, or the lease was lost before the caller noticed its turn.
        case left
    }

    /// Waits until the caller holds the lease, or its wait ends for another reason.
    nonisolated(nonsending) func turn() async -> Turn {
        let phase = await wait { (machine: borrowing Machine) -> Machine.Phase? in
            switch machine.phase {
            case .entering, .waiting: nil
            case .holding, .adopted, .lost, .failed, .ended: machine.phase
            }
        }
        let (token, error, result) = state.withLock { ($0.machine.token, $0.error, $0.result) }
        switch phase {
        case nil, .entering, .waiting, .lost, .ended: return .left
        case .holding: return token.map { .holding($0) } ?? .left
        case .adopted: return result.map { .adopted($0) } ?? .left
        case .failed: return .failed(error ?? StoreError(.refused, "the store has granted a lease without a duration"))
        }
    }

    /// Waits until the lease is lost, and then returns `true`. Returns `false` if the caller is cancelled.
    func loss() async -> Bool {
        await wait { (machine: borrowing Machine) -> Bool? in machine.isLost ? true : nil } ?? false
    }

    /// Stores the closure that cancels the body when the lease is lost. Calls it at once if the lease is lost already.
    @Sendable
    private func cancelOnLoss(_ cancel: @escaping @Sendable (CancellationCause) -> Void) {
        let isLost = state.withLock { state in
            if !state.machine.isLost { state.cancelBody = cancel }
            return state.machine.isLost
        }
        if isLost { cancel(.leaseLost(name: line.name)) }
    }

    /// Notes that the body has ended, or that the caller stops waiting.
    ///
    /// - Returns: The reason for which the lease was already lost; `nil` if it was not lost.
    func end() -> LeaseLostError.Reason? {
        let now = time.now
        return update { $0.end(at: now) }
    }
}

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
            result = await withCancellation(by: cancelOnLoss) {
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

extension LeaseSession {
    /// An entry that is put into the store when the caller's own entry is deleted: the published result of a ``FleetFlight``.
    struct Publication: Sendable {
        let key: String
        let value: Data
    }

    /// Leaves the line (``FleetLine``): deletes the caller's entry in the store, and revokes the caller's lease. So the
    /// next caller does not wait until the lease has expired. If the lease cannot be revoked, it expires later by
    /// itself. Each call of the store has a time limit.
    ///
    /// - Parameter publication: The result of a ``FleetFlight`` to publish in the same transaction that deletes the
    ///   caller's entry; `nil` for none.
    func leave(_ publication: Publication?) async {
        var step = update { $0.leave() }
        var isDeleted = false
        while step != .nothing {
            let isDone = await perform(step, publication, &isDeleted)
            step = update { $0.left(isDone) }
        }
    }

    private func perform(_ step: Machine.Leaving, _ publication: Publication?, _ isDeleted: inout Bool) async -> Bool {
        do {
            switch step {
            case .delete(let lease, let token):
                isDeleted = try await delete(lease, token, publication)
            case .revoke(let lease):
                try await call { try await self.store.revokeLease(lease) }
                // A lease without an entry delays no other caller.
                if !isDeleted { events?.emit(.leaseRevoked, isInside: false) }
            case .expire: events?.emit(.leaseLeftToExpire, isInside: false)
            case .nothing: break
            }
            return true
        } catch {
            if !isDeleted { events?.emit(.storeCallFailed, error: error, isInside: false) }
            return false
        }
    }

    /// Deletes the caller's entry, which is attached to `lease` and has the fencing token `token`, and publishes a
    /// result (`publication`, if it is not `nil`) in the same transaction. If the store refuses the result, or grants
    /// no lease for it, the entry is deleted without publishing the result.
    ///
    /// - Returns: Whether the entry existed.
    /// - Throws: The error of the store.
    private func delete(_ lease: LeaseID, _ token: Lease.FencingToken, _ publication: Publication?) async throws -> Bool
    {
        let key = line.key(of: lease)
        var operations: [StoreTransaction.Operation] = [.delete(.key(key))]
        if let publication, let lifetime = await leaseOfResult() {
            operations.insert(.put(publication.key, publication.value, lease: lifetime), at: 0)
        }
        let isPublished = operations.count > 1
        do {
            // The condition on the creation revision ensures that the entry of another session is never deleted.
            let transaction = StoreTransaction(
                comparisons: [.createRevision(key, token.rawValue)],
                success: operations
            )
            let result = try await call { try await self.store.transact(transaction) }
            guard result.succeeded else { return false }
            if isPublished { events?.emit(.resultPublished, isInside: false) }
        } catch let error as StoreError where isPublished && error.reason == .refused {
            // For example, the value is too large. The next caller runs the operation itself.
            events?.emit(.storeCallFailed, error: error, isInside: false)
            return try await delete(lease, token, nil)
        }
        events?.emit(.entryDeleted, isInside: false)
        return true
    }

    /// Grants a lease for the published result, and returns its ID; `nil` if the store cannot grant a lease. The store removes the result when this
    /// lease expires. Until then, each waiting caller reads the line (``FleetLine``) at least once.
    private func leaseOfResult() async -> LeaseID? {
        try? await call { try await self.store.grantLease(timeToLive: self.timeToLive) }.id
    }
}
