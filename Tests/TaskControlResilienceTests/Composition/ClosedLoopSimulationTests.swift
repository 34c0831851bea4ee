import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

/// A policy with a breaker, hedging and a time limit, its callers, and a model of a service, in virtual time.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct ClosedLoopSimulationTests {
    /// Answers in about 50 ms. Beyond its capacity each call takes longer in proportion.
    private actor Service {
        let scenario: LoadScenario
        private var random: SeededGenerator
        private var running = 0
        private(set) var calls = 0
        /// The number of calls while the service hangs.
        private(set) var hung = 0

        init(_ scenario: LoadScenario, seed: UInt64) {
            (self.scenario, random) = (scenario, SeededGenerator(seed: seed))
        }

        func begin(at second: Int) throws -> Duration {
            calls += 1
            if scenario.fails(at: second, during: trouble) { throw MarkedError() }
            running += 1
            if scenario.hangs(at: second, during: trouble) {
                hung += 1
                return .seconds(3_600)
            }
            let isSlow = scenario == .slowTail && Int.random(in: 0..<10, using: &random) == 0
            let load = max(1, running / scenario.capacity(at: second, large: 40, small: 2))
            return .milliseconds((isSlow ? 400 : 1) * load + Int.random(in: 40..<60, using: &random) * load)
        }

        func end() { running -= 1 }
    }

    private struct Outcome {
        var answered: [Int: Int] = [:]
        var begun: [Int: Int] = [:]
    }

    private static let rate = 20
    private static let seconds = 80

    private static func run(_ scenario: LoadScenario, _ sim: Simulation) async throws {
        // The limit of a call that hangs is around it, or around its attempts.
        let isDeadline = sim.seed.isMultiple(of: 2)
        let service = Service(scenario, seed: sim.seed)
        let breaker = CircuitBreaker(
            failureThreshold: 0.5,
            window: .seconds(10),
            minimumCalls: 10,
            openDuration: .milliseconds(500)
        )
        let policy = ResiliencePolicy(
            breaker: breaker,
            hedging: ResiliencePolicy.Hedging(after: .quantile(capacity: 200, minimumSamples: 20)),
            attemptTimeout: isDeadline ? nil : .milliseconds(500)
        )
        let (outcome, attempted) = (Locked(Outcome()), Locked(0))
        // The times at which the running calls began. A refused call ends at once.
        let running = Locked<[Int: Duration]>([:])
        await withTaskGroup { group in
            for tick in 0..<seconds * rate {
                let second = tick / rate
                let count = tick % rate == 0 ? scenario.arrivals(at: second) : 1
                for number in 0..<count {
                    let id = tick * 100 + number
                    group.addTask {
                        outcome.withLock { $0.begun[second, default: 0] += 1 }
                        let start = sim.now
                        running.withLock { $0[id] = start }
                        let isFirst = Locked(true)
                        let isAnswered: Void? = try? await withDeadline(in: .milliseconds(isDeadline ? 500 : 60_000)) {
                            try await withPolicy(policy) {
                                let isCall = isFirst.withLock { isFirst in
                                    defer { isFirst = false }
                                    return isFirst
                                }
                                if isCall { attempted.withLock { $0 += 1 } }
                                let duration = try await service.begin(at: Int(sim.now / .seconds(1)))
                                do {
                                    try await Task.sleep(for: duration)
                                    await service.end()
                                } catch {
                                    await service.end()
                                    throw error
                                }
                            }
                        }
                        if isAnswered != nil { outcome.withLock { $0.answered[second, default: 0] += 1 } }
                        running.withLock { $0[id] = nil }
                        if breaker.state == .halfOpen {
                            let now = sim.now
                            let isLiving = running.withLock { $0.values.contains { now - $0 < .milliseconds(500) } }
                            sim.expect(isLiving, "a breaker that is half-open has a probe with a lease")
                        }
                    }
                }
                try? await Task.sleep(for: .seconds(1) / rate)
            }
        }
        let (result, calls) = (outcome.withLock { $0 }, attempted.withLock { $0 })
        let hedges = await service.calls - calls
        // Without the breaker there are 1,200 of them.
        let hung = await service.hung
        sim.expect(hung < 300, "\(scenario): \(hung) calls of a service that hangs")
        sim.expect(hedges <= calls / 20 + 5, "\(scenario): \(hedges) hedges of \(calls) calls")
        for second in (scenario.recovery.map { $0 + 2 } ?? seconds)..<seconds {
            let (answered, begun) = (result.answered[second, default: 0], result.begun[second, default: 0])
            sim.expect(answered >= begun * 9 / 10, "\(scenario): \(answered) of \(begun) in second \(second)")
        }
        if scenario == .slowTail || scenario == .bursts {
            let answered = result.answered.values.reduce(0, +)
            sim.expect(answered >= result.begun.values.reduce(0, +) * 9 / 10, "\(scenario): \(answered) answers")
        }
        sim.expect(breaker.state != .halfOpen, "no call is running")
    }

    @Test(arguments: Schedules.cases(LoadScenario.allCases, inDebug: 2))
    func theLoopIsStable(in scenario: LoadScenario) async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(1_000, inDebug: 1), maxSteps: 4_000_000) {
                try await Self.run(scenario, $0)
            }
        }
    }
}

/// The seconds in which the service does not work.
private let trouble = 10..<70

extension LoadScenario {
    /// The number of calls that begin together.
    fileprivate func arrivals(at second: Int) -> Int { self == .bursts && second % 10 == 0 ? 10 : 1 }

    /// The second from which on the service answers all calls again.
    fileprivate var recovery: Int? {
        switch self {
        case .stepUp: 20
        case .allTimeOut, .outage: trouble.upperBound
        default: nil
        }
    }
}
