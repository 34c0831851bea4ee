import Foundation
import TaskControl

/// The connection of a worker to the director: standard input and output. If the director ends, so does the worker.
actor DirectorConnection {
    /// The callers that wait for a reply, in the order of their messages. The reply for a caller that was cancelled is ignored.
    private var waiters: [CancellableContinuation<String>] = []

    /// Begins to read replies.
    func open() {
        let (lines, continuation) = AsyncStream<String>.makeStream()
        // A thread, since reading blocks it.
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            exit(EXIT_FAILURE)
        }
        // audit: allow dropped-task because it ends with the process, as its owner does
        Task { for await line in lines where !waiters.isEmpty { waiters.removeFirst().resume(returning: line) } }
    }

    nonisolated func send(_ message: Message) throws {
        try FileHandle.standardOutput.write(contentsOf: Lines.encode(Report(message)))
    }

    /// Sends a message and waits for its reply.
    func ask(_ message: Message) async throws -> Reply {
        let line = try await withCancellableContinuation(of: String.self) { continuation in
            waiters.append(continuation)
            try send(message)
            return {}
        }
        return try Lines.decode(line)
    }
}
