import Foundation
import TaskControl

/// A thread that is there before the simulation, and that nothing of what the simulation sees makes work: it reads from a pipe.
final class ThreadOutside: Sendable {
    private let work = Locked<(@Sendable () -> Void)?>(nil)
    private let requests = Pipe(), answers = Pipe()

    init() {
        let (work, requests, answers) = (work, requests, answers)
        Thread.detachNewThread {
            while let request = try? requests.fileHandleForReading.read(upToCount: 1), !request.isEmpty {
                work.withLock { $0.take() }?()
                try? answers.fileHandleForWriting.write(contentsOf: [1])
            }
        }
    }

    deinit { try? requests.fileHandleForWriting.close() }

    /// Suspends until the thread resumes it.
    func wait() async {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            work.withLock { $0 = { continuation.resume() } }
        }
    }

    /// Whether a caller waits.
    var hasWork: Bool { work.withLock { $0 != nil } }

    /// Has the thread resume who waits, and blocks until it has.
    func resume() {
        try? requests.fileHandleForWriting.write(contentsOf: [1])
        _ = try? answers.fileHandleForReading.read(upToCount: 1)
    }

    /// Does something on the thread, and blocks until it has.
    func run(_ action: @escaping @Sendable () -> Void) {
        work.withLock { $0 = action }
        resume()
    }
}
