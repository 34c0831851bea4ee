import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct HedgedSimulationTests {
    @Test func aHedgeAndThePrimaryFinishTogether() async throws {
        try await race { sim in
            let running = Locked(0)
            let budget = RetryBudget()
            let value = try await withHedging(after: .fixed(.seconds(1)), maxHedges: 2, budget: budget) { attempt in
                running.withLock { $0 += 1 }
                defer { running.withLock { $0 -= 1 } }
                // All three end at 3 s, if they are not cancelled.
                try await Task.sleep(for: .seconds(4 - attempt))
                return attempt
            }
            sim.expect((1...3).contains(value), "one of them wins")
            sim.expect(running.withLock { $0 } == 0, "all attempts have ended")
            sim.expect(sim.now == .seconds(3), "at the time of the first")
        }
    }

    @Test func theCallerLeavesWhileAHedgeBegins() async throws {
        try await race { sim in
            let running = Locked(0)
            let (begun, budget) = (OrderRecorder<Int>(), RetryBudget())
            let call = Task {
                try await withHedging(after: .fixed(.seconds(1)), maxHedges: 2, budget: budget) { attempt in
                    sim.expect(!Task.isCancelled || attempt == 1, "no attempt of a cancelled caller begins")
                    running.withLock { $0 += 1 }
                    begun.record(attempt)
                    defer { running.withLock { $0 -= 1 } }
                    try await Task.sleep(for: .milliseconds(2_500))
                    return attempt
                }
            }
            sim.atAnyPoint { call.cancel() }
            do {
                sim.expect(try await call.value == 1, "all take the same time, so the first one wins")
            } catch {
                sim.expect(error is CancellationError, "a cancelled caller has one error")
            }
            sim.expect(running.withLock { $0 } == 0, "all attempts have ended")
            sim.expect(budget.available <= 500, "nothing is given back that was not taken")
        }
    }

    /// Ten of a hundred calls are slow, in each seed others. Hedges add at most one call per 20 that succeed, and what the budget holds at first.
    @Test func hedgesAddNoMoreThanTheBudgetPaysFor() async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(1_000, inDebug: 5), maxSteps: 1_000_000) { sim in
                let delay = HedgeDelay.quantile(capacity: 200, minimumSamples: 20)
                let budget = RetryBudget(capacity: 100, cost: 20)
                let (attempts, calls) = (Locked(0), 400)
                let random = Locked(sim.random as any RandomNumberGenerator & Sendable)
                for _ in 0..<calls {
                    try await withHedging(after: delay, budget: budget) {
                        attempts.withLock { $0 += 1 }
                        let draw = random.withLock { Int.random(in: 0..<100, using: &$0) }
                        try await Task.sleep(for: .milliseconds(draw < 10 ? 1_000 : 50 + draw))
                    }
                }
                let hedges = attempts.withLock { $0 } - calls
                sim.expect(hedges <= calls / 20 + 5, "\(hedges) hedges")
                sim.expect(
                    delay.duration ?? .zero > .milliseconds(100),
                    "the estimate is \(delay.duration ?? .zero)"
                )
            }
        }
    }
}
