import TaskControl
import TaskControlTesting

/// Ten thousand clients and their service, in virtual time: the tasks, the sleeps and `retry` are real, only the clock jumps.
@MainActor
final class World {
    private let scenario: Scenario
    private let strategy: Strategy
    private let simulation: Simulation
    private let protection: Protection
    private var service: Service
    private var timeline: Timeline

    private init(_ scenario: Scenario, _ strategy: Strategy, in simulation: Simulation) {
        (self.scenario, self.strategy, self.simulation, protection) = (scenario, strategy, simulation, Protection())
        service = Service(capacity: scenario.capacity, outage: scenario.outage)
        timeline = Timeline(until: scenario.end)
    }

    /// Plays the scenario with one strategy. The same scenario gives the same timeline, always.
    nonisolated static func play(_ scenario: Scenario, _ strategy: Strategy) throws -> Timeline {
        // One thread runs the simulation, and this one waits for it.
        nonisolated(unsafe) var timeline: Timeline?
        try simulate(seed: scenario.seed, strategy: .random, maxSteps: .max) { @MainActor simulation in
            let world = World(scenario, strategy, in: simulation)
            await world.run()
            timeline = world.timeline
        }
        guard let timeline else { preconditionFailure("A simulation that returns has come to its end.") }
        return timeline
    }

    private func run() async {
        await withTaskGroup(of: Void.self) { group in
            var random = SeededGenerator(seed: scenario.seed)
            for _ in 0..<scenario.clients {
                let seed = random.next()
                group.addTask { await self.client(seed: seed) }
            }
            try? await Task.sleep(for: scenario.end)
            group.cancelAll()
        }
    }

    /// Asks, and asks again after a while, until the end.
    private func client(seed: UInt64) async {
        var random = SeededGenerator(seed: seed)
        var pause = scenario.period * Double.random(in: 0..<1, using: &random)
        while (try? await Task.sleep(for: pause)) != nil {
            timeline.callBegan()
            let isAnswered: Void? = try? await strategy.call(seed: random.next(), protection, request)
            if isAnswered != nil { timeline.callSucceeded() }
            pause = scenario.period * Double.random(in: 0.5..<1.5, using: &random)
        }
    }

    private func request() async throws {
        let now = simulation.now
        let reply = service.receive(at: now)
        timeline.requestCame(at: now, isAnswered: reply != .refusal)
        guard case .answer(let time) = reply else { throw Unavailable() }
        try await Task.sleep(for: time - now)
    }
}
