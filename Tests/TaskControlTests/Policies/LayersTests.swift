import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// All policies around one call, in virtual time: each layer's error reaches the caller as itself.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported))
struct LayersTests {
    /// At most three attempts, with a second in between.
    private struct Layers: Sendable {
        let semaphore = AsyncSemaphore(value: 1)
        let flights = SingleFlight<String, Int>()
        let attempts = OrderRecorder<Int>()

        func call(
            atMost outer: Duration = .seconds(10),
            anAttempt inner: Duration = .seconds(2),
            shouldRetry: (any Error) -> Bool = { _ in true },
            _ work: @escaping @Sendable () async throws -> Int
        ) async throws -> Int {
            try await withTimeout(outer) {
                try await retry(attempts: 3, backoff: .fixed(.seconds(1)), shouldRetry: shouldRetry) {
                    attempts.record(1)
                    return try await withTimeout(inner) {
                        try await semaphore.withPermit {
                            try await flights.value(for: "page") { try await work() }
                        }
                    }
                }
            }
        }
    }

    private func check(_ body: @escaping @Sendable (Simulation, Layers) async throws -> Void) async throws {
        try await offThePool {
            try simulate(seeds: 0..<50) { sim in
                let layers = Layers()
                try await body(sim, layers)
                sim.expect(layers.semaphore.available == 1 && layers.flights.count == 0, "nothing is left")
            }
        }
    }

    private func expect<Failure: Error & Equatable>(
        _ failure: Failure,
        after time: Duration,
        attempts: Int,
        of call: @escaping @Sendable (Layers) async throws -> Int
    ) async throws {
        try await check { sim, layers in
            do {
                _ = try await call(layers)
                sim.expect(false, "it fails")
            } catch {
                sim.expect(error as? Failure == failure, "it fails with \(failure), not with \(error)")
            }
            sim.expect(sim.now == time, "after \(time), not after \(sim.now)")
            sim.expect(layers.attempts.count == attempts, "in \(attempts) attempts, not \(layers.attempts.count)")
        }
    }

    @Test func aValueComesThrough() async throws {
        try await check { sim, layers in
            sim.expect(try await layers.call { 42 } == 42)
            sim.expect(layers.attempts.count == 1 && sim.now == .zero)
        }
    }

    @Test func theWorksOwnErrorIsItself() async throws {
        try await expect(MarkedError("work"), after: .seconds(2), attempts: 3) {
            try await $0.call { throw MarkedError("work") }
        }
    }

    @Test func whatIsNotWorthARetryIsThrownAtOnce() async throws {
        try await expect(MarkedError("work"), after: .zero, attempts: 1) {
            try await $0.call(shouldRetry: { !($0 is MarkedError) }) { throw MarkedError("work") }
        }
    }

    @Test func anAttemptThatTakesTooLongIsTriedAgainAndItsLimitIsTheLastError() async throws {
        try await expect(TimeoutError(duration: .seconds(2)), after: .seconds(8), attempts: 3) {
            try await $0.call { try await forever() }
        }
    }

    @Test func theLimitOfAllOfItIsNotTakenForAnAttempts() async throws {
        try await expect(TimeoutError(duration: .seconds(4)), after: .seconds(4), attempts: 2) {
            try await $0.call(atMost: .seconds(4)) { try await forever() }
        }
    }

    @Test func theLimitOfAllOfItEndsADelay() async throws {
        try await expect(TimeoutError(duration: .milliseconds(1500)), after: .milliseconds(1500), attempts: 2) {
            try await $0.call(atMost: .milliseconds(1500)) { throw MarkedError("work") }
        }
    }

    @Test func whoIsCancelledHearsOfItWhereverItIs() async throws {
        // In line for a permit, on a flight, and in a delay.
        for moment in [500, 1_500, 2_500] {
            try await check { sim, layers in
                let holder = Task { try await layers.semaphore.withPermit { try await Task.sleep(for: .seconds(1)) } }
                let task = Task {
                    try await layers.call {
                        try await Task.sleep(for: .seconds(1))
                        throw MarkedError("work")
                    }
                }
                try await Task.sleep(for: .milliseconds(moment))
                task.cancel()
                switch await task.result {
                case .success: sim.expect(false, "it is cancelled")
                case .failure(let error): sim.expect(error is CancellationError, "it is cancelled, not \(error)")
                }
                sim.expect(sim.now == .milliseconds(moment), "at once")
                try await holder.value
            }
        }
    }

    @Test func aFlightThatAsksForItselfSaysSo() async throws {
        try await check { sim, layers in
            do {
                _ = try await layers.call(shouldRetry: { !($0 is ReentrancyError) }) {
                    [flights = layers.flights] in
                    try await flights.value(for: "page") { 1 }
                }
                sim.expect(false, "it fails")
            } catch {
                sim.expect(error is ReentrancyError)
            }
            sim.expect(layers.attempts.count == 1)
        }
    }
}

private func forever() async throws -> Int {
    try await Task.sleep(for: .seconds(1_000))
    return 0
}
