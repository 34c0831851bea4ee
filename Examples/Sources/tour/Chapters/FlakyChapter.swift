import TaskControlHTTP

/// A server on a bad day: it refuses three requests of ten and breaks off one. Who gets through, and at what cost?
struct FlakyChapter: Chapter {
    let name = "flaky"
    let title = "The flaky server"

    static let attempts = 4
    static let items = (1...60).map { "item \($0)" }

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let faults = Faults(seed: tour.seed)
        let naive = try await play(OneTryLoader(), as: "naive, one try", faults, on: tour)
        let loop = try await play(LoopLoader(), as: "naive, a loop", faults, on: tour)
        let retried = try await play(RetryLoader(seed: tour.seed), as: "retry", faults, on: tour)
        let policies = ClientPolicies(retry: HTTPRetryPolicy(attempts: Self.attempts, budget: RetryBudget()))
        let client = try await play(OneTryLoader(), as: "HTTPRetryPolicy", faults, policies: policies, on: tour)
        let all = Self.items.count
        let counts = Self.items.map { faults.count(for: $0) }
        let needed = all + counts.reduce(0, +)
        return Report(
            naive: [
                "one try: \(naive.loaded) of \(all) calls succeed",
                "a loop: \(loop.loaded) of \(all), with \(loop.requests) requests, \(loop.tooSoon) of them too soon",
            ],
            taskControl: [
                "retry: \(retried.loaded) of \(all), with \(retried.requests) requests",
                "HTTPRetryPolicy: \(client.loaded) of \(all), with \(client.requests) requests",
            ],
            claims: [
                Claim("naive, one try: whatever meets a fault fails", naive.loaded, is: counts.count { $0 == 0 }),
                Claim("naive, one try: that is some of them", naive.loaded) { $0 < all },
                Claim("naive, a loop: it comes back sooner than the server has asked for", loop.tooSoon) { $0 > 0 },
                Claim("naive, a loop: some fail all the same", loop.loaded) { $0 < all },
                Claim("retry: it never comes back too soon", retried.tooSoon, is: 0),
                Claim("retry: every call succeeds", retried.loaded, is: all),
                Claim(
                    "retry: one request for each call and one for each fault, and no more",
                    retried.requests,
                    is: needed
                ),
                Claim("HTTPRetryPolicy: it never comes back too soon", client.tooSoon, is: 0),
                Claim("HTTPRetryPolicy: every call succeeds", client.loaded, is: all),
                Claim(
                    "HTTPRetryPolicy: one request for each call and one for each fault, and no more",
                    client.requests,
                    is: needed
                ),
            ]
        )
    }

    @MainActor
    private func play(
        _ loader: some Loader,
        as act: String,
        _ faults: Faults,
        policies: ClientPolicies = ClientPolicies(),
        on tour: Tour
    ) async throws -> (loaded: Int, requests: Int, tooSoon: Int) {
        try await tour.act(act, of: self, rule: faults.reply, policies: policies) { stage, api in
            stage.open()
            let loads = Self.items.map { item in Task { try await loader.load(item, from: api) } }
            var loaded = 0
            for load in loads where (try? await load.value) != nil { loaded += 1 }
            try await stage.visits.expect("all requests to end") { $0.inFlight == 0 }
            let visits = stage.visits.value.all
            let tooSoon = visits.count { $0.reply == .tooSoon(retryAfter: Faults.retryAfter) }
            return (loaded, visits.count, tooSoon)
        }
    }
}
