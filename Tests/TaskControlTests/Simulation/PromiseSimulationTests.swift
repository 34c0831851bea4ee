import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// Results that are set and reset while callers come and leave, in every order.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct PromiseSimulationTests {
    /// A result is never lost between the look and the wait, and a caller receives the result of its wait.
    @Test func eachCallerOfAPromiseReceivesAResultThatWasSet() async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(10_000, inDebug: 200)) { sim in
                let promise = AsyncPromise<Int>()
                let callers = (0..<4).map { _ in
                    Task {
                        await Task.yield()
                        return try await promise.value
                    }
                }
                sim.cancelAtAnyPoint(callers[0])
                sim.atAnyPoint { promise.succeed(1) }
                sim.atAnyPoint { promise.reset() }
                // At last, so that no caller waits for a result that does not come.
                let last = Task {
                    for _ in 0..<3 { await Task.yield() }
                    promise.succeed(2)
                    try await Task.sleep(for: .seconds(1))  // simulated time
                    promise.succeed(3)
                }
                for (number, caller) in callers.enumerated() {
                    switch await caller.result {
                    case .success(let value): sim.expect((1...3).contains(value))
                    case .failure(let error): sim.expect(number == 0 && error is CancellationError)
                    }
                }
                try await last.value
            }
        }
    }
}
