import ArgumentParser
import Foundation
import TaskControl
import TaskControlTrace

/// `swift run --package-path Examples tour`
@main
struct TourCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tour",
        abstract:
            "What becomes of a task that outlives the line that started it, measured on a real HTTP server and real files.",
        // Without the subcommand, which only the tour itself uses.
        usage: "tour [--chapter <name> ...] [--seed <seed>] [--json <file>] [--trace <file> ...]",
        discussion: """
            Each chapter is played first as people write it today, then with TaskControl. All numbers are measured: the server's own \
            counters, the client's state, what files hold, and what tests and simulations came to.

            Exit codes: 0 if every claim holds, 1 if one does not, 64 for a bad argument, 74 if the results could not be written.
            """,
        subcommands: [TripServiceCommand.self]
    )

    @Option(help: ArgumentHelp("Play this chapter only; may be given several times.", valueName: "name"))
    var chapter: [String] = []

    @Option(help: "Repeats a tour: what is random comes from this number. Default: a new one, which is printed.")
    var seed: UInt64?

    @Option(help: ArgumentHelp("Write the results to a file as JSON.", valueName: "file"))
    var json: String?

    @Option(
        help: ArgumentHelp(
            "Write what all tasks did to a file: NAME.html is a page to open, NAME.json is for ui.perfetto.dev. May be given several times.",
            valueName: "file"
        )
    )
    var trace: [String] = []

    func validate() throws {
        let names = Chapters.all.map(\.name)
        guard chapter.allSatisfy(names.contains) else {
            throw ValidationError("The chapters are \(names.joined(separator: ", ")).")
        }
        guard trace.allSatisfy({ $0.hasSuffix(".html") || $0.hasSuffix(".json") }) else {
            throw ValidationError("The name of a trace ends with .html or with .json.")
        }
    }

    func run() async throws {
        do {
            // Asked before the tour, which takes minutes: its results should not be lost.
            let file = try json.map { try ResultFile(path: $0) }
            for path in trace { _ = try ResultFile(path: path) }
            // A whole tour is some 150,000 events.
            let recorder = TraceRecorder(capacity: trace.isEmpty ? 1 : 500_000)
            let observation = trace.isEmpty ? nil : TaskDiagnostics.observe(recorder)
            defer { observation?.end() }
            let result = try await play()
            result.lines.forEach(Terminal.print)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try file?.write(encoder.encode(result))
            for path in trace {
                let title = "Tour: \(result.chapters.map(\.name).joined(separator: ", "))"
                try recorder.write(path.hasSuffix(".html") ? .html : .perfetto, to: path, title: title)
                Terminal.print("What all tasks did is in \(path).")
            }
            if !result.failed.isEmpty { throw ExitCode.failure }
        } catch let error where !(error is ExitCode) {
            Terminal.complain("\(error)")
            throw ExitCode(EX_IOERR)
        }
    }

    private func play() async throws -> TourResult {
        let seed = seed ?? UInt64.random(in: 1...999_999)
        let chapters = Chapters.all.filter { chapter.isEmpty || chapter.contains($0.name) }
        // For a task of a model that never ends. A wait of the tour itself gives up earlier, and says for what it waited.
        let watchdog = Task.detached {
            try await Task.sleep(for: .seconds(90 * chapters.count))
            Terminal.complain("a task that should have ended has not")
            Foundation.exit(EX_SOFTWARE)
        }
        defer { watchdog.cancel() }
        return try await TourServer.whileRunning { server in
            Terminal.print("A server listens on \(server.address). Seed \(seed); to repeat: --seed \(seed)")
            Terminal.print("Each chapter measures code without TaskControl (naive) and with it. A table follows.")
            return await Tour(server: server, seed: seed).run(chapters)
        }
    }
}
