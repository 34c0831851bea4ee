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
        let mixed = Self.events(Self.lines, seed: tour.seed)
        let equal = (1...Self.lines).map { LogEvent(number: $0) }
        let naiveMixed = try await play(mixed, NaiveLog.self, as: "naive, two priorities")
        let naiveEqual = try await play(equal, NaiveLog.self, as: "naive, one priority")
        let orderedMixed = try await play(mixed, OrderedLog.self, as: "ActorQueue, two priorities")
        let orderedEqual = try await play(equal, OrderedLog.self, as: "ActorQueue, one priority")
        return Report(
            naive: Report.group("two priorities", naiveMixed.lines) + Report.group("one priority", naiveEqual.lines),
            taskControl: Report.group("ActorQueue, two priorities", orderedMixed.lines)
                + Report.group("ActorQueue, one priority", orderedEqual.lines),
            claims: [
                Claim("naive: every line is there, once", naiveMixed.isComplete && naiveEqual.isComplete, is: true),
                // A tap overtakes whatever is less urgent and still waits; and it is quicker to send a line than to write one. With one
                // priority nothing promises an order, and nothing forbids it: that number is shown, and claims nothing.
                Claim(
                    "naive: with two priorities, lines come after newer ones",
                    holds: naiveMixed.late > 0,
                    measured: "\(naiveMixed.late) lines"
                ),
                Claim(
                    "ActorQueue: every line is there, once",
                    orderedMixed.isComplete && orderedEqual.isComplete,
                    is: true
                ),
                Claim("ActorQueue: with two priorities, no line comes after a newer one", orderedMixed.late, is: 0),
                Claim("ActorQueue: with one priority, no line comes after a newer one", orderedEqual.late, is: 0),
            ],
            transcriptTitle: "about the times",
            transcript: Self.isOptimized ? [] : Self.aboutTimes
        )
    }

    #if DEBUG
    private static let isOptimized = false
    #else
    private static let isOptimized = true
    #endif

    private static let aboutTimes = [
        "The times are those of a debug build: what the naive log needs is in the runtime, which is optimized;",
        "the queue is not. To compare: swift run -c release --package-path Examples tour --chapter log",
    ]

    /// Returns events of which roughly half are urgent, as the seed decides.
    ///
    /// - Returns: Half of them, roughly, are urgent. Which ones is the seed's.
    static func events(_ count: Int, seed: UInt64) -> [LogEvent] {
        var generator = SeededGenerator(seed: seed)
        return (1...count).map { LogEvent(number: $0, priority: Bool.random(using: &generator) ? .high : .background) }
    }

    private func play<Log: EventLog>(_ events: [LogEvent], _: Log.Type, as act: String) async throws -> Measured {
        let measured = try await Self.write(events, with: Log.self)
        Progress(chapter: name, act: act).finish("\(measured.numbers.count) lines in the file")
        return measured
    }

    /// Logs the events to a file, and reads it back.
    static func write<Log: EventLog>(_ events: [LogEvent], with _: Log.Type) async throws -> Measured {
        try await TemporaryFolder.whileThere { folder in
            let file = folder.appendingPathComponent("events.log")
            try Data().write(to: file)
            let log = try Log(file: file)
            let start = ContinuousClock.now
            for line in send(events, to: log) { try await line.value }
            let time = ContinuousClock.now - start
            return Measured(text: try String(contentsOf: file, encoding: .utf8), of: events.count, time: time)
        }
    }

    /// Synchronous code of no actor. One thread sends all, so that there is no doubt which came first.
    private static func send(_ events: [LogEvent], to log: some EventLog) -> [Task<Void, any Error>] {
        events.map { log.write($0) }
    }

    /// The measurements of the file.
    struct Measured: Sendable {
        /// The events' numbers, in the order of the lines.
        let numbers: [Int]
        let expected: Int
        let time: Duration

        init(text: String, of expected: Int, time: Duration = .zero) {
            // A line that cannot be read is one that was not sent.
            numbers = text.split(separator: "\n").map { $0.split(separator: " ").first.flatMap { Int($0) } ?? 0 }
            self.expected = expected
            self.time = time
        }

        /// The number of lines that come after a newer line, which has a larger number.
        var late: Int {
            var newest = 0
            return numbers.count { number in
                defer { newest = max(newest, number) }
                return number < newest
            }
        }

        /// Whether no line was lost, and none written twice.
        var isComplete: Bool { numbers.sorted() == Array(1...expected) }

        var lines: [String] {
            ["\(late) of \(numbers.count) lines come late", "written in \(time.inMilliseconds)"]
        }
    }
}
