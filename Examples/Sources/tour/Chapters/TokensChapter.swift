import TaskControlHTTP

/// The access token expires while many requests are about to use it: how many of them ask for a new one?
struct TokensChapter: Chapter {
    let name = "tokens"
    let title = "The token expires"

    private static let requests = 200
    private static let expired = 1

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let naive = try await play(NaiveAccount.self, as: "naive", on: tour)
        let shared = try await play(SharedAccount.self, as: "withSingleFlight", on: tour)
        let client = try await play(ClientAccount.self, as: "EndpointAuthenticator", on: tour)
        let all = Self.requests
        return Report(
            naive: ["\(naive.visits.received("token")) new tokens for \(naive.refused) refused requests"],
            taskControl: [
                "withSingleFlight: \(shared.visits.received("token")) new token, \(shared.loaded) of \(all) then succeed",
                "EndpointAuthenticator: \(client.visits.received("token")) new token, \(client.loaded) of \(all) then succeed",
            ],
            claims: [
                Claim("naive: every request met the expired token", naive.refused, is: all),
                Claim("naive: every one of them asks for a new token", naive.visits.received("token"), is: all),
                Claim("withSingleFlight: every request met the expired token", shared.refused, is: all),
                Claim("withSingleFlight: one new token is asked for", shared.visits.received("token"), is: 1),
                Claim("withSingleFlight: every request succeeds with it", shared.loaded, is: all),
                Claim("withSingleFlight: the server still refuses the old one", shared.oldIsRefused, is: true),
                Claim("EndpointAuthenticator: every request met the expired token", client.refused, is: all),
                Claim("EndpointAuthenticator: one new token is asked for", client.visits.received("token"), is: 1),
                Claim("EndpointAuthenticator: every request succeeds with it", client.loaded, is: all),
                Claim(
                    "EndpointAuthenticator: each is sent once more, and no more than that",
                    client.visits.received - client.visits.received("token"),
                    is: 2 * all
                ),
            ]
        )
    }

    @MainActor
    private func play<Model: Account>(_: Model.Type, as act: String, on tour: Tour) async throws -> (
        refused: Int, loaded: Int, visits: Visits, oldIsRefused: Bool
    ) {
        try await tour.act(act, of: self, rule: Self.rule) { stage, api in
            let refused = Observed(0)
            let account = Model(address: api.address, token: Self.expired, refused: refused)

            stage.publish()
            let loads = (1...Self.requests).map { account.load("item \($0)") }
            // No request is refused before all are on their way: a later one could have the new token.
            try await stage.visits.expect("the first requests") { $0.received == API.connections }
            stage.open(except: "token")
            // No new token comes before all requests have met the old one.
            let all = Self.requests
            try await refused.expect("\(all) requests to be refused") { $0 == all }
            // The server knows that an answer was taken a moment after the client has it.
            try await stage.visits.expect("the server to know of it") { $0.refused >= all && $0.hasReceived("token") }
            let refusals = stage.visits.value.refused
            stage.open()

            var loaded = 0
            for load in loads where (try? await load.value) != nil { loaded += 1 }
            let visits = stage.visits.value
            let again = await Result.of { try await api.ask("item 1", token: Self.expired) }
            return (refusals, loaded, visits, (again.failure as? EndpointError)?.statusCode == 401)
        }
    }

    /// A token is the edition in which it was issued, and expires with it.
    static let rule: Rule = { visit, _ in
        visit.subject == "token" || visit.token == visit.edition ? .answer : .unauthorized
    }
}
