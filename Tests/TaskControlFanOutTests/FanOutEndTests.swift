import TaskControl
import TaskControlFanOut
import TaskControlTesting
import TestSupport
import Testing

/// When a call that ends an owner has returned, no operation of a fan-out in one of its tasks begins, and all are cancelled.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct FanOutEndTests {
    @Test(arguments: [false, true]) func operationsEndWithTheOwnerOfTheirCaller(isAsync: Bool) throws {
        try expectNothingAfterTheEnd(
            of: { _ in AsyncLifetime() },
            seeds: Schedules.seeds(2_000, inDebug: 30)
        ) { lifetime, witness in
            lifetime.addTask {
                @Sendable func work(_ number: Int) async throws {
                    witness.begins("an operation")
                    await Task.yield()
                    witness.continues("an operation")
                    try await Task.sleep(for: .seconds(1))
                    witness.continues("an operation")
                }
                if isAsync {
                    let (numbers, input) = AsyncStream<Int>.makeStream()
                    for number in 1...5 { input.yield(number) }
                    input.finish()
                    try await numbers.concurrentForEach(limit: 2) { try await work($0) }
                } else {
                    try await (1...5).concurrentForEach(limit: 2) { try await work($0) }
                }
            }
        }
    }
}
