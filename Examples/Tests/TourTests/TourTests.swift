import ArgumentParser
import Foundation
import Support
import TaskControlTesting
import Testing

@testable import tour

@Suite(.serialized, .timeLimit(.minutes(15)))
struct TourTests {
    @Test(arguments: Chapters.all.map(\.name)) func everyClaimHolds(chapter name: String) async throws {
        let chapters = Chapters.all.filter { $0.name == name }
        let result = try await TourServer.whileRunning { await Tour(server: $0, seed: 7).run(chapters) }
        for (_, claim) in result.failed { Issue.record("\(claim.text); measured: \(claim.measured)") }
        #expect(!result.chapters[0].report.claims.isEmpty || !Simulation.isSupported)
    }

    @Test func aClaimThatDoesNotHoldIsPrintedAndReadBackFromTheJSON() throws {
        let report = Report(naive: ["a"], taskControl: ["b"], claims: [Claim("c", 1, is: 2), Claim("d", 1) { $0 > 0 }])
        let result = TourResult(seed: 3, chapters: [.init(name: "n", title: "t", report: report, seconds: 1.5)])
        #expect(result.lines.contains("DOES NOT HOLD  n: c; measured: 1"))
        #expect(result.lines.last == "1 of 2 claims do not hold. To repeat: --seed 3")
        let read = try JSONDecoder().decode(TourResult.self, from: JSONEncoder().encode(result))
        #expect(read.failed.map(\.claim.text) == ["c"])
    }

    @Test(arguments: [["--trace", "trace.txt"], ["--chapter", "none"], ["--seed", "-1"]])
    func aBadArgumentIsAnError(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try TourCommand.parse(arguments) }
    }

    @Test(arguments: ["--trace", "--json"])
    func aFileThatCannotBeWrittenIsAnErrorBeforeTheChapters(_ option: String) async throws {
        let command = try TourCommand.parse([option, "/nowhere/tour.json"])
        await #expect(throws: ExitCode(EX_IOERR)) { try await command.run() }
    }

    @Test func aTraceIsWrittenInTheFormThatItsNameSays() async throws {
        try await TemporaryFolder.whileThere { folder in
            let (page, json) = (folder.appending(path: "a.html"), folder.appending(path: "a.json"))
            let command = try TourCommand.parse(["--chapter", "log", "--trace", page.path, "--trace", json.path])
            try await command.run()
            let html = try String(contentsOf: page, encoding: .utf8)
            #expect(html.hasPrefix("<!doctype html>") && html.contains("Tour: log"))
            let trace = try JSONSerialization.jsonObject(with: Data(contentsOf: json)) as? [String: Any]
            #expect((trace?["traceEvents"] as? [Any])?.isEmpty == false)
        }
    }
}

/// The claims hold whatever the seed: what a seed decides is as the chapters need it.
struct SeedTests {
    @Test(arguments: UInt64(0)..<200)
    func aSeedDecidesWhatTheChaptersNeed(_ seed: UInt64) throws {
        // An early query is answered last of all, and each query after it was typed.
        let search = SearchScript(seed: seed)
        var typed: Set<String> = []
        for keystroke in search.keystrokes {
            typed.insert(keystroke.query)
            #expect(typed.isSuperset(of: keystroke.answersBeforeNext))
        }
        let answered = search.keystrokes.flatMap(\.answersBeforeNext)
        #expect(answered.sorted() == typed.sorted() && answered.last == search.slowestQuery)
        // The disk stalls in one draft, after the export and before the last.
        let save = SaveScript(seed: seed)
        #expect(save.drafts.count(where: \.stallsDisk) == 1)
        #expect(save.exported < save.stalled.number && save.stalled.number < save.last.number)
        // Some items fail, each goes well within the attempts, and a budget pays for all faults.
        let faults = Faults(seed: seed)
        let counts = FlakyChapter.items.map { faults.count(for: $0) }
        #expect(counts.contains { $0 > 0 } && counts.allSatisfy { $0 < FlakyChapter.attempts })
        let cost = zip(FlakyChapter.items, counts).reduce(0) { cost, item in
            (1..<item.1 + 1).reduce(cost) { $0 + (faults.reply(to: item.0, attempt: $1) == .breakOff ? 14 : 5) }
        }
        #expect(cost <= 500)
    }

    @Test(.enabled(if: Simulation.isSupported))
    func aSeedThatFailsIsNeverFar() throws {
        for seed in stride(from: UInt64(0), to: 1_000, by: 25) {
            let failure = try StampedeChapter.failure(with: NaiveTokenCache.self, seeds: seed..<seed + 50)
            #expect(failure != nil, "seed \(seed)")
        }
    }
}
