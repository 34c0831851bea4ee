import TaskControlTesting
import Testing

@testable import tour

/// The facts on which the chapter's claims rest, whatever the seed.
@Suite(.timeLimit(.minutes(15)))
@MainActor
struct StampedeTests {
    @Test func theOrdinaryTestPassesEveryTime() async throws {
        for _ in 0..<2_000 {
            #expect(try await StampedeChapter.refreshes(with: NaiveTokenCache.self) == 1)
            #expect(try await StampedeChapter.refreshes(with: SharedTokenCache.self) == 1)
        }
    }

    @Test(.enabled(if: Simulation.isSupported))
    func aSeedThatFailsIsNeverFar() throws {
        var passed = 0
        for seed in UInt64(0)..<2_000 {
            passed = failure(of: NaiveTokenCache.self, seed: seed) == nil ? passed + 1 : 0
            #expect(passed < 25, "seed \(seed)")
        }
    }

    @Test(.enabled(if: Simulation.isSupported))
    func noSeedFailsTheMendedCache() throws {
        try simulate(seeds: 0..<4_000) { @MainActor sim in
            try await StampedeChapter.check(SharedTokenCache.self, in: sim)
        }
    }

    @Test(.enabled(if: Simulation.isSupported))
    func theTranscriptSaysWhyAndHowToReplayAndWhoHasWhichToken() throws {
        for seed in UInt64(0)..<500 {
            guard let failure = failure(of: NaiveTokenCache.self, seed: seed) else { continue }
            let lines = StampedeChapter.transcript(of: failure)
            #expect(lines[0].contains("the token is refreshed once, not 2 times"))
            #expect(lines[1].contains("simulate(seed: \(seed), strategy: "))
            #expect(lines.contains { $0.contains("the feed has token") })
            #expect(lines.contains { $0.contains("the profile has token") })
            #expect(lines.count <= 15 && lines.allSatisfy { $0.count <= 98 })
            #expect(StampedeChapter.transcript(of: failure, longest: 2).count == 5)
        }
    }

    @Test func withoutASimulationTheChapterIsSkippedAndHolds() async throws {
        let result = try await TourServer.whileRunning { server in
            await Tour(server: server, seed: 1).run([StampedeChapter(isSupported: { false })])
        }
        #expect(result.holds)
        #expect(result.chapters.first?.report.taskControl == ["skipped: there is no simulation here"])
    }

    private func failure<Tokens: TokenCache>(of _: Tokens.Type, seed: UInt64) -> SimulationFailure? {
        do {
            try simulate(seed: seed) { @MainActor sim in try await StampedeChapter.check(Tokens.self, in: sim) }
            return nil
        } catch {
            return error as? SimulationFailure
        }
    }
}
