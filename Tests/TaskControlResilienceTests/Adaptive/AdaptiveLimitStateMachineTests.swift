import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(30)), .tags(.machine))
struct AdaptiveLimitStateMachineTests {
    /// The bars that a scenario sets for the limit in each second.
    private struct Bars {
        /// The second after which the limit is near the knee.
        var settled = 60
        /// How far from the knee the limit may then be.
        var share = 0.2
        var distance = 0
    }

    private func check(_ name: String, _ model: ServiceModel, _ bars: Bars = Bars(), seeds: Range<UInt64>) {
        for seed in seeds {
            let limits = model.run(seed: seed).limits
            var above = 0
            for (second, limit) in limits.enumerated() {
                // The decision at the end of the second.
                let knee = model.knee(Double(second))
                let most = max(1.5 * Double(knee), Double(knee + bars.distance))
                above = Double(limit) > most && !model.hangs(Double(second)) ? above + 1 : 0
                #expect(above < 5, "\(name), seed \(seed): \(limit) in second \(second), the knee is \(knee)")
                guard second >= bars.settled else { continue }
                let distance = abs(limit - knee)
                #expect(
                    Double(distance) <= bars.share * Double(knee) + 1e-9 || distance <= bars.distance,
                    "\(name), seed \(seed): \(limit) in second \(second), the knee is \(knee)"
                )
            }
        }
    }

    private var seeds: Range<UInt64> { Schedules.seeds(20, inDebug: 1) }

    @Test(arguments: fullSize([5, 8, 10, 20, 50, 100, 150], inDebug: [20]))
    func theLimitSettlesAtTheKnee(knee: Int) {
        check("knee of \(knee)", ServiceModel(knee: { _ in knee }), seeds: seeds)
    }

    /// With so few calls, one call more is further away than a fifth, and the limit must try it from time to time.
    @Test(arguments: fullSize([1, 2, 3], inDebug: [2]))
    func theLimitSettlesWithinOneCallOfASmallKnee(knee: Int) {
        check("knee of \(knee)", ServiceModel(knee: { _ in knee }), Bars(distance: 1), seeds: seeds)
    }

    @Test func theLimitFollowsAStepDown() {
        check("step down", ServiceModel(knee: { $0 < 60 ? 40 : 10 }), Bars(settled: 120), seeds: seeds)
    }

    @Test func theLimitFollowsAStepUp() {
        check("step up", ServiceModel(knee: { $0 < 60 ? 10 : 40 }), Bars(settled: 120), seeds: seeds)
    }

    /// Calls that take ten times as long need longer windows, and the limit that they lower at first returns later.
    @Test(arguments: [(duration: 0.1, settled: 120), (duration: 0.5, settled: 130)])
    func aServiceThatBecomesSlowerKeepsItsLimit(duration: Double, settled: Int) {
        let model = ServiceModel(knee: { _ in 20 }, duration: { $0 < 60 ? 0.05 : duration })
        check("\(duration) s", model, Bars(settled: settled), seeds: seeds)
    }

    /// A tenth of the load leads limiters that average their baseline upward without end.
    @Test func theLimitStaysInMildOverload() {
        let model = ServiceModel(knee: { _ in 20 }, load: 1.05, seconds: fullSize(400, inDebug: 100))
        check("mild overload", model, seeds: Schedules.seeds(10, inDebug: 1))
    }

    /// Without a memory of how long calls take, the estimate of a second is uncertain: the limit is near the knee on average.
    @Test(arguments: Schedules.cases(ServiceModel.Distribution.allCases, inDebug: 1))
    func theLimitIsNearTheKneeForEveryDistribution(_ distribution: ServiceModel.Distribution) {
        for seed in seeds {
            let model = ServiceModel(
                knee: { _ in 20 },
                distribution: distribution,
                seconds: fullSize(200, inDebug: 150)
            )
            let limits = model.run(seed: seed).limits[60...]
            let mean = Double(limits.reduce(0, +)) / Double(limits.count)
            #expect((16...24).contains(mean), "\(distribution), seed \(seed): \(mean)")
            #expect(limits.max()! <= 30, "\(distribution), seed \(seed)")
        }
    }

    /// All calls time out for a minute: the limit falls, and two seconds later the service has as much work as before.
    @Test func theLimitReturnsAfterCallsHaveHung() {
        let model = ServiceModel(knee: { _ in 40 }, seconds: 170, hangs: { (30..<90).contains($0) })
        for seed in seeds {
            let outcome = model.run(seed: seed)
            #expect(outcome.limits[60..<90].allSatisfy { $0 <= 2 }, "seed \(seed)")
            #expect(
                outcome.limits[92...].allSatisfy { (32...48).contains($0) },
                "seed \(seed): \(outcome.limits[92...])"
            )
            // 800 calls per second end in a full service, and up to a tenth less while the limiter makes fewer calls to measure the baseline.
            #expect(outcome.answers[92...].allSatisfy { $0 >= 700 }, "seed \(seed): \(outcome.answers[92...])")
        }
    }

    /// Calls that hang whatever the limit is do not lower it.
    @Test func aFewDropsDoNotLowerTheLimit() {
        var machine = AdaptiveLimitStateMachine(.init())
        for number in 0..<20_000 {
            let now = Duration.milliseconds(number * 5)
            if number % 5 == 0 {
                machine.drop(.seconds(1), running: machine.limit, at: now)
            } else {
                machine.record(.milliseconds(100), running: machine.limit, at: now)
            }
            machine.checkInvariants()
        }
        #expect(machine.limit >= 18)
    }

    @Test func theLimitStaysWithoutLoad() {
        var machine = AdaptiveLimitStateMachine(.init())
        for second in 0..<1_000 { machine.record(.milliseconds(50), running: 1, at: .seconds(second)) }
        #expect(machine.limit == 20)
    }

    /// A queue that chance shows, where the limit stops no call, must not lower it: the next calls would be refused.
    @Test func theLimitStaysWithLittleLoadWhateverTheCallsTake() {
        for seed in Schedules.seeds(1_000, inDebug: 2) {
            var random = SeededGenerator(seed: seed)
            var machine = AdaptiveLimitStateMachine(.init())
            for number in 0..<2_000 {
                let isSlow = Int.random(in: 0..<5, using: &random) == 0
                let duration = Duration.milliseconds(Int.random(in: 40..<60, using: &random) * (isSlow ? 9 : 1))
                machine.record(duration, running: Int.random(in: 1...4, using: &random), at: .milliseconds(number * 50))
                guard machine.limit == 20 else {
                    Issue.record("seed \(seed), call \(number): the limit is \(machine.limit)")
                    return
                }
            }
        }
    }

    /// A cluster of slow calls among few: for a second, about four run at a time. The limit stops none of them.
    @Test func aSecondOfSlowCallsWithLittleLoadBeginsNoExperiment() {
        var machine = AdaptiveLimitStateMachine(.init())
        for number in 0..<2_000 {
            let isCluster = (200..<225).contains(number)
            let duration = Duration.milliseconds((isCluster && number % 2 == 0 ? 450 : 42) + number * 7 % 17)
            machine.record(duration, running: isCluster ? 5 : 1 + number % 2, at: .milliseconds(number * 50))
            guard machine.limit == 20 else {
                Issue.record("after call \(number), the limit is \(machine.limit)")
                return
            }
        }
    }

    /// A baseline that chance has made too low: the calls at the limit 1 take longer, and no experiment with fewer is possible.
    @Test func theLimitLeavesTheMinimumAlthoughItsBaselineIsTooLow() {
        var machine = AdaptiveLimitStateMachine(.init(initial: 2))
        var now = Duration.zero
        func call(_ duration: Duration) {
            now += duration
            machine.record(duration, running: machine.limit, at: now)
        }
        while machine.limit == 2, now < .seconds(100) { call(.milliseconds(100)) }
        #expect(machine.limit == 1, "the first experiment")
        while machine.baseline == nil, now < .seconds(100) { call(.milliseconds(40)) }
        #expect(machine.limit == 1 && machine.baseline.map { $0 < 0.045 } ?? false)
        for _ in 0..<2_000 { call(.milliseconds(60)) }
        #expect(machine.limit > 2)
    }

    /// Calls that begin together after an outage end in the order of their durations: the first of them say that calls take less time than they do.
    @Test func theFirstCallsAfterAPauseDoNotEndAnOldWindow() throws {
        var machine = AdaptiveLimitStateMachine(.init())
        var end = Duration.zero
        for number in 0..<4_000 {
            end = .milliseconds(250 + number * 12)
            machine.record(.milliseconds(200 + number * 37 % 100), running: machine.limit, at: end)
        }
        let before = try #require(machine.baseline)
        for number in 0..<20 {
            let duration = Duration.milliseconds(200 + number * 5)
            machine.record(duration, running: machine.limit, at: end + .seconds(60) + duration)
        }
        #expect(machine.baseline == before)
    }

    /// Whatever the durations and the drops are, and in whatever order they come.
    @Test(arguments: Schedules.seeds(200, inDebug: 2))
    func theInvariantsHold(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let minimum = Int.random(in: 1...4, using: &random)
        let maximum = minimum + Int.random(in: 0...40, using: &random)
        let initial = Int.random(in: minimum...maximum, using: &random)
        var machine = AdaptiveLimitStateMachine(.init(minimum: minimum, maximum: maximum, initial: initial))
        var now = Duration.zero
        for _ in 0..<5_000 {
            now += .milliseconds(Int.random(in: 0..<100, using: &random))
            let duration = Duration.seconds(Double.random(in: 0...1, using: &random) * (machine.limit > 5 ? 3 : 0.1))
            let running = Int.random(in: 1...machine.limit, using: &random)
            if Int.random(in: 0..<1_000, using: &random) < Int(seed % 700) {
                machine.drop(duration, running: running, at: now)
            } else {
                machine.record(Bool.random(using: &random) ? duration : .zero, running: running, at: now)
            }
            machine.checkInvariants()
        }
    }
}
