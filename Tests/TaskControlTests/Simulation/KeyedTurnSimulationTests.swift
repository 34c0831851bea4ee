import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Turns of keys that come and go, in every order.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct KeyedTurnSimulationTests {
    @Test func turnsOfAKeyNeverOverlapAndNoKeyIsLeft() async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(10_000, inDebug: 200)) { sim in
                let queue = KeyedFIFOQueue<Int>()
                let inside = Locked([0, 0])
                let callers = (0..<6).map { number in
                    Task {
                        for _ in 0..<2 {
                            try await queue.run(forKey: number % 2) {
                                let count = inside.withLock { inside in
                                    inside[number % 2] += 1
                                    return inside[number % 2]
                                }
                                sim.expect(count == 1, "one at a time")
                                await Task.yield()
                                inside.withLock { $0[number % 2] -= 1 }
                            }
                        }
                    }
                }
                for caller in callers.prefix(3) { sim.cancelAtAnyPoint(caller) }
                for caller in callers.prefix(3) { _ = await caller.result }
                for caller in callers.suffix(3) { try await caller.value }
                sim.expect(queue._lines.keyCount == 0)
            }
        }
    }
}
