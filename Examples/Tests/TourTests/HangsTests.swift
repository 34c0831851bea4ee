import TaskControl
import Testing

@testable import tour

/// What the chapter's claims rest on.
@Suite(.timeLimit(.minutes(1)))
@MainActor
struct HangsTests {
    @Test func anEndingTellsATimeLimitFromACancellation() {
        let limit = Duration.milliseconds(300)
        #expect(Ending(.failure(TimeoutError(duration: limit))) == .timeout(limit))
        #expect(Ending(.failure(TimeoutError(duration: limit))) != .timeout(limit * 2))
        #expect(Ending(.failure(CancellationError())) == .cancellation)
        #expect(Ending(.success(Answer(subject: "news", edition: 1))) == .answered("news"))
    }

    @Test func theLegacyClientWaitsForItsAnswerAlthoughItIsCancelled() async throws {
        try await TourServer.whileRunning { server in
            let (stage, address) = server.makeStage { _, _ in .answer }
            let api = API(address: address)
            let legacy = LegacyClient(api: api)
            defer {
                legacy.close()
                api.close()
            }
            let call = Task { try await legacy.ask("page") }
            try await stage.visits.expect("the request") { $0.hasReceived("page") }
            call.cancel()
            stage.open()
            #expect(try await call.value.subject == "page")
        }
    }

    @Test func anEndpointThatNeverAnswersNeverDoes() async throws {
        try await TourServer.whileRunning { server in
            let (stage, address) = server.makeStage { _, _ in .answer }
            let api = API(address: address)
            defer { api.close() }
            stage.open(except: "page")
            let call = Task { try await api.ask("page") }
            #expect(try await api.ask("news").subject == "news")
            try await stage.visits.expect("the request") { $0.hasReceived("page") }
            #expect(stage.visits.value.inFlight("page") == 1)
            call.cancel()
            try await stage.visits.expect("the client to leave") { $0.gone == 1 }
        }
    }
}
