import ArgumentParser
import Foundation

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
    var chapter: [ChapterName] = []

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
    var trace: [TraceFile] = []

    func run() async throws {
        let files = trace.map { ("the trace", $0.path) } + (json.map { [("the file of results", $0)] } ?? [])
        for (file, path) in files {
            guard let obstacle = Obstacle(toWriting: path) else { continue }
            Terminal.complain("\(file) cannot be written: \(obstacle)")
            throw ExitCode(EX_IOERR)
        }
        let seed = seed ?? UInt64.random(in: 1...999_999)
        let chapters = Chapters.all.filter { one in chapter.isEmpty || chapter.contains { $0.name == one.name } }
        let watchdog = Watchdog(limit: .seconds(90 * chapters.count))
        let recording = TraceRecording(for: trace)
        let result = try await TourServer.whileRunning { server in
            Terminal.print("A server listens on \(server.address). Seed \(seed); to repeat: --seed \(seed)")
            Terminal.print("Each chapter measures code without TaskControl (naive) and with it. A table follows.")
            return await Tour(server: server, seed: seed).run(chapters)
        }
        watchdog.stop()
        result.show()
        if let json { try write(result, to: json) }
        try write(recording, of: chapters)
        if !result.holds { throw ExitCode.failure }
    }

    private func write(_ recording: TraceRecording?, of chapters: [any Chapter]) throws {
        do {
            try recording?.write(title: "Tour: \(chapters.map(\.name).joined(separator: ", "))")
        } catch {
            Terminal.complain("\(error)")
            throw ExitCode(EX_IOERR)
        }
    }

    private func write(_ result: TourResult, to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try encoder.encode(result).write(to: URL(fileURLWithPath: path))
        } catch {
            Terminal.complain("the results could not be written to \(path): \(error.localizedDescription)")
            throw ExitCode(EX_IOERR)
        }
    }
}

/// A chapter's name on the command line.
struct ChapterName: ExpressibleByArgument {
    let name: String

    static var allValueStrings: [String] { Chapters.all.map(\.name) }

    init?(argument: String) {
        guard Self.allValueStrings.contains(argument) else { return nil }
        name = argument
    }
}
