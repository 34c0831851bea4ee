import TaskControlHTTP
import Testing

@testable import tour

/// The facts on which the chapter's claims rest.
@Suite(.timeLimit(.minutes(15)))
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
        try await whileAsking({ try await $0.askStubbornly("page") }) { stage, call in
            call.cancel()
            stage.open()
            let answer = try await call.value
            #expect(answer.subject == "page")
        }
    }

    @Test func theLegacyClientLeavesWithACancellableContinuation() async throws {
        try await whileAsking({ try await $0.ask("page") }) { stage, call in
            call.cancel()
            #expect(await Ending(call.result) == .cancellation)
            try await stage.visits.expect("the client to leave") { $0.gone == 1 }
        }
    }

    @Test func anEndpointThatNeverAnswersNeverDoes() async throws {
        try await TourServer.whileRunning { server in
            let (stage, address) = server.makeStage { _, _ in .answer }
            let api = API(address: address)
            stage.open(except: "page")
            let call = Task { try await api.ask("page") }
            #expect(try await api.ask("news").subject == "news")
            try await stage.visits.expect("the request") { $0.hasReceived("page") }
            #expect(stage.visits.value.inFlight("page") == 1)
            call.cancel()
            try await stage.visits.expect("the client to leave") { $0.gone == 1 }
        }
    }

    /// Plays with a call of the legacy client that the server has and does not answer.
    private func whileAsking(
        _ ask: @escaping @Sendable (LegacyClient) async throws -> Answer,
        _ body: @MainActor @Sendable (Stage, Task<Answer, any Error>) async throws -> Void
    ) async throws {
        try await TourServer.whileRunning { server in
            let (stage, address) = server.makeStage { _, _ in .answer }
            let legacy = LegacyClient(address: address)
            defer { legacy.close() }
            let call = Task { try await ask(legacy) }
            try await stage.visits.expect("the request") { $0.hasReceived("page") }
            try await body(stage, call)
        }
    }
}
