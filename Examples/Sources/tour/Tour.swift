import Foundation
import TaskControlHTTP

/// One tour: what its chapters need to play.
struct Tour: Sendable {
    let server: TourServer
    let seed: UInt64

    /// Plays chapters, one after the other. A chapter that cannot be played to its end counts as a claim that does not hold.
    @MainActor
    func run(_ chapters: [any Chapter]) async -> TourResult {
        var results: [TourResult.Chapter] = []
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
            results.append(.init(name: chapter.name, title: chapter.title, report: report, seconds: seconds))
        }
        Terminal.show(progress: "")
        return TourResult(seed: seed, chapters: results)
    }

    /// Plays an act, with counters and connections that no other act has. The connections are closed when its client goes, and that is here.
    ///
    /// The rule decides what the server does with each request. By default it answers all, and the act's client has no policies.
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
        defer { Progress(chapter: chapter.name, act: name).finish(stage.visits.value) }
        return try await play(stage, api)
    }
}

/// Shows what an act has come to.
struct Progress {
    let chapter: String
    let act: String

    func finish(_ state: some CustomStringConvertible) { Terminal.show(progress: "\(chapter), \(act): \(state)") }
}
