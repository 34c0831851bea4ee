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
        let loader = RetryLoader(seed: tour.seed)
        let retried = try await play(loader, as: "retry", faults, on: tour)
        let budget = RetryBudget()
        let policy = HTTPRetryPolicy(attempts: Self.attempts, budget: .shared(budget))
        let client = try await play(
            OneTryLoader(),
            as: "HTTPRetryPolicy",
            faults,
            policies: ClientPolicies(retry: policy),
            on: tour
        )
        let all = Self.items.count
        let counts = Self.items.map { faults.count(for: $0) }
        return Report(
            naive: Report.group("one try", naive.lines) + Report.group("a loop, without delays", loop.lines),
            taskControl: Report.group("retry", retried.lines + [loader.budget.line])
                + Report.group("one try, a client with an HTTPRetryPolicy", client.lines + [budget.line]),
            claims: [
                Claim("naive, one try: whatever meets a fault fails", naive.loaded, is: counts.count { $0 == 0 }),
                Claim("naive, one try: that is some of them", holds: naive.loaded < all, measured: "\(naive.loaded)"),
                Claim(
                    "naive, a loop: it comes back sooner than the server has asked for",
                    holds: loop.tooSoon > 0,
                    measured: "\(loop.tooSoon) times"
                ),
                Claim("naive, a loop: some fail all the same", holds: loop.loaded < all, measured: "\(loop.loaded)"),
                Claim("retry: it never comes back too soon", retried.tooSoon, is: 0),
                Claim("retry: every call succeeds", retried.loaded, is: all),
                Claim(
                    "retry: one request for each call and one for each fault, and no more",
                    retried.requests,
                    is: all + counts.reduce(0, +)
                ),
                Claim("HTTPRetryPolicy: it never comes back too soon", client.tooSoon, is: 0),
                Claim("HTTPRetryPolicy: every call succeeds", client.loaded, is: all),
                Claim(
                    "HTTPRetryPolicy: one request for each call and one for each fault, and no more",
                    client.requests,
                    is: all + counts.reduce(0, +)
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
    ) async throws -> Measured {
        try await tour.act(act, of: self, rule: faults.reply, policies: policies) { stage, api in
            stage.open()
            let start = ContinuousClock.now
            let loads = Self.items.map { item in Task { try await loader.load(item, from: api) } }
            var loaded = 0
            for load in loads where (try? await load.value) != nil { loaded += 1 }
            let time = ContinuousClock.now - start
            try await stage.visits.expect("all requests to end") { $0.inFlight == 0 }
            return Measured(loaded: loaded, visits: stage.visits.value.all, time: time)
        }
    }

    private struct Measured: Sendable {
        let loaded: Int
        let requests: Int
        let tooSoon: Int
        let time: Duration

        init(loaded: Int, visits: [Visit], time: Duration) {
            self.loaded = loaded
            requests = visits.count
            tooSoon = visits.count { $0.reply == .tooSoon(retryAfter: Faults.retryAfter) }
            self.time = time
        }

        var lines: [String] {
            [
                "\(loaded) of \(items.count) calls succeed (\(loaded * 100 / items.count) %)",
                "\(requests) requests, \(tooSoon) of them too soon",
                "all done after \(time.inMilliseconds)",
            ]
        }
    }
}
