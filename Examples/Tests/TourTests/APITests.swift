import TaskControlHTTP
import Testing

@testable import tour

/// The facts on which the claims of all chapters that ask a server rest.
@Suite(.timeLimit(.minutes(15)))
struct APITests {
    @Test func aRefusalSaysWhichAndHowLongToWait() async throws {
        try await TourServer.whileRunning { server in
            let (stage, address) = server.makeStage { _, _ in .unavailable(retryAfter: 7) }
            let api = API(address: address)
            stage.open()
            let refused = await Result.of { try await api.ask("page") }
            let error = try #require(refused.failure as? EndpointError)
            #expect(error.statusCode == 503)
            #expect(error.retryAfter == .seconds(7))
            #expect(api.calls.value.failed == 1)
        }
    }

    @Test func whatIsBrokenOffIsNoAnswer() async throws {
        try await TourServer.whileRunning { server in
            let (stage, address) = server.makeStage { _, _ in .breakOff }
            let api = API(address: address)
            stage.open()
            let broken = await Result.of { try await api.ask("page") }
            #expect((broken.failure as? EndpointError)?.reason == .transport)
            #expect(api.calls.value.failed == 1)
        }
    }

    @Test func aCallIsOneHoweverOftenItIsSent() async throws {
        try await TourServer.whileRunning { server in
            let (stage, address) = server.makeStage { _, earlier in earlier.isEmpty ? .breakOff : .answer }
            let api = API(address: address, policies: ClientPolicies(retry: HTTPRetryPolicy()))
            stage.open()
            let answer = try await api.ask("page")
            #expect(answer.subject == "page")
            #expect(stage.visits.value.received == 2)
            #expect(api.calls.value.answered == 1)
            #expect(api.calls.value.ended == 1)
        }
    }

    @Test func aCallThatIsCancelledIsCountedAsThat() async throws {
        try await TourServer.whileRunning { server in
            let (stage, address) = server.makeStage { _, _ in .answer }
            let api = API(address: address)
            let call = Task { try await api.ask("page") }
            try await stage.visits.expect("the request") { $0.hasReceived("page") }
            call.cancel()
            let ending = await call.result
            #expect(ending.failure is CancellationError)
            #expect(api.calls.value.cancelled == 1)
            try await stage.visits.expect("the client to leave") { $0.gone == 1 }
        }
    }
}
