import Foundation
import TaskControl
import TestSupport

/// A task that runs until a thread resumes it.
final class Runner: Sendable {
    private let continuation = Locked<UnsafeContinuation<Void, Never>?>(nil)
    private let isParked = DispatchSemaphore(value: 0)

    func park() async {
        await withUnsafeContinuation { continuation in
            self.continuation.withLock { $0 = continuation }
            isParked.signal()
        }
    }

    func resume() {
        isParked.wait()
        continuation.withLock { $0.take() }?.resume()
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension HeldActor {
    static func held() -> HeldActor {
        let actor = HeldActor()
        actor.executor.hold()
        return actor
    }

    /// Runs that many jobs as they come. For threads outside the pool.
    nonisolated func runAll(_ count: Int) {
        executor.blockUntilHeld(count)
        for _ in 0..<count { executor.runHeld() }
    }

    /// Runs what comes from now on, and blocks until `wait` has returned. For threads outside the pool.
    nonisolated func end(_ wait: @escaping @Sendable () async -> Void) {
        let isOver = DispatchSemaphore(value: 0)
        executor.release()
        Task.detached {
            await wait()
            isOver.signal()
        }
        isOver.wait()
    }

    func run(_ queue: FIFOQueue) async throws { try await queue.run {} }

    func drain(_ queue: FIFOQueue) async throws { try await queue.drain() }

    func acquire(_ count: Int, of semaphore: AsyncSemaphore) async throws { try await semaphore.acquire(count) }
}
