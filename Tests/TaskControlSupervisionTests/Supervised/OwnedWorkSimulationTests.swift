import TaskControl
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

/// Long-lived work of an owner that is released at any point.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct OwnedWorkSimulationTests {
    /// An owner whose deallocation is recorded as -1.
    private final class Model: Sendable {
        let lifetime = AsyncLifetime()
        let log: OrderRecorder<Int>

        init(_ log: OrderRecorder<Int>) { self.log = log }

        deinit { log.record(-1) }
    }

    /// Starts work for a model, releases the model at any point, and expects that the model is deallocated then, unless it receives an element.
    private static func release(
        _ start: @escaping @Sendable (Model, OrderRecorder<Int>) -> Void
    ) throws {
        let delivered = Locked(0)
        try simulate(seeds: Schedules.seeds(20_000, inDebug: 100)) { sim in
            let log = OrderRecorder<Int>()
            let model = Locked<Model?>(Model(log))
            if let first = model.withLock(\.self) { start(first, log) }
            sim.atAnyPoint {
                let released = model.withLock { $0.take() }
                withExtendedLifetime(released) {}
            }
            try await Task.sleep(for: .seconds(100))
            // Not later than at the end of the work of one second.
            _ = model.withLock { $0.take() }
            try await Task.sleep(for: .seconds(10))
            let events = log.events
            sim.expect(
                events.last == -1 && events.count { $0 == -1 } == 1,
                "nothing follows the deallocation: \(events)"
            )
            let numbers = events.filter { $0 > 0 }
            delivered.withLock { $0 += numbers.count }
            sim.expect(numbers == (1..<(numbers.count + 1)).map { $0 }, "each element comes once, in order: \(events)")
        }
        #expect(delivered.withLock(\.self) > 0)
    }

    @Test func aPollDeliversNothingAfterItsOwner() throws {
        try Self.release { model, _ in
            let count = Locked(0)
            model.lifetime.every(.seconds(10), for: model) {
                try await Task.sleep(for: .seconds(1))
                return count.withLock {
                    $0 += 1
                    return $0
                }
            } deliver: { model, number in
                model.log.record(number)
            }
        }
    }

    @Test func aConnectionDeliversNothingAfterItsOwnerAndEachElementOnce() throws {
        try Self.release { model, _ in
            model.lifetime.keepRunning("feed", for: model, limit: .unlimited) { (last: Int?) in
                try await Task.sleep(for: .seconds(1))
                let (stream, input) = AsyncStream<Int>.makeStream()
                for number in 1...3 { input.yield((last ?? 0) + number) }
                input.finish()
                return stream
            } deliver: { model, number in
                model.log.record(number)
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}
