import TaskControlHTTP
import Testing

@testable import tour

/// The facts on which the chapter's claims rest.
@Suite(.timeLimit(.minutes(15)))
@MainActor
struct TokensTests {
    @Test func onlyTheNewestTokenIsGoodForAnything() async throws {
        try await play { stage, api in
            #expect(try await api.ask("item", token: 1).subject == "item")
            stage.publish()
            for token in [nil, 1, 3] {
                let refused = await Result.of { try await api.ask("item", token: token) }
                #expect((refused.failure as? EndpointError)?.statusCode == 401)
            }
            let token = try await api.ask("token").edition
            #expect(token == 2)
            #expect(try await api.ask("item", token: token).subject == "item")
            try await stage.visits.expect("three refusals") { $0.refused == 3 }
        }
    }

    @Test func aRequestThatComesLateUsesTheTokenThatIsThere() async throws {
        try await play { stage, api in
            stage.publish()
            for Model: any Account.Type in [NaiveAccount.self, SharedAccount.self, ClientAccount.self] {
                let refused = Observed(0)
                let account = Model.init(address: api.address, token: 1, refused: refused)
                let before = stage.visits.value.received("token")
                for item in 1...3 {
                    let answer = try await account.load("item \(item)").value
                    #expect(answer.edition == 2)
                }
                #expect(stage.visits.value.received("token") == before + 1)
                #expect(refused.value == 1)
            }
        }
    }

    private func play(_ body: @MainActor @Sendable (Stage, API) async throws -> Void) async throws {
        try await TourServer.whileRunning { server in
            let (stage, address) = server.makeStage(rule: TokensChapter.rule)
            let api = API(address: address)
            stage.open()
            try await body(stage, api)
        }
    }
}
