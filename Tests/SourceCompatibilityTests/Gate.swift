import Foundation

/// Closed until somebody opens it.
final class Gate: @unchecked Sendable {
    private let lock = NSLock()
    private var opened = false
    private var waiters: [UUID: CheckedContinuation<Void, any Error>] = [:]

    var isOpen: Bool { lock.withLock { opened } }

    func open() {
        let waiting = lock.withLock {
            opened = true
            defer { waiters = [:] }
            return waiters
        }
        for waiter in waiting.values { waiter.resume() }
    }

    /// Throws `CancellationError` if the caller is cancelled before the gate opens.
    func wait() async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = lock.withLock {
                    if opened { return .success(()) }
                    // A cancellation that comes later finds the waiter.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    waiters[id] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            lock.withLock { waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }
}

/// What happened, in order.
final class Log: @unchecked Sendable {
    private let lock = NSLock()
    private var written: [String] = []

    var entries: [String] { lock.withLock { written } }

    func add(_ entry: String) {
        lock.withLock { written.append(entry) }
    }
}
