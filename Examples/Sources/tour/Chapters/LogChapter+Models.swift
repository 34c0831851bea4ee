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
    /// - Parameter file: Is there, and empty.
    init(file: URL) throws
    /// - Returns: The work that the event started, so that the chapter knows when it is over.
    nonisolated func write(_ event: LogEvent) -> Task<Void, any Error>
}

/// As people write it today. Each line finds its own way to the actor, and the actor takes the urgent ones first.
actor NaiveLog: EventLog {
    private let file: FileHandle

    init(file: URL) throws {
        self.file = try FileHandle(forWritingTo: file)
    }

    nonisolated func write(_ event: LogEvent) -> Task<Void, any Error> {
        Task(priority: event.priority) { try await append(event.line) }
    }

    private func append(_ line: String) throws {
        try file.write(contentsOf: Data(line.utf8))
    }
}

/// With an `ActorQueue`: a line's place is that of the call. The lines before an urgent line become as urgent.
actor OrderedLog: EventLog {
    private let file: FileHandle
    private let queue = ActorQueue<OrderedLog>(name: "log")

    init(file: URL) throws {
        self.file = try FileHandle(forWritingTo: file)
        queue.adoptExecutionContext(of: self)
    }

    nonisolated func write(_ event: LogEvent) -> Task<Void, any Error> {
        Task(priority: event.priority, on: queue) { log in try log.append(event.line) }
    }

    private func append(_ line: String) throws {
        try file.write(contentsOf: Data(line.utf8))
    }
}
