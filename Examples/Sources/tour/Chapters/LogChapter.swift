import Foundation
import TaskControl
import TaskControlTesting

/// Code that cannot wait sends its log lines to an actor, each with a task. Does the file tell what happened in the order in which it
/// happened?
struct LogChapter: Chapter {
    let name = "log"
    let title = "Events in order"

    private static let lines = 10_000

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        // Taps are urgent and syncing is not, as in any app. And, to compare: as if all were the same.
        var generator = SeededGenerator(seed: tour.seed)
        let mixed = (1...Self.lines).map {
            LogEvent(number: $0, priority: Bool.random(using: &generator) ? .high : .background)
        }
        let equal = (1...Self.lines).map { LogEvent(number: $0) }
        let naiveMixed = try await write(mixed, with: NaiveLog.self)
        let naiveEqual = try await write(equal, with: NaiveLog.self)
        let orderedMixed = try await write(mixed, with: OrderedLog.self)
        let orderedEqual = try await write(equal, with: OrderedLog.self)
        return Report(
            naive: [
                "two priorities: \(naiveMixed.late) of \(Self.lines) lines come late",
                "one priority: \(naiveEqual.late) lines",
            ],
            taskControl: [
                "two priorities: \(orderedMixed.late) of \(Self.lines) lines come late",
                "one priority: \(orderedEqual.late) lines",
            ],
            claims: [
                Claim("naive: every line is there, once", naiveMixed.isComplete && naiveEqual.isComplete, is: true),
                // A tap overtakes whatever is less urgent and still waits; and it is quicker to send a line than to write one. With one
                // priority nothing promises an order, and nothing forbids it: that number is shown, and claims nothing.
                Claim("naive: with two priorities, lines come after newer ones", naiveMixed.late) { $0 > 0 },
                Claim(
                    "ActorQueue: every line is there, once",
                    orderedMixed.isComplete && orderedEqual.isComplete,
                    is: true
                ),
                Claim("ActorQueue: with two priorities, no line comes after a newer one", orderedMixed.late, is: 0),
                Claim("ActorQueue: with one priority, no line comes after a newer one", orderedEqual.late, is: 0),
            ]
        )
    }

    /// Logs the events to a file, and reads it back: the number of lines that come after a newer line, and whether each line is there once.
    private func write<Log: EventLog>(_ events: [LogEvent], with _: Log.Type) async throws -> (
        late: Int, isComplete: Bool
    ) {
        try await TemporaryFolder.whileThere { folder in
            let file = folder.appendingPathComponent("events.log")
            try Data().write(to: file)
            let log = try Log(file: file)
            for line in Self.send(events, to: log) { try await line.value }
            // A line that cannot be read is one that was not sent.
            let numbers = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
                $0.split(separator: " ").first.flatMap { Int($0) } ?? 0
            }
            var newest = 0
            let late = numbers.count { number in
                defer { newest = max(newest, number) }
                return number < newest
            }
            return (late, numbers.sorted() == Array(1...events.count))
        }
    }

    /// Synchronous code of no actor. One thread sends all, so that there is no doubt which came first.
    private static func send(_ events: [LogEvent], to log: some EventLog) -> [Task<Void, any Error>] {
        events.map { log.write($0) }
    }
}
