import TaskControl
import TaskControlTesting

/// Two callers find that the access token has expired, and both refresh it. That takes an order of events which a slow network brings
/// about, and the ordinary test never.
struct StampedeChapter: Chapter {
    let name = "stampede"
    let title = "The bug that only happens on Tuesdays"

    private static let runs = 200
    private static let seeds = 1_000
    /// The number of steps that would no longer be "at once".
    private static let patience = 50

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        guard Simulation.isSupported else {
            return Report(naive: ["skipped"], taskControl: ["skipped: there is no simulation here"], claims: [])
        }
        let naive = try await play(NaiveTokenCache.self, as: "naive", on: tour)
        let shared = try await play(SharedTokenCache.self, as: ".preferPrevious", on: tour)
        return Report(
            naive: [
                "ordinary test: passes \(naive.passed) of \(Self.runs) times", "simulated: \(naive.outcome)",
                "on a server: \(naive.refreshesOnServer) new tokens",
            ],
            taskControl: [
                "ordinary test: passes \(shared.passed) of \(Self.runs) times", "simulated: \(shared.outcome)",
                "on a server: \(shared.refreshesOnServer) new token",
            ],
            claims: [
                Claim("naive: the ordinary test passes every time", naive.passed, is: Self.runs),
                Claim("naive: on a server the token is refreshed twice all the same", naive.refreshesOnServer, is: 2),
                Claim(
                    "naive: the same test, simulated, fails within \(Self.patience) seeds",
                    holds: naive.failure != nil && naive.tried <= Self.patience,
                    measured: naive.outcome
                ),
                Claim(
                    "naive: that seed fails again and again, with the same schedule and the same trace",
                    naive.isFaithful,
                    is: true
                ),
                Claim("TaskControl: the ordinary test passes every time", shared.passed, is: Self.runs),
                Claim("TaskControl: on a server the token is refreshed once", shared.refreshesOnServer, is: 1),
                Claim(
                    "TaskControl: the same test, simulated, passes under \(Self.seeds) seeds",
                    holds: shared.failure == nil && shared.tried == Self.seeds,
                    measured: shared.outcome
                ),
            ],
            transcript: naive.failure.map(Self.transcript) ?? []
        )
    }

    @MainActor
    private func play<Tokens: TokenCache>(_: Tokens.Type, as act: String, on tour: Tour) async throws -> Measured {
        var passed = 0
        for _ in 1...Self.runs where try await Self.refreshes(with: Tokens.self) == 1 { passed += 1 }
        let first = min(tour.seed, .max - UInt64(Self.seeds))
        let failure = try Self.failure(with: Tokens.self, seeds: first..<first + UInt64(Self.seeds))
        return Measured(
            passed: passed,
            failure: failure,
            // The seeds up to the one that fails: its schedule is then run again, to shorten it.
            tried: failure.map { Int($0.seed - first) + 1 } ?? Self.seeds,
            isFaithful: try failure.map { try isFaithful($0, with: Tokens.self) },
            refreshesOnServer: try await serve(Tokens.self, as: act, on: tour)
        )
    }

    /// Runs the test of the app: its first screen opens, and the token is refreshed once. Returns how often it was refreshed.
    ///
    /// The same lines run with the real runtime and in the simulation. The stub suspends, as a server would; but the runtime serves the main actor
    /// and the actor of the stub in the order of arrival, so that the feed, which sends the first request, always has its token before the profile
    /// has its settings. A user's network does not guarantee this order.
    @MainActor
    private static func refreshes<Tokens: TokenCache>(
        with _: Tokens.Type,
        log: @escaping (String) -> Void = { _ in }
    ) async throws -> Int {
        let backend = StubBackend()
        let screen = HomeScreen(backend: backend, tokens: Tokens(backend: backend), log: log)
        let feed = Task(name: "feed") { try await screen.loadFeed() }
        let profile = Task(name: "profile") { try await screen.loadProfile() }
        try await feed.value
        try await profile.value
        return await backend.refreshes
    }

    /// Runs the same test, simulated, and returns the first failure.
    static func failure<Tokens: TokenCache>(with _: Tokens.Type, seeds: Range<UInt64>) throws -> Simulation.Failure? {
        do {
            try simulate(seeds: seeds) { @MainActor sim in
                let refreshes = try await refreshes(with: Tokens.self) { sim.note($0) }
                sim.expect(refreshes == 1, "the token is refreshed once, not \(refreshes) times")
            }
            return nil
        } catch let found as Simulation.Failure {
            return found
        }
    }

    /// Plays a seed that has failed twice more, and returns whether the failures and the runs are the same.
    private func isFaithful<Tokens: TokenCache>(_ first: Simulation.Failure, with _: Tokens.Type) throws -> Bool {
        var traces: Set<UInt64> = []
        for _ in 1...2 {
            let failure = try Self.failure(with: Tokens.self, seeds: first.seed..<first.seed + 1)
            guard failure?.schedule == first.schedule else { return false }
            // A failure has a schedule to read, and a run that comes to its end has a fingerprint: so, once more without the expectation.
            let run = try simulate(seed: first.seed) { @MainActor sim in
                _ = try await Self.refreshes(with: Tokens.self) { sim.note($0) }
            }
            traces.insert(run.fingerprint)
        }
        return traces.count == 1
    }

    /// Plays the first screen with a server. Only the order is changed: the settings come before the token. Returns how often a token was requested.
    @MainActor
    private func serve<Tokens: TokenCache>(_: Tokens.Type, as act: String, on tour: Tour) async throws -> Int {
        try await tour.act("\(act), a server", of: self) { stage, api in
            let log = Observed<[String]>([])
            let backend = RemoteBackend(api: api)
            let screen = HomeScreen(backend: backend, tokens: Tokens(backend: backend)) { line in
                log.update { $0.append(line) }
            }
            let feed = Task { try await screen.loadFeed() }
            let profile = Task { try await screen.loadProfile() }
            try await stage.visits.expect("both requests") { $0.hasReceived("token") && $0.hasReceived("settings") }
            stage.answer("settings")
            try await log.expect("the profile to ask for a token") { $0.contains("the profile asks for a token") }
            stage.open()
            try await feed.value
            try await profile.value
            return stage.visits.value.received("token")
        }
    }

    private struct Measured {
        let passed: Int
        let failure: Simulation.Failure?
        let tried: Int
        let isFaithful: Bool?
        let refreshesOnServer: Int

        var outcome: String { failure.map { "seed \($0.seed) fails, try \(tried)" } ?? "\(tried) seeds, none fails" }
    }

    /// Returns the reason of a failure, the line that replays it, and the last steps of its shortest schedule, without the hops between actors.
    private static func transcript(of failure: Simulation.Failure) -> [String] {
        let hops = [" can continue", " yielded, and", " waits for its turn on ", " took its turn"]
        let telling = failure.transcript.filter { step in !hops.contains { step.contains($0) } }.suffix(12)
        // Without the folders and places, which are long.
        let steps = telling.map { step in
            "  " + (step.firstRange(of: ": note: ").map { step[$0.upperBound...] } ?? step[...])
        }
        let head = failure.description.split(separator: "\n").prefix(2)
            .map { String($0).replacing("\(#filePath)", with: "StampedeChapter.swift") }
        return ["An intended failure of the naive code:"] + head + steps
    }
}

/// A stub of the whole backend, as tests have it.
private actor StubBackend: Backend {
    private(set) var refreshes = 0

    func settings() -> String { "settings" }

    func refreshToken() -> String {
        refreshes += 1
        return "token \(refreshes)"
    }
}

/// The backend of the app, over HTTP.
private struct RemoteBackend: Backend {
    let api: API

    func settings() async throws -> String { try await api.ask("settings").subject }

    func refreshToken() async throws -> String { try await api.ask("token").subject }
}
