internal import TaskControl

/// A value that changes, and the tasks that wait for it to become equal to or greater than a value of their choice, the
/// task's *mark*. Gates, test clocks and order recorders are built on this type.
///
/// Waiting tasks are resumed in the order of their marks, and for the same mark in the order of their calls. No task is
/// resumed while the lock of the value is held. A cancelled task stops waiting at once: when `cancel()` has returned,
/// the task is no longer counted.
final class Level<Value: Comparable & Sendable>: Sendable {
    private typealias Machine = LevelStateMachine<Value>

    private let state: Locked<Machine>

    init(_ value: Value) {
        state = Locked(Machine(value))
    }

    var value: Value { state.withLock(\.value) }
    var waiterCount: Int { state.withLock(\.waiterCount) }

    // MARK: Moving

    /// Changes the value, and resumes the tasks that wait for the new value or a lower one.
    ///
    /// - Parameter change: Changes the value. Runs while the lock is held.
    func move(_ change: (inout Value) -> Void) {
        let woken = state.withLock { machine in
            var value = machine.value
            change(&value)
            return machine.move(to: value)
        }
        for waiter in woken { waiter.resume(returning: .reached) }
    }

    /// Raises the value to the lowest value for which a task waits, and resumes the first task that waits for it.
    /// Resumes no task if this value is above `limit`, or if no task waits.
    ///
    /// - Parameters:
    ///   - limit: The highest value to move to; `nil` for no limit: then the value does not change if no task waits.
    ///   - arrives: Whether the value moves up to `limit` if no task waits for a value up to `limit`.
    /// - Returns: Whether a task was resumed.
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

    /// Waits until the value is equal to or greater than `mark`. Returns at once if it already is.
    ///
    /// - Parameter onEnrolled: Called if the caller must wait, as soon as it is counted as a waiter.
    /// - Returns: Whether the caller had to wait.
    /// - Throws: `CancellationError` if the caller is cancelled, even if it was cancelled before the call and the value
    ///   has already reached `mark`.
    @discardableResult
    func wait(for mark: Value, onEnrolled: () -> Void = {}) async throws(CancellationError) -> Bool {
        try await wait(onEnrolled) { $0.enroll(for: mark) }
    }

    /// Waits until at least the given number of callers wait for the value, with ``wait(for:onEnrolled:)`` or
    /// ``waitIgnoringCancellation(for:)``. Callers of this function are not counted.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled.
    func wait(forWaiters count: Int) async throws(CancellationError) {
        _ = try await wait({}) { $0.enroll(forWaiters: count) }
    }

    func waitIgnoringCancellation(for mark: Value) async {
        if let id = enroll({ $0.enroll(for: mark) }) { _ = await park(id) }
    }

    /// Registers the caller as a waiter, and waits until it is resumed. Installs the cancellation handler before it
    /// registers the waiter, so that a cancelled task is never counted.
    ///
    /// - Parameters:
    ///   - onEnrolled: Called as soon as the caller is registered. Not called if there is nothing to wait for.
    ///   - enroll: Registers the caller in the state machine. Runs while the lock is held.
    /// - Returns: Whether the caller had to wait.
    /// - Throws: `CancellationError` if the caller is cancelled.
    private func wait(
        isolation: isolated (any Actor)? = #isolation,
        _ onEnrolled: () -> Void,
        _ enroll: (inout Machine) -> Machine.EnrollAction
    ) async throws(CancellationError) -> Bool {
        // The ID is written while the lock of `state` is held. A cancellation handler that runs earlier finds no ID.
        // The caller checks for cancellation while it holds the same lock, so it does not register in that case.
        let enrolled = Locked<Machine.ID?>(nil)
        let outcome: WaitOutcome? = await withTaskCancellationHandler {
            // Captured, so that the closure runs on the caller's actor: no other task of this actor runs before the
            // waiter is registered.
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

    /// Calls the given closure, which registers the caller as a waiter. Then resumes those callers of
    /// ``wait(forWaiters:)`` for which there are now enough waiters.
    ///
    /// - Returns: The ID of the registered caller; `nil` if there is nothing to wait for.
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
        await suspend { waiter in state.withLock { $0.park(id, Word(waiter)) } }
    }
}
