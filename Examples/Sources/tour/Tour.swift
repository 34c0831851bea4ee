import Foundation
import TaskControlHTTP

/// One tour: what its chapters need to play.
struct Tour: Sendable {
    let server: TourServer
    let seed: UInt64

    /// Plays chapters, one after the other. A chapter that cannot be played to its end counts as a claim that does not hold.
    @MainActor
    func run(_ chapters: [any Chapter]) async -> TourResult {
        var results: [ChapterResult] = []
        for chapter in chapters {
            let start = ContinuousClock.now
            let report: Report
            do {
                report = try await chapter.run(self)
            } catch {
                let claim = Claim("the chapter can be played to its end", holds: false, measured: "\(error)")
                report = Report(naive: [], taskControl: [], claims: [claim])
            }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            results.append(
                ChapterResult(
                    name: chapter.name,
                    title: chapter.title,
                    report: report,
                    seconds: (seconds * 1000).rounded() / 1000
                )
            )
        }
        Progress.clear()
        return TourResult(seed: seed, chapters: results)
    }

    /// Plays an act, with counters and connections that no other act has. The connections are closed when its client goes, and that is here.
    ///
    /// - Parameters:
    ///   - rule: Decides what the server does with each request. By default it answers all.
    ///   - policies: The policies of the act's client. By default there are none.
    @MainActor
    func act<Result>(
        _ name: String,
        of chapter: some Chapter,
        rule: @escaping Rule = { _, _ in .answer },
        policies: ClientPolicies = ClientPolicies(),
        _ play: @MainActor (Stage, API) async throws -> Result
    ) async throws -> Result {
        let (stage, address) = server.makeStage(rule: rule)
        let api = API(name: name, address: address, policies: policies)
        let progress = Progress(chapter: chapter.name, act: name)
        let live = Task { await progress.follow(stage.visits) }
        defer {
            live.cancel()
            progress.finish(stage.visits.value)
        }
        return try await play(stage, api)
    }
}
