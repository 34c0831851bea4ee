import Foundation
import TaskControl

/// A line to log, as urgent as its subject.
struct LogEvent: Sendable {
    let number: Int
    var priority: TaskPriority?

    var line: String { "\(number) \(priority == .high ? "tapped" : "synced")\n" }
}

/// A log that is written to from synchronous code, which cannot wait.
protocol EventLog: Actor {
    /// Opens the log, with an empty file.
    init(file: URL) throws
    /// Writes an event to the log, and returns the task that writes, so that the chapter can await its end.
    nonisolated func write(_ event: LogEvent) -> Task<Void, any Error>
}

/// A log as people write it today. Each line reaches the actor independently, and the actor takes the urgent lines first.
actor NaiveLog: EventLog {
    private let file: FileHandle

    init(file: URL) throws { self.file = try FileHandle(forWritingTo: file) }

    nonisolated func write(_ event: LogEvent) -> Task<Void, any Error> {
        Task(priority: event.priority) { try await append(event.line) }
    }

    private func append(_ line: String) throws { try file.write(contentsOf: Data(line.utf8)) }
}

/// A log with an `ActorQueue`: the order of the lines is that of the calls. The lines before an urgent line become as urgent.
actor OrderedLog: EventLog {
    private let file: FileHandle
    private let queue = ActorQueue<OrderedLog>(name: "log")

    init(file: URL) throws {
        self.file = try FileHandle(forWritingTo: file)
        queue.adoptExecutionContext(of: self)
    }

    nonisolated func write(_ event: LogEvent) -> Task<Void, any Error> {
        queue.addTask(priority: event.priority) { log in try log.append(event.line) }
    }

    private func append(_ line: String) throws { try file.write(contentsOf: Data(line.utf8)) }
}
