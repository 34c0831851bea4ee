import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlSupervision

/// Supervised work under many schedules: what was stopped never begins again, no run overlaps the one before, and no window has too many restarts.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct SupervisionSimulationTests {
    /// The runs that are under way, by the name of the work.
    private final class Runs: Sendable {
        private let running = Locked<Set<String>>([])
        private let sim: Simulation
        let starts = OrderRecorder<(name: String, time: Duration)>()
        let closed = Locked(false)

        init(_ sim: Simulation) {
            self.sim = sim
        }

        func begin(_ name: String) {
            let isFirst = running.withLock { $0.insert(name).inserted }
            sim.expect(isFirst, "a run does not overlap the one before")
            sim.expect(!closed.withLock(\.self), "nothing begins after the end")
            starts.record((name, sim.now))
        }

        func end(_ name: String) { running.withLock { _ = $0.remove(name) } }

        var isEmpty: Bool { running.withLock(\.isEmpty) }

        /// Expects that no run has begun after a time: also not while the end was under way.
        func expectNone(after time: Duration) {
            sim.expect(starts.events.allSatisfy { $0.time <= time }, "nothing begins after the end was asked for")
        }
    }

    @Test func aRestartAndAShutdown() async throws {
        Diagnostics.keepQuiet()
        try await race { sim in
            let (runs, lifetime) = (Runs(sim), AsyncLifetime())
            let work = lifetime.keepRunning("feed", limit: .unlimited, backoff: .fixed(.milliseconds(10))) { run in
                runs.begin("feed")
                defer { runs.end("feed") }
                run.markReady()
                try await Task.sleep(for: .milliseconds(10))
                throw MarkedError()
            }
            let waiter = Task { try await work.waitUntilReady() }
            try await Task.sleep(for: .milliseconds(Int(sim.seed % 40)))
            sim.cancelAtAnyPoint(waiter)
            let time = sim.now
            await lifetime.shutdown(grace: .milliseconds(sim.seed % 3 * 20))
            runs.closed.withLock { $0 = true }
            runs.expectNone(after: time)
            sim.expect(runs.isEmpty, "no run outlives the shutdown")
            var last: SupervisedWork.State?
            for await state in work.states { last = state }
            if case .stopped = last {} else { sim.expect(false, "the work is stopped") }
            _ = await waiter.result
        }
    }

    @Test func aRestartAndAStop() async throws {
        Diagnostics.keepQuiet()
        try await race { sim in
            let (runs, lifetime) = (Runs(sim), AsyncLifetime())
            let grace = Duration.milliseconds(sim.seed % 3 * 5)
            let work = lifetime.keepRunning("feed", limit: .unlimited, backoff: .none, grace: grace) { run in
                runs.begin("feed")
                defer { runs.end("feed") }
                if run.number % 2 == 0 { run.markReady() }
                try await Task.sleep(for: .milliseconds(10))
                throw MarkedError()
            }
            try await Task.sleep(for: .milliseconds(10))
            let time = sim.now
            async let other: Void = work.stop()
            await work.stop()
            runs.expectNone(after: time)
            sim.expect(work.state.isFinal && runs.isEmpty, "the work has ended")
            runs.closed.withLock { $0 = true }
            await other
            try await lifetime.drain()
        }
    }

    /// The lifetime ends while the work is being added.
    @Test func theBeginningAndTheEndOfTheLifetime() async throws {
        try await race { sim in
            let (runs, lifetime) = (Runs(sim), AsyncLifetime())
            sim.atAnyPoint { lifetime.close() }
            let work = lifetime.keepRunning("feed") { _ in
                runs.begin("feed")
                defer { runs.end("feed") }
                try await Task.sleep(for: .seconds(1))
                try await Gate().wait()
            }
            for await _ in work.states {}
            sim.expect(runs.isEmpty && runs.starts.count <= 1, "the work has ended")
            try await lifetime.drain()
        }
    }

    /// 1,000 crashes: of any window, no more restarts than the limit begin in it.
    @Test func aRestartStormNeverExceedsTheLimitInAnyWindow() async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(200, inDebug: 3)) { sim in
                let lifetime = AsyncLifetime()
                var (crashes, random) = (0, sim.random)
                while crashes < 1_000 {
                    let (count, period) = (
                        Int.random(in: 0...30, using: &random), Int.random(in: 1...5_000, using: &random)
                    )
                    let runs = Runs(sim)
                    // A storm ends with a failure for good, or after some crashes that the limit allowed.
                    let most = Int.random(in: 1...200, using: &random)
                    let delays = (0..<8).map { _ in Duration.milliseconds(Int.random(in: 0...400, using: &random)) }
                    let work = lifetime.keepRunning(
                        "storm",
                        restart: .onFailure,
                        limit: .restarts(count, per: .milliseconds(period)),
                        backoff: .custom { attempt, _ in delays[attempt % 8] }
                    ) { run in
                        runs.begin("storm")
                        defer { runs.end("storm") }
                        run.markReady()
                        if run.number % 3 == 0 { try await Task.sleep(for: delays[run.number % 8]) }
                        if run.number < most { throw MarkedError() }
                    }
                    for await _ in work.states {}
                    let starts = runs.starts.events.map(\.time)
                    crashes += starts.count
                    let restarts = starts.dropFirst()
                    for (index, restart) in restarts.enumerated() {
                        let recent = restarts.prefix(index + 1).count { restart - $0 < .milliseconds(period) }
                        sim.expect(recent <= count, "\(recent) restarts in \(period) ms, and \(count) are allowed")
                    }
                }
                try await lifetime.drain()
            }
        }
    }

    /// Groups of children that crash, complete, hang and are stopped, under each strategy.
    @Test func randomProgramsKeepTheRules() async throws {
        Diagnostics.keepQuiet()
        try await offThePool {
            try simulate(seeds: Schedules.seeds(100_000, inDebug: 200)) { sim in try await Self.program(sim) }
        }
    }

    private static func program(_ sim: Simulation) async throws {
        var random = sim.random
        let runs = Runs(sim)
        let strategy = Supervisor.Strategy.allCases.randomElement(using: &random)!
        let limit = Int.random(in: 0...6, using: &random)
        let supervisor = Supervisor(strategy: strategy, limit: .restarts(limit, per: .milliseconds(500)))
        var works: [SupervisedWork] = []
        for number in 0..<Int.random(in: 1...4, using: &random) {
            let name = "\(number)"
            let steps = (0..<4).map { _ in Int.random(in: 0...4, using: &random) }
            let rule = RestartRule.allCases.randomElement(using: &random)!
            let grace = Duration.milliseconds(Int.random(in: 0...2, using: &random) * 20)
            let work = supervisor.keepRunning(
                name,
                restart: rule,
                backoff: .fixed(.milliseconds(steps[0] * 5)),
                grace: grace
            ) { run in
                runs.begin(name)
                defer { runs.end(name) }
                let step = steps[run.number % 4]
                if step > 0 {
                    try await Task.sleep(for: .milliseconds(step))
                    run.markReady()
                }
                switch step {
                case 1: throw MarkedError(name)
                case 2:
                    await run.waitForStop()
                    try await Task.sleep(for: .milliseconds(10))
                case 3: try await Task.sleep(for: .milliseconds(50))
                default: try await Task.sleep(for: .milliseconds(200))
                }
                if step == 4 { throw MarkedError(name) }
            }
            works.append(work)
        }
        let run = Task { try await supervisor.run() }
        let waiters = works.map { work in Task { try await work.waitUntilReady() } }
        switch Int.random(in: 0...3, using: &random) {
        case 0: sim.cancelAtAnyPoint(run)
        case 1:
            let work = works.randomElement(using: &random)!
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...60, using: &random)))
            await work.stop()
            sim.expect(work.state.isFinal, "what was stopped has ended")
        case 2:
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...60, using: &random)))
            let work = supervisor.keepRunning("late") { run in
                runs.begin("late")
                defer { runs.end("late") }
                run.markReady()
                try await Task.sleep(for: .milliseconds(30))
                throw MarkedError("late")
            }
            works.append(work)
        default: break
        }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...300, using: &random)))
        await supervisor.shutdown()
        runs.closed.withLock { $0 = true }
        sim.expect(runs.isEmpty, "no run outlives the shutdown")
        sim.expect(works.allSatisfy { $0.state.isFinal }, "each child has its end")
        _ = await run.result
        for waiter in waiters { _ = await waiter.result }
        // The limit is that of all children together; the restarts of a strategy do not count.
        guard strategy == .one else { return }
        var names: Set<String> = []
        let restarts = runs.starts.events.filter { !names.insert($0.name).inserted }.map(\.time)
        for (index, restart) in restarts.enumerated() {
            let recent = restarts.prefix(index + 1).count { restart - $0 < .milliseconds(500) }
            sim.expect(recent <= limit, "the limit holds in every window")
        }
    }
}
