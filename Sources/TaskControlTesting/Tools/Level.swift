internal import TaskControl

/// A value that changes, and tasks that wait until it has reached a given mark. Gates, test clocks, sequencers and order recorders are
/// built on this type.
///
/// Waiters are resumed in the order of their marks, and for the same mark in the order of their calls; never while the lock is held. A
/// cancelled waiter leaves at once: when `cancel()` has returned, it is no longer counted.
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

    /// Changes the value, and resumes the waiters whose marks it has reached.
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

    /// Moves the value up to the lowest mark and resumes the first waiter for it, if that mark is not above `limit`.
    ///
    /// - Parameters:
    ///   - limit: The highest mark to move to; `nil` for no limit: then the value does not change if no caller waits.
    ///   - arrives: Whether the value moves up to `limit` if no caller waits for a mark up to `limit`.
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

    /// Waits until the value has reached a mark. Returns at once if it has already reached it.
    ///
    /// - Parameter onEnrolled: Called if the caller must wait, as soon as it is counted as a waiter.
    /// - Returns: Whether the caller had to wait.
    /// - Throws: `CancellationError` if the caller is cancelled, even if it was cancelled before the call and the value has reached the
    ///   mark.
    @discardableResult
    func wait(for mark: Value, onEnrolled: () -> Void = {}) async throws(CancellationError) -> Bool {
        try await wait(onEnrolled) { $0.enroll(for: mark) }
    }

    /// Waits until at least the given number of callers wait for the value.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled.
    func wait(forWaiters count: Int) async throws(CancellationError) {
        _ = try await wait({}) { $0.enroll(forWaiters: count) }
    }

    func waitIgnoringCancellation(for mark: Value) async {
        if let id = enroll({ $0.enroll(for: mark) }) { _ = await park(id) }
    }

    /// Waits until a waiter that is registered by a closure is resumed. Installs the cancellation handler before it registers the waiter,
    /// so that a cancelled task is never counted.
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

    /// Registers a waiter, and returns its ID; `nil` if there is nothing to wait for.
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
