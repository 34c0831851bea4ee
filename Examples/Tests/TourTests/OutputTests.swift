import Foundation
import Testing

@testable import tour

@Suite(.timeLimit(.minutes(1)))
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
}
