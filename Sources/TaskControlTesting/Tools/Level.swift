internal import TaskControl

/// A value that moves, and tasks that wait until it has reached a mark: the mechanism that gates, clocks, sequencers and recorders
/// have in common.
///
/// Waiters are resumed by mark, and then in the order of their calls; never under the lock. Each leaves at once when it
/// is cancelled: once `cancel()` has returned, the level does not count the task.
final class Level<Value: Comparable & Sendable>: Sendable {
    private typealias Waiter = UnsafeContinuation<WaitOutcome, Never>
    private typealias Machine = LevelStateMachine<Value, Waiter>

    private let state: Locked<Machine>

    init(_ value: Value) {
        state = Locked(Machine(value))
    }

    var value: Value { state.withLock(\.value) }
    var waiterCount: Int { state.withLock(\.waiterCount) }

    // MARK: Moving

    /// Changes the value, and resumes those whose mark it has reached.
    ///
    /// - Parameter change: Runs under the lock.
    func move(_ change: (inout Value) -> Void) {
        let woken = state.withLock { machine in
            var value = machine.value
            change(&value)
            return machine.move(to: value)
        }
        for waiter in woken { waiter.resume(returning: .reached) }
    }

    /// Moves the value up to the lowest mark and resumes the first waiter for it, if that mark is not above `limit`.
    ///
    /// - Parameters:
    ///   - limit: `nil` for no limit: the value then stays where no caller waits.
    ///   - arrives: Whether the value moves up to `limit` where no caller waits for a mark up to it.
    /// - Returns: Whether a waiter was resumed.
    func step(upTo limit: Value?, arrives: Bool) -> Bool {
        switch state.withLock({ $0.step(upTo: limit, arrives: arrives) }) {
        case .woke(let waiter):
            waiter?.resume(returning: .reached)
            return true
        case .nobody:
            return false
        }
    }

    // MARK: Waiting

    /// Waits until the value has reached a mark. Does not wait if it has.
    ///
    /// - Parameter onEnrolled: Called if it has to wait, once it is counted.
    /// - Returns: Whether it had to wait.
    /// - Throws: `CancellationError` if the caller is cancelled: also if it was before the call, with nothing to wait
    ///   for.
    @discardableResult
    func wait(for mark: Value, onEnrolled: () -> Void = {}) async throws(CancellationError) -> Bool {
        try await wait(onEnrolled) { $0.enroll(for: mark) }
    }

    /// Waits until the given number of callers wait for the value.
    ///
    /// - Throws: The errors of `wait(for:)`.
    func wait(forWaiters count: Int) async throws(CancellationError) {
        _ = try await wait({}) { $0.enroll(forWaiters: count) }
    }

    func waitIgnoringCancellation(for mark: Value) async {
        if let id = enroll({ $0.enroll(for: mark) }) { _ = await park(id) }
    }

    /// Installs the cancellation handler before the waiter enrolls, so that no cancelled task is counted, not even briefly.
    private func wait(
        isolation: isolated (any Actor)? = #isolation,
        _ onEnrolled: () -> Void,
        _ enroll: (inout Machine) -> Machine.EnrollAction
    ) async throws(CancellationError) -> Bool {
        // Written under the lock of the state: a handler that runs before that finds nothing, and the waiter, which
        // looks under the lock, finds itself cancelled.
        let enrolled = Locked<Machine.ID?>(nil)
        let outcome: WaitOutcome? = await withTaskCancellationHandler {
            // Mentioned, so that the closure runs in it: no other task of the caller's actor comes before the waiter enrolls.
            _ = isolation
            let id = self.enroll { machine in
                guard !Task.isCancelled else { return .reached }
                let action = enroll(&machine)
                if case .enrolled(let id, _) = action { enrolled.withLock { $0 = id } }
                return action
            }
            guard let id else { return Task.isCancelled ? .left : nil }
            onEnrolled()
            return await park(id)
        } onCancel: {
            let waiter = state.withLock { machine in enrolled.withLock { $0 }.flatMap { machine.leave($0) } }
            waiter?.resume(returning: .left)
        }
        if outcome == .left { throw CancellationError() }
        return outcome != nil
    }

    /// - Returns: `nil` if there is nothing to wait for.
    private func enroll(_ enroll: (inout Machine) -> Machine.EnrollAction) -> Machine.ID? {
        switch state.withLock(enroll) {
        case .reached:
            return nil
        case .enrolled(let id, let spectators):
            for spectator in spectators { spectator.resume(returning: .reached) }
            return id
        }
    }

    private func park(_ id: Machine.ID) async -> WaitOutcome {
        await suspend { waiter in state.withLock { $0.park(id, waiter) } }
    }
}
