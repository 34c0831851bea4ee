import ArgumentParser
import Foundation
import TaskControl
import TaskControlTrace
import Testing

@testable import tour

@Suite(.timeLimit(.minutes(15)))
struct OutputTests {
    @Test func aLongLineWrapsAtSpacesAndKeepsItsIndentation() {
        #expect(Table.wrap("  one two three", to: 9) == ["  one two", "  three"])
        #expect(Table.wrap("short", to: 9) == ["short"])
        #expect(Table.wrap("", to: 9) == [""])
    }

    @Test func columnsLineUpWithinAHundredCharacters() {
        var table = Table(header: ["Chapter", "Naive", "TaskControl"])
        table.append([["a title that is longer than its column"], ["x"], ["y", "z"]])
        let bars = Set(table.lines.filter { $0.contains("|") }.map { line in line.firstIndex(of: "|")! })
        #expect(bars.count == 1)
        #expect(table.lines.allSatisfy { $0.count <= 100 })
    }

    @Test func resultsAreReadBackFromTheirJSON() throws {
        let report = Report(naive: ["a"], taskControl: ["b"], claims: [Claim("c", holds: false, measured: "d")])
        let chapter = ChapterResult(name: "n", title: "t", report: report, seconds: 1.5)
        let data = try JSONEncoder().encode(TourResult(seed: 3, chapters: [chapter]))
        let result = try JSONDecoder().decode(TourResult.self, from: data)
        #expect(result.seed == 3)
        #expect(!result.holds)
        #expect(result.chapters.first?.failedClaims.map(\.text) == ["c"])
    }

    @Test func aTraceIsWrittenInTheFormThatItsNameSays() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("trace-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (page, json) = (folder.appendingPathComponent("a.html").path, folder.appendingPathComponent("a.json").path)
        let recording = try #require(TraceRecording(for: TourCommand.parse(["--trace", page, "--trace", json]).trace))
        await FIFOQueue(name: "notes").addTask(name: "noted") {}.value
        try recording.write(title: "a tour")
        let (html, text) = try (
            String(contentsOfFile: page, encoding: .utf8), Data(contentsOf: URL(fileURLWithPath: json))
        )
        #expect(html.hasPrefix("<!doctype html>") && html.contains("noted") && html.contains("a tour"))
        let trace = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
        let names = (trace["traceEvents"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
        #expect(names.contains { $0.contains("noted") })
    }

    @Test func aTraceInNoFormIsAnErrorOfTheCommandLine() {
        #expect(throws: (any Error).self) { try TourCommand.parse(["--trace", "trace.txt"]) }
    }

    @Test(arguments: [
        ("/nowhere/trace.html", "there is no folder /nowhere"),
        ("/dev/null/trace.html", "there is no folder /dev/null"),
    ])
    func aFileThatCannotBeWrittenIsAnErrorBeforeTheChapters(_ path: String, _ words: String) async throws {
        #expect(Obstacle(toWriting: path)?.description == words)
        for option in ["--trace", "--json"] {
            let command = try TourCommand.parse([option, path])
            await #expect(throws: ExitCode(EX_IOERR)) { try await command.run() }
        }
        #expect(Obstacle(toWriting: "trace.html") == nil)
    }

    @Test func aFolderIsNoFileToWriteTo() {
        #expect(Obstacle(toWriting: "/dev")?.description == "/dev is a folder")
    }

    @Test func aTraceThatCannotBeWrittenSaysSo() throws {
        let recording = try #require(TraceRecording(for: TourCommand.parse(["--trace", "/nowhere/trace.html"]).trace))
        #expect(throws: TraceWriteError.self) { try recording.write(title: "a tour") }
        #expect(try TraceRecording(for: TourCommand.parse([]).trace) == nil)
    }
}
