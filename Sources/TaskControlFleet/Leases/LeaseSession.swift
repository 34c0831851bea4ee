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
        var waiters = WaiterTable<UnsafeContinuation<WaitOutcome, Never>, WaitOutcome>()
        /// The error of the last call of the store that has failed since the last proven renewal; `nil` if none has.
        var error: (any Error)?
        /// The entry with the result that another process has published; `nil` if there is none.
        var result: StoreEntry?
    }

    let line: FleetLine
    let store: any StoreOperations
    let clock: any Clock<Duration>
    let time: Stopwatch
    let events: CallEvents?
    /// The value of the caller's entry in the store: a ``LeaseHolder`` in JSON.
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
        self.init(line, store, timeToLive, LeaseHolder(holder: holder).data, clock, events, stop)
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
    /// held while the function is called.
    @discardableResult
    func update<Result>(_ body: (inout Machine) -> Result) -> Result {
        let (result, before, after, woken) = state.withLock { state in
            let before = state.machine.phase
            let result = body(&state.machine)
            return (result, before, state.machine.phase, state.waiters.wakeAll(with: .reached))
        }
        for waiter in woken { waiter.resume(returning: .reached) }
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
                state.withLock { $0.waiters.park(id, waiter) }
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

    // MARK: The caller

    /// The reason for which the wait for the lease has ended.
    enum Turn {
        case holding(FencingToken)
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
    @Sendable
    func loss() async -> Bool {
        await wait { (machine: borrowing Machine) -> Bool? in
            if case .lost = machine.phase { true } else { nil }
        } ?? false
    }

    /// Notes that the body has ended, or that the caller stops waiting.
    ///
    /// - Returns: The reason for which the lease was already lost; `nil` if it was not lost.
    func end() -> LeaseLostError.Reason? {
        let now = time.now
        return update { $0.end(at: now) }
    }
}
