import Foundation
import TaskControl

/// A thread that is there before the simulation, and that nothing of what the simulation sees makes work: it polls a variable. It works once.
final class ThreadOutside: Sendable {
    private struct State {
        var work: (@Sendable () -> Void)?
        var isRequested = false
        var hasEnded = false
    }

    private let state = Locked(State())

    init() {
        let state = state
        Thread.detachNewThread {
            while state.withLock({ !$0.isRequested && !$0.hasEnded }) { usleep(500) }
            state.withLock { $0.work.take() }?()
            state.withLock { $0.hasEnded = true }
        }
    }

    deinit { state.withLock { $0.hasEnded = true } }

    /// Suspends until the thread resumes it.
    func wait() async {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            state.withLock { $0.work = { continuation.resume() } }
        }
    }

    /// Whether a caller waits.
    var hasWork: Bool { state.withLock { $0.work != nil } }

    /// Has the thread resume who waits, and blocks until it has.
    func resume() {
        state.withLock { $0.isRequested = true }
        while state.withLock({ !$0.hasEnded }) { sched_yield() }
    }

    /// Does something on the thread, and blocks until it has.
    func run(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.work = action }
        resume()
    }
}
