import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct DeadlineSimulationTests {
    /// The operation ends at the instant of its deadline: the caller receives the value or the error of the deadline, and nothing is left behind.
    @Test func aValueAndADeadlineAtTheSameInstant() throws {
        try simulate(seeds: Schedules.seeds(10_000, inDebug: 300)) { sim in
            let outcome = await Task {
                try await withDeadline(in: .seconds(1)) {
                    try await Task.sleep(for: .seconds(1))
                    return 7
                }
            }.result
            switch outcome {
            case .success(let value): sim.expect(value == 7)
            case .failure(let error): sim.expect(error is DeadlineExceededError, "\(error)")
            }
            sim.expect(sim.now == .seconds(1))
        }
    }

    /// A cancellation, an inner deadline and an outer one: the error says which of them came, and all work has ended by then.
    @Test func aCancellationAtAnyPointIsACancellation() throws {
        try simulate(seeds: Schedules.seeds(10_000, inDebug: 300)) { sim in
            let running = OrderRecorder<Int>()
            let caller = Task {
                try await withDeadline(in: .seconds(2)) {
                    try await withDeadline(in: .seconds(1)) {
                        running.record(1)
                        defer { running.record(-1) }
                        try await Task.sleep(for: .seconds(5))
                    }
                }
            }
            sim.cancelAtAnyPoint(caller)
            let outcome = await caller.result
            sim.expect(running.events.reduce(0, +) == 0, "the operation has ended")
            guard case .failure(let error) = outcome else {
                return sim.expect(false, "the operation does not end in time")
            }
            sim.expect(error is CancellationError || error is DeadlineExceededError, "\(error)")
            if error is DeadlineExceededError { sim.expect(sim.now == .seconds(1)) }
        }
    }
}
