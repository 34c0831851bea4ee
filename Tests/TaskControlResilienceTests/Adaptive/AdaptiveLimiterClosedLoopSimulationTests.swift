import TaskControl
import TaskControlResilience
import TaskControlTesting
import TestSupport
import Testing

/// An adaptive limiter, more callers than the service can serve, and a model of the service, in virtual time.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct AdaptiveLimiterClosedLoopSimulationTests {
    private struct Service {
        let scenario: LoadScenario
        var random: SeededGenerator
        var running = 0
        var answers: [Int]

        enum Answer {
            case value(after: Duration)
            case timeout
            case failure
        }

        static let timeLimit = Duration.seconds(1)

        /// Works on a call for about 250 ms. Calls beyond the knee share the service.
        mutating func begin(at second: Int) -> Answer {
            running += 1
            if scenario.fails(at: second, during: scenario.trouble) { return .failure }
            if scenario.hangs(at: second, during: scenario.trouble) { return .timeout }
            let isSlow = scenario == .slowTail && Int.random(in: 0..<10, using: &random) == 0
            let work = isSlow ? 2_250 : Int.random(in: 200..<300, using: &random)
            let knee = scenario.knee(at: second)
            return .value(after: .milliseconds(work * max(running, knee) / knee))
        }

        mutating func end(at second: Int, isAnswered: Bool) {
            running -= 1
            if isAnswered, second < answers.count { answers[second] += 1 }
        }
    }

    private static func call(_ service: Locked<Service>, _ sim: Simulation) async throws {
        switch service.withLock({ $0.begin(at: second(sim)) }) {
        case .value(let duration):
            try await Task.sleep(for: duration)
            service.withLock { $0.end(at: second(sim), isAnswered: true) }
        case .timeout:
            try await Task.sleep(for: Service.timeLimit)
            service.withLock { $0.end(at: second(sim), isAnswered: false) }
            throw TimeoutError(duration: Service.timeLimit)
        case .failure:
            service.withLock { $0.end(at: second(sim), isAnswered: false) }
            throw MarkedError()
        }
    }

    private static func second(_ sim: Simulation) -> Int { Int(sim.now / .seconds(1)) }

    private static func run(_ scenario: LoadScenario, _ sim: Simulation) async throws {
        let answers = [Int](repeating: 0, count: scenario.seconds)
        let service = Locked(
            Service(scenario: scenario, random: SeededGenerator(seed: sim.seed), answers: answers)
        )
        let draws = Locked(SeededGenerator(seed: sim.seed &+ 1))
        let limiter = AdaptiveLimiter(random: { draws.withLock { Double.random(in: 0..<1, using: &$0) } })
        var limits: [Int] = []
        await withTaskGroup { group in
            for number in 0..<60 {
                group.addTask {
                    while second(sim) < scenario.seconds {
                        let isCalling = number < scenario.callers(at: second(sim))
                        let isAnswered: Void? =
                            isCalling ? try? await limiter.run { try await call(service, sim) } : nil
                        if isAnswered == nil { try? await Task.sleep(for: .milliseconds(250)) }
                    }
                }
            }
            for _ in 0..<scenario.seconds {
                limits.append(limiter.limit)
                try? await Task.sleep(for: .seconds(1))
            }
        }
        check(scenario, limits, service.withLock { $0.answers }, sim)
        sim.expect(limiter.running == 0 && limiter.waiterCount == 0, "no call is left")
    }

    private static func check(_ scenario: LoadScenario, _ limits: [Int], _ answers: [Int], _ sim: Simulation) {
        var above = 0
        for (second, limit) in limits.enumerated() {
            let knee = scenario.knee(at: second)
            above = Double(limit) > 1.5 * Double(knee) ? above + 1 : 0
            sim.expect(above < 5, "\(scenario): the limit is \(limit) in second \(second), the knee is \(knee)")
            // The limit returns to nine tenths at once, and to the knee with its growth and the first experiment.
            let isCalm = !scenario.isTrouble || second >= scenario.trouble.upperBound + 6
            guard scenario.isSteady, second >= scenario.settled, isCalm else { continue }
            // A single window is uncertain: in one seed of several hundred, a second or two are 30 % from the knee.
            let distance = Double(abs(limit - knee))
            sim.expect(
                distance <= 0.5 * Double(knee),
                "\(scenario): \(limit) in second \(second), the knee is \(knee)"
            )
        }
        let settled = limits[scenario.settled...]
        let mean = Double(settled.reduce(0, +)) / Double(settled.count)
        let knee = Double(scenario.knee(at: scenario.seconds))
        if !scenario.isTrouble { sim.expect(abs(mean - knee) <= 0.2 * knee, "\(scenario): \(mean) on average") }
        guard scenario.isTrouble else { return }
        // The service answers 80 calls per second, and fewer in the seconds of an experiment.
        let after = answers[(scenario.trouble.upperBound + 2)..<(scenario.seconds - 1)]
        sim.expect(after.reduce(0, +) >= 72 * after.count, "\(scenario): \(after) answers per second afterwards")
        sim.expect(after.min()! >= 60, "\(scenario): \(after) answers per second afterwards")
    }

    @Test(arguments: Schedules.cases(LoadScenario.allCases, inDebug: 1))
    func theLimitSettlesAtTheKnee(in scenario: LoadScenario) async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(1_000, inDebug: 1), maxSteps: 4_000_000) {
                try await Self.run(scenario, $0)
            }
        }
    }
}

extension LoadScenario {
    /// The number of calls that the service works on at the same time: the knee.
    fileprivate func knee(at second: Int) -> Int { capacity(at: second, large: 20, small: 10) }

    fileprivate var isTrouble: Bool { self == .allTimeOut || self == .outage }
    fileprivate var trouble: Range<Int> { 60..<120 }

    /// The number of callers: in bursts, all of them for three seconds, and then few enough for each to be served at once.
    fileprivate func callers(at second: Int) -> Int { self == .bursts && second % 6 >= 3 ? 10 : 60 }

    /// The second after which the limit is near the knee.
    fileprivate var settled: Int { self == .stepDown || self == .stepUp ? 80 : 60 }

    /// Whether the limit is near the knee in each second. With a slow tail, and with bursts that end before a window does, a single window is
    /// uncertain, and the average of forty seconds is near the knee.
    fileprivate var isSteady: Bool { self != .slowTail && self != .bursts }

    fileprivate var seconds: Int { isTrouble ? 130 : 100 }
}
