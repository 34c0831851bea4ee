import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

/// A throttle, clients and a model of a service, in virtual time.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct ClientThrottleSimulationTests {
    /// A service that accepts a number of calls per second, and none in an outage.
    private actor Service {
        private let perSecond: Int
        private let outage: Range<Int>
        private var (second, count) = (0, 0)
        private(set) var received: [Int: Int] = [:]
        private(set) var accepted: [Int: Int] = [:]

        init(perSecond: Int, outage: Range<Int> = 0..<0) {
            (self.perSecond, self.outage) = (perSecond, outage)
        }

        func call(at now: Duration) throws {
            let now = Int(now / .seconds(1))
            received[now, default: 0] += 1
            guard !outage.contains(now), accepted[now, default: 0] < perSecond else { throw MarkedError() }
            accepted[now, default: 0] += 1
        }
    }

    private static func run(
        _ sim: Simulation,
        _ service: Service,
        seconds: Int,
        perSecond: Int,
        window: Duration = .seconds(120)
    ) async throws {
        let random = Locked(SeededGenerator(seed: sim.seed))
        let throttle = ClientThrottle(
            window: window,
            random: { random.withLock { Double.random(in: 0..<1, using: &$0) } }
        )
        for _ in 0..<seconds * perSecond {
            let call = Task { try? await throttle.run { try await service.call(at: sim.now) } }
            try await Task.sleep(for: .seconds(1) / perSecond)
            await call.value
        }
    }

    @Test func anOverloadedServiceReceivesTwiceAsManyCallsAsItAccepts() async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(1_000, inDebug: 4), maxSteps: 1_000_000) { sim in
                let service = Service(perSecond: 5)
                try await Self.run(sim, service, seconds: 60, perSecond: 30, window: .seconds(12))
                let received = await service.received
                let mean = (30..<60).reduce(0) { $0 + received[$1, default: 0] } / 30
                sim.expect((8...14).contains(mean), "\(mean) calls per second reach the service")
            }
        }
    }

    /// Two seconds after an outage of a minute, all calls reach the service, and it accepts them.
    @Test func afterAnOutageCallsPassWithinTwoSeconds() async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(1_000, inDebug: 4), maxSteps: 1_000_000) { sim in
                let service = Service(perSecond: 100, outage: 10..<70)
                try await Self.run(sim, service, seconds: 80, perSecond: 10, window: .seconds(30))
                let (received, accepted) = (await service.received, await service.accepted)
                let duringOutage = (50..<70).reduce(0) { $0 + received[$1, default: 0] }
                sim.expect(duringOutage <= 20 * 3, "\(duringOutage) calls in twenty seconds of the outage")
                for second in 73..<79 {
                    sim.expect(accepted[second, default: 0] >= 9, "\(accepted[second] ?? 0) of 10 in second \(second)")
                }
            }
        }
    }
}
