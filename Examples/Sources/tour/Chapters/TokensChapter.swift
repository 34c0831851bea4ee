/// The access token expires while many requests are about to use it: how many of those who find out ask for a new one?
struct TokensChapter: Chapter {
    let name = "tokens"
    let title = "The token expires"

    private static let requests = 500
    private static let expired = 1

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let naive = try await play(NaiveAccount.self, as: "naive", on: tour)
        let shared = try await play(SharedAccount.self, as: "withSingleFlight", on: tour)
        let all = Self.requests
        return Report(
            naive: naive.lines,
            taskControl: shared.lines,
            claims: [
                Claim("naive: every request met the expired token", naive.refused, is: all),
                Claim("naive: every one of them asks for a new token", naive.refreshes, is: all),
                Claim("withSingleFlight: every request met the expired token", shared.refused, is: all),
                Claim("withSingleFlight: one new token is asked for", shared.refreshes, is: 1),
                Claim("withSingleFlight: every request succeeds with it", shared.loaded, is: all),
                Claim("withSingleFlight: the server still refuses the old one", shared.oldIsRefused, is: true),
            ]
        )
    }

    @MainActor
    private func play<Model: Account>(_: Model.Type, as act: String, on tour: Tour) async throws -> Measured {
        try await tour.act(act, of: self, rule: Self.rule) { stage, api in
            // Tokens come from elsewhere, as they mostly do: requests for them do not stand in line behind those for items.
            let tokens = API(address: api.address)
            defer { tokens.close() }
            let refused = Observed(0)
            let account = Model(api: api, tokens: tokens, token: Self.expired, refused: refused)

            stage.publish()
            stage.open(except: "token")
            let loads = (1...Self.requests).map { account.load("item \($0)") }
            // No new token comes before everybody has met the old one.
            let all = Self.requests
            try await refused.expect("\(all) requests to be refused", within: .seconds(20)) { $0 == all }
            // The server knows that an answer was taken a moment after the client has it.
            try await stage.visits.expect("the server to know of it") { $0.refused >= all && $0.hasReceived("token") }
            let refusals = stage.visits.value.refused
            stage.open()

            var loaded = 0
            for load in loads where (try? await load.value.edition) == account.token { loaded += 1 }
            let again = await Result.of { try await api.ask("item 1", token: Self.expired) }
            return Measured(
                refused: refusals,
                refreshes: stage.visits.value.received("token"),
                loaded: loaded,
                oldIsRefused: (again.failure as? Refusal)?.status == 401
            )
        }
    }

    /// A token is the edition in which it was issued, and expires with it.
    static let rule: Rule = { visit, _ in
        visit.subject == "token" || visit.token == visit.edition ? .answer : .unauthorized
    }

    private struct Measured: Sendable {
        let refused: Int
        let refreshes: Int
        let loaded: Int
        let oldIsRefused: Bool

        var lines: [String] {
            [
                "\(refused) requests refused: 401",
                "\(refreshes) new token\(refreshes == 1 ? "" : "s") asked for",
                "\(loaded) of \(requests) then succeed",
            ]
        }
    }
}
