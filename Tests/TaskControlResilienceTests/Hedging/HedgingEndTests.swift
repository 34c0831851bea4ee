import TaskControl
import TaskControlResilience
import TaskControlTesting
import TestSupport
import Testing

/// When a call that ends an owner has returned, no attempt of a hedged call in one of its tasks begins, and all are cancelled.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct HedgingEndTests {
    @Test func attemptsEndWithTheOwnerOfTheirCaller() throws {
        try expectNothingAfterTheEnd(
            of: { _ in AsyncLifetime() },
            seeds: Schedules.seeds(2_000, inDebug: 30)
        ) { lifetime, witness in
            lifetime.addTask {
                try await withHedging(after: .fixed(.seconds(1)), maxHedges: 2, budget: RetryBudget()) { _ in
                    witness.begins("an attempt")
                    await Task.yield()
                    witness.continues("an attempt")
                    try await Task.sleep(for: .seconds(5))
                    witness.continues("an attempt")
                }
            }
        }
    }
}
