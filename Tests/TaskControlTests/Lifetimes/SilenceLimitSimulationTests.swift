import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct SilenceLimitSimulationTests {
    private final class Model: Sendable {
        let lifetime = AsyncLifetime()
        let handled = OrderRecorder<Int>()
    }

    /// Elements come at any time around the limit, also at the same instant: an element that was handled came in time,
    /// and the iteration fails exactly if a wait has lasted for the limit.
    @Test func anElementAndTheLimitAtTheSameInstant() throws {
        try simulate(seeds: Schedules.seeds(10_000, inDebug: 300)) { sim in
            let model = Model()
            var random = sim.random
            let pauses = (0..<3).map { _ in Int.random(in: 1...3, using: &random) }
            let elements = AsyncStream<Int> { input in
                Task {
                    for (number, pause) in pauses.enumerated() {
                        try await Task.sleep(for: .seconds(pause))
                        input.yield(number)
                    }
                    input.finish()
                }
            }
            let outcome = await model.lifetime
                .forEach(elements, for: model, silenceLimit: .seconds(3)) { model, element in
                    model.handled.record(element)
                }
                .value
            let late = pauses.firstIndex(of: 3)
            switch outcome {
            case .failed(let error): sim.expect(error is TimeoutError && late != nil, "\(error), \(pauses)")
            case .delivered: sim.expect(late == nil, "\(pauses)")
            default: sim.expect(false, "\(outcome)")
            }
            sim.expect(model.handled.events == Array(0..<(late ?? 3)), "\(model.handled.events), \(pauses)")
        }
    }

    /// A cancellation at any point, beside silence: the outcome is one of the two, and nothing is left behind.
    @Test func aCancellationAtAnyPoint() throws {
        try simulate(seeds: Schedules.seeds(10_000, inDebug: 300)) { sim in
            let (model, ended) = (Model(), Gate())
            let elements = AsyncStream<Int> { input in
                input.onTermination = { _ in ended.open() }
                input.yield(0)
            }
            let task = model.lifetime.forEach(elements, for: model, silenceLimit: .seconds(1)) { model, element in
                try? await Task.sleep(for: .seconds(2))
                model.handled.record(element)
            }
            sim.cancelAtAnyPoint(task)
            switch await task.value {
            case .failed(let error): sim.expect(error is TimeoutError && sim.now >= .seconds(3), "\(error)")
            case .cancelled: sim.expect(task.isCancelled)
            case let other: sim.expect(false, "\(other)")
            }
            if model.handled.events == [0] { try? await ended.wait() }
            sim.expect(model.lifetime.isEmpty)
        }
    }
}
