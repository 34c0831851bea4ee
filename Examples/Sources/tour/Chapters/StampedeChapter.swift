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

    /// The closure that returns whether the simulation is supported, called when the chapter is played: the call takes a moment.
    var isSupported: @Sendable () -> Bool = { Simulation.isSupported }

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        guard isSupported() else {
            Progress(chapter: name, act: "skipped").finish("there is no simulation on this platform")
            return Report(naive: ["skipped"], taskControl: ["skipped: there is no simulation here"], claims: [])
        }
        let naive = try await play(NaiveTokenCache.self, as: "naive", on: tour)
        let shared = try await play(SharedTokenCache.self, as: ".preferPrevious", on: tour)
        return Report(
            naive: naive.lines,
            taskControl: shared.lines,
            claims: [
                Claim("naive: the ordinary test passes every time", naive.passed, is: Self.runs),
                Claim("naive: on a server the token is refreshed twice all the same", naive.refreshesOnServer, is: 2),
                Claim(
                    "naive: the same test, simulated, fails within \(Self.patience) seeds",
                    holds: naive.simulated.failure != nil && naive.simulated.tried <= Self.patience,
                    measured: naive.simulated.line
                ),
                Claim(
                    "naive: that seed fails again and again, with the same schedule and the same trace",
                    holds: naive.replay?.isFaithful == true,
                    measured: naive.replay.map { "\($0)" } ?? "there is no seed to replay"
                ),
                Claim("TaskControl: the ordinary test passes every time", shared.passed, is: Self.runs),
                Claim("TaskControl: on a server the token is refreshed once", shared.refreshesOnServer, is: 1),
                Claim(
                    "TaskControl: the same test, simulated, passes under \(Self.seeds) seeds",
                    holds: shared.simulated.failure == nil && shared.simulated.tried == Self.seeds,
                    measured: shared.simulated.line
                ),
            ],
            transcriptTitle: "an intended failure of the naive code",
            transcript: naive.simulated.failure.map { Self.transcript(of: $0) } ?? []
        )
    }

    @MainActor
    private func play<Tokens: TokenCache>(_: Tokens.Type, as act: String, on tour: Tour) async throws -> Measured {
        let (passed, time) = try await test(Tokens.self, as: act)
        let simulated = try simulated(Tokens.self, as: act, from: tour.seed)
        return Measured(
            passed: passed,
            time: time,
            simulated: simulated,
            replay: try simulated.failure.map { try replay($0, with: Tokens.self) },
            refreshesOnServer: try await serve(Tokens.self, as: act, on: tour)
        )
    }

    // MARK: The ordinary test

    @MainActor
    private func test<Tokens: TokenCache>(_: Tokens.Type, as act: String) async throws -> (passed: Int, Duration) {
        let progress = Progress(chapter: name, act: "\(act), the test")
        let start = ContinuousClock.now
        var passed = 0
        for run in 1...Self.runs {
            if try await Self.refreshes(with: Tokens.self) == 1 { passed += 1 }
            progress.update("\(passed) of \(run) runs passed")
        }
        progress.finish("\(passed) of \(Self.runs) runs passed")
        return (passed, ContinuousClock.now - start)
    }

    // MARK: The same test, simulated

    @MainActor
    private func simulated<Tokens: TokenCache>(
        _: Tokens.Type,
        as act: String,
        from seed: UInt64
    ) throws -> Simulated {
        let progress = Progress(chapter: name, act: "\(act), simulated")
        let first = min(seed, .max - UInt64(Self.seeds))
        let start = ContinuousClock.now
        var failure: SimulationFailure?
        do {
            try simulate(seeds: first..<first + UInt64(Self.seeds)) { @MainActor sim in
                progress.update("seed \(sim.seed)")
                try await Self.check(Tokens.self, in: sim)
            }
        } catch let found as SimulationFailure {
            failure = found
        }
        let simulated = Simulated(
            failure: failure,
            // The seeds up to the one that fails: its schedule is then run again, to shorten it.
            tried: failure.map { Int($0.seed - first) + 1 } ?? Self.seeds,
            time: ContinuousClock.now - start
        )
        progress.finish(simulated.outcome)
        return simulated
    }

    @MainActor
    static func check<Tokens: TokenCache>(_: Tokens.Type, in sim: Simulation) async throws {
        let refreshes = try await refreshes(with: Tokens.self) { sim.note($0) }
        sim.expect(refreshes == 1, "the token is refreshed once, not \(refreshes) times")
    }

    /// Plays a seed that has failed twice more, as the failure says.
    @MainActor
    private func replay<Tokens: TokenCache>(_ first: SimulationFailure, with _: Tokens.Type) throws -> Replay {
        var failures: [SimulationFailure] = []
        var traces: [UInt64] = []
        for _ in 1...2 {
            do {
                try simulate(seed: first.seed) { @MainActor sim in try await Self.check(Tokens.self, in: sim) }
            } catch let failure as SimulationFailure {
                failures.append(failure)
            }
            // A failure has a schedule to read, and a run that comes to its end has a fingerprint: so, once more without the expectation.
            let run = try simulate(seed: first.seed) { @MainActor sim in
                _ = try await Self.refreshes(with: Tokens.self) { sim.note($0) }
            }
            traces.append(run.fingerprint)
        }
        return Replay(
            failures: failures.count,
            sameSchedules: failures.count { $0.schedule == first.schedule },
            traces: traces
        )
    }

    // MARK: A server on a slow day

    /// Plays the first screen with a server. Only the order is changed: the settings come before the token.
    ///
    /// - Returns: The number of times that the server was asked for a token.
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
            return stage.visits.value.all.count { $0.subject == "token" }
        }
    }

    // MARK: What was measured

    private struct Measured {
        let passed: Int
        let time: Duration
        let simulated: Simulated
        let replay: Replay?
        let refreshesOnServer: Int

        var lines: [String] {
            [
                "ordinary test: passes \(passed) of \(runs) times, in \(time.inMilliseconds)",
                "simulated: \(simulated.line)",
            ] + (replay.map { ["replayed twice: \($0)"] } ?? []) + [
                "on a server: refreshed \(refreshesOnServer == 1 ? "once" : "\(refreshesOnServer) times")"
            ]
        }
    }

    private struct Simulated {
        let failure: SimulationFailure?
        let tried: Int
        let time: Duration

        var outcome: String { failure.map { "seed \($0.seed) fails, try \(tried)" } ?? "\(tried) seeds, none fails" }
        var line: String { "\(outcome), in \(time.inMilliseconds)" }
    }

    private struct Replay: CustomStringConvertible {
        let failures: Int
        let sameSchedules: Int
        let traces: [UInt64]

        var isFaithful: Bool { failures == 2 && sameSchedules == 2 && Set(traces).count == 1 }
        var description: String {
            let traces = Set(traces).map { String($0, radix: 16) }.joined(separator: " and ")
            return "\(failures) failures, \(sameSchedules) with the same schedule, trace \(traces)"
        }
    }

    // MARK: What is shown

    /// Returns the reason of a failure, the line that replays it, and the last steps of its shortest schedule, without the hops between actors.
    static func transcript(of failure: SimulationFailure, longest: Int = 12) -> [String] {
        // Without the folders, which differ between machines and are long.
        let (path, file) = ("\(#filePath)", #fileID.split(separator: "/").last ?? "")
        let head = failure.description.split(separator: "\n").prefix(2).map { line in
            String(line).replacing(path, with: file)
        }
        let steps = failure.transcript
        let telling = steps.filter(isTelling).suffix(longest)
        let title = "schedule: the virtual time, and who did what; \(steps.count - telling.count) steps are left out"
        return (head + [title] + telling.map(line)).map { String($0.prefix(width)) }
    }

    private static func isTelling(_ step: String) -> Bool {
        ![" can continue", " yielded, and", " waits for its turn on ", " took its turn"].contains { step.contains($0) }
    }

    /// Returns the line of a step without the place of its note in the source.
    private static func line(_ step: String) -> String {
        "  " + (step.firstRange(of: ": note: ").map { step[$0.upperBound...] } ?? step[...])
    }

    private static let width = 98
}

/// The backend of the app, over HTTP.
private struct RemoteBackend: Backend {
    let api: API

    func settings() async throws -> String { try await api.ask("settings").subject }

    func refreshToken() async throws -> String { try await api.ask("token").subject }
}
