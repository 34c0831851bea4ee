import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// The portable tools, on virtual time.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct ToolsInSimulationTests {
    /// A client that asks again after a second, over a network that loses, breaks and doubles.
    private static func ask(_ sim: Simulation) async throws -> (answer: Int, network: SimulatedNetwork) {
        let network = SimulatedNetwork(
            seed: sim.seed,
            latency: .milliseconds(1)...(.milliseconds(40)),
            faults: .init(errors: 0.2, lostRequests: 0.2, lostReplies: 0.1, duplicates: 0.2)
        )
        let server = Counter()
        while true {
            let request = Task {
                try await network.send(1) { number in
                    await server.add(number)
                    return await server.value
                }
            }
            let limit = Task {
                try await Task.sleep(for: .seconds(1))
                request.cancel()
            }
            let result = await request.result
            limit.cancel()
            switch result {
            case .success(let answer):
                try await network.drain()
                return (answer, network)
            case .failure(let error):
                sim.expect(error is SimulatedNetwork.ConnectionLostError || error is CancellationError)
            }
        }
    }

    @Test func aClientIsTestedOverANetworkThatFails() throws {
        let (tries, elapsed) = (OrderRecorder<Int>(), OrderRecorder<Duration>())
        try simulate(seeds: 0..<300, checksDeterminism: true) { sim in
            let (answer, network) = try await Self.ask(sim)
            let counts = network.counts
            sim.expect(answer >= 1 && answer <= counts.delivered)
            sim.expect(counts.sent == counts.answered + counts.lost + counts.failed)
            tries.record(counts.sent)
            elapsed.record(sim.now)
        }
        #expect(Set(tries.events).count > 2, "some seeds lose more than others")
        #expect(elapsed.events.contains { $0 > .seconds(1) } && elapsed.events.contains { $0 < .seconds(1) })
    }

    private final class Model: Sendable {
        let lifetime = AsyncLifetime()

        func load() {
            lifetime.run(for: self) {
                try await Task.sleep(for: .seconds(1_000))
            } deliver: { _, _ in
            }
        }
    }

    @Test func anOwnerIsSeenToGo() throws {
        try simulate(seeds: 0..<100) { sim in
            try await requireDeallocated {
                let model = Model()
                model.load()
                await Task.yield()
                return model
            }
            sim.expect(sim.now < .seconds(1_000))
        }
    }

    @Test func anOwnerThatStaysIsSeenToStay() throws {
        let failure = try #require(
            failure { _ in
                let model = Model()
                try await requireDeallocated { model }
                withExtendedLifetime(model) {}
            }
        )
        guard case .threw(let error) = failure.reason else { Issue.record("\(failure)"); return }
        #expect(error is StillAliveError)
    }

    @Test func anOrderRecorderForcesOneOrderUnderEverySchedule() throws {
        for strategy in [Simulation.Strategy.random, .pct(depth: 3)] {
            try simulate(seeds: 0..<200, strategy: strategy) { sim in
                let (points, order) = (OrderRecorder<Int>(), OrderRecorder<Int>())
                await withTaskGroup { group in
                    for point in [2, 0, 1] {
                        group.addTask {
                            order.record(point)
                            try? await points.waitForEvents(count: point)
                            points.record(point)
                            let before = order.events
                            sim.expect(
                                (0...point).allSatisfy(before.contains),
                                "what comes before a lower point is done"
                            )
                        }
                    }
                }
                sim.expect(points.events == [0, 1, 2] && order.count == 3)
            }
        }
    }

    @Test func aSleeperThatDoesSomethingElseAndSleepsAgainIsFoundInTime() throws {
        for strategy in [Simulation.Strategy.random, .pct(depth: 3)] {
            try simulate(seeds: 0..<100, strategy: strategy) { sim in
                let (clock, wakes) = (TestClock(), OrderRecorder<Duration>())
                let task = Task {
                    for round in 0..<10 {
                        for _ in 0..<round { await Task.yield() }
                        try await clock.sleep(for: .seconds(1))
                        wakes.record(clock.now.offset)
                    }
                }
                await clock.advance(by: .seconds(5), waking: 5)
                await clock.run(waking: 5)
                try await task.value
                sim.expect(wakes.events == (1...10).map { .seconds($0) }, "\(wakes.events)")
            }
        }
    }

    /// Whether a sleeper comes before the clock has found that no task sleeps, or after.
    @Test func aJumpingClockLosesNobodyWhoComesToSleep() throws {
        try simulate(seeds: 0..<500) { sim in
            let clock = TestClock(advancesAutomatically: true)
            try await withThrowingTaskGroup { group in
                for number in 1...3 {
                    group.addTask {
                        for round in 0..<3 {
                            for _ in 0..<number * round { await Task.yield() }
                            let deadline = clock.now.advanced(by: .seconds(number))
                            try await clock.sleep(until: deadline)
                            sim.expect(clock.now >= deadline, "nobody wakes early")
                        }
                    }
                }
                try await group.waitForAll()
            }
            sim.expect(clock.sleeperCount == 0)
        }
    }

    @Test func aCancelledTaskIsNotTakenForTheSleeperAfterIt() throws {
        try simulate(seeds: 0..<200) { sim in
            let (clock, wakes) = (TestClock(), OrderRecorder<Int>())
            func sleeper(_ number: Int) -> Task<Void, any Error> {
                Task {
                    try await clock.sleep(for: .seconds(1))
                    wakes.record(number)
                }
            }
            let first = sleeper(1)
            sim.cancelAtAnyPoint(first)
            _ = await first.result
            let (second, third) = (sleeper(2), sleeper(3))
            second.cancel()
            await clock.advance(by: .seconds(1), waking: 1)
            try await third.value
            _ = await second.result
            sim.expect(wakes.events == [3], "\(wakes.events)")
        }
    }

    @Test func aGateLosesNobodyWhoIsCancelled() throws {
        try simulate(seeds: 0..<500) { sim in
            let gate = Gate()
            let waiting = (0..<3).map { _ in Task { try await gate.wait() } }
            sim.cancelAtAnyPoint(waiting[1])
            sim.atAnyPoint { gate.open() }
            for task in waiting { _ = await task.result }
            sim.expect(gate.isOpen || waiting[1].isCancelled)
            sim.expect(gate.waiterCount == 0)
        }
    }
}
