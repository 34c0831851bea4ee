import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct RateLimiterSimulationTests {
    private struct Grant {
        let caller: Int
        let weight: Int
        let time: Duration
    }

    /// Whatever leaves in between: no interval has more than its share, no caller overtakes, and no token is lost or held back.
    @Test func callersThatComeAndLeave() async throws {
        try await race { sim in
            var random = sim.random
            let burst = Int.random(in: 1...3, using: &random)
            let limiter = RateLimiter(rate: 10, burst: burst)
            let (grants, calls) = (OrderRecorder<Grant>(), OrderRecorder<Int>())
            let interval = Duration.milliseconds(100)
            await withTaskGroup { group in
                for number in 0..<7 {
                    let delay = Int.random(in: 0...4, using: &random)
                    let weight = Int.random(in: 1...4, using: &random)
                    let leaves = Int.random(in: 0..<3, using: &random) == 0
                    group.addTask {
                        let call = Task {
                            try await Task.sleep(for: .milliseconds(50 * delay))
                            calls.record(number)
                            try await limiter.acquire(weight)
                            grants.record(Grant(caller: number, weight: weight, time: sim.now))
                        }
                        if leaves { sim.atAnyPoint { call.cancel() } }
                        let result = await call.result
                        if case .failure = result { sim.expect(leaves, "only a cancelled caller fails") }
                    }
                }
            }
            let all = grants.events
            let order = calls.events.filter { number in all.contains { $0.caller == number } }
            sim.expect(all.map(\.caller) == order, "in the order of the calls")
            for last in all.indices {
                for first in 0...last {
                    // A caller with a large weight takes from a full bucket, and the calls after it pay for that.
                    let weight = all[first..<last].reduce(min(all[last].weight, burst)) { $0 + $1.weight }
                    let time = all[last].time - all[first].time
                    sim.expect(interval * (weight - burst) <= time, "no interval has more than its share")
                }
            }
            // The time at which the bucket is full again is known from what was granted.
            var fullTime = Duration.zero
            for grant in all { fullTime = max(fullTime, grant.time) + interval * grant.weight }
            let missing = max(.zero, fullTime - sim.now)
            let expected = missing >= interval * burst ? 0 : Int((interval * burst - missing) / interval)
            sim.expect(limiter.available == expected, "\(limiter.available) tokens, not \(expected)")
        }
    }

    /// Without pauses, the last of many callers is admitted at the one time that the rate allows.
    @Test func noTokenIsHeldBack() async throws {
        try await race { sim in
            let limiter = RateLimiter(rate: 10, burst: 2)
            await withTaskGroup { group in
                for _ in 0..<8 { group.addTask { try? await limiter.acquire() } }
                for _ in 0..<3 {
                    let leaver = Task { try await limiter.acquire(5, within: .seconds(60)) }
                    sim.atAnyPoint { leaver.cancel() }
                    group.addTask { _ = await leaver.result }
                }
            }
            let start = sim.now
            try await limiter.acquire(2)
            sim.expect(sim.now - start <= .milliseconds(2_200), "nothing is owed for callers that have left in time")
        }
    }
}
