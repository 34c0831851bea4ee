internal import TaskControl

/// A run of supervised work, that is, one call of its operation. The operation receives the run, and calls
/// ``markReady()`` when the work is ready.
///
/// ```swift
/// lifetime.keepRunning("feed") { run in
///     let connection = try await server.connect()
///     run.markReady()
///     for try await update in connection.updates { await log.append("\(update)") }
/// }
/// ```
public struct SupervisedRun: Sendable {
    let storage: SupervisedRunStorage

    /// The number of the run, counted from 1.
    public var number: Int { storage.number }

    /// Reports that the work is ready: its state becomes ``SupervisedWork/State/running``, and callers of
    /// ``SupervisedWork/waitUntilReady()`` resume. If the work is a child of a ``Supervisor``, the next child can
    /// start.
    ///
    /// Further calls have no effect, and neither have calls after the run has ended.
    ///
    /// - Complexity: O(1).
    public func markReady() { storage.ready() }

    /// Whether the work was asked to stop, or the run has ended. A run that was asked to stop is cancelled when its
    /// grace period is over.
    public var isStopping: Bool { storage.isStopping }

    /// Waits until the work is asked to stop, or the run has ended.
    ///
    /// Call this function in work that must finish something before it stops, such as a server that answers the
    /// requests it has accepted. Work with a grace period of zero, the default, is cancelled at once and does not need
    /// this function.
    ///
    /// ## Cancellation
    /// A cancelled caller returns at once.
    public func waitForStop() async { await storage.waitForStop() }
}

/// The state of one run of supervised work: its number, its error, and whether it was asked to stop.
final class SupervisedRunStorage: Sendable {
    private struct State {
        var isStopping = false
        var error: (any Error)?
        var wasCancelled = false
        var waiters = WaiterTable()
    }

    let engine: SupervisionEngine
    let child: Int
    let number: Int
    private let state = Locked(State())

    init(_ engine: SupervisionEngine, _ child: Int, _ number: Int) {
        self.engine = engine
        self.child = child
        self.number = number
    }

    func ready() { engine.ready(self) }

    var isStopping: Bool { state.withLock(\.isStopping) }

    /// The error that the run has thrown; `nil` if it has thrown none.
    var error: (any Error)? { state.withLock(\.error) }

    /// Whether the task of the run was cancelled when the run threw its error; `false` if it has thrown none.
    var wasCancelled: Bool { state.withLock(\.wasCancelled) }

    func fail(_ error: any Error, wasCancelled: Bool) {
        state.withLock { ($0.error, $0.wasCancelled) = (error, wasCancelled) }
    }

    /// Forgets the error that the run has thrown, because the failure was published and the work will be restarted.
    func forgetError() {
        let error = state.withLock { $0.error.take() }
        // Released here, where the lock is free.
        withExtendedLifetime(error) {}
    }

    /// Asks the run to stop.
    ///
    /// - Returns: `false` if the run was asked before, or has ended.
    @discardableResult
    func requestStop() -> Bool {
        let (isFirst, waiters) = state.withLock { state in
            let isFirst = !state.isStopping
            state.isStopping = true
            return (isFirst, state.waiters.wakeAll(with: .reached))
        }
        for waiter in waiters { waiter.resume(returning: .reached) }
        return isFirst
    }

    nonisolated(nonsending) func waitForStop() async {
        guard let id = state.withLock({ $0.isStopping ? nil : $0.waiters.enroll() }) else { return }
        _ = await suspend { waiter in
            state.withLock { $0.waiters.park(id, Word(waiter)) }
        } onCancel: {
            state.withLock { $0.waiters.leave(id, with: .left) }?.resume(returning: .left)
        }
    }
}
