import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// The races of flights, permits and time limits, by name, under 10,000 schedules each.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct SharingRaceSimulationTests {
    @Test func eachCallerReceivesTheErrorOfWhatHasEndedItsWaitInAnyOrder() throws {
        try simulate(seeds: Schedules.seeds(5_000, inDebug: 100)) { sim in
            let flights = SingleFlight<Int, Int>()
            let callers = (0..<3).map { number in
                Task {
                    do {
                        _ = try await flights.value(for: number % 2) {
                            try await Task.sleep(for: .seconds(1))
                            return 1
                        }
                        return "value"
                    } catch {
                        if Task.isCancelled { return error is CancellationError ? "cancelled" : "\(error)" }
                        return error is CancellationCause ? "refused" : "\(error)"
                    }
                }
            }
            sim.cancelAtAnyPoint(callers[0])
            sim.atAnyPoint { flights.cancelAll() }
            sim.atAnyPoint { flights.forget(1) }
            for caller in callers {
                let end = await caller.value
                sim.expect(["value", "cancelled", "refused"].contains(end), end)
            }
        }
    }

    /// The last caller leaves while another comes: the new caller receives a value, never the cancellation of the old flight.
    @Test func joinAndLastLeave() async throws {
        try await race { sim in
            let flights = SingleFlight<String, Int>()
            let running = OrderRecorder<Int>()
            let work: @Sendable () async throws -> Int = {
                running.record(1)
                for _ in 0..<3 { await Task.yield() }
                try Task.checkCancellation()
                return 42
            }
            let leaver = Task { try await flights.value(for: "token") { try await work() } }
            sim.cancelAtAnyPoint(leaver)
            let joiners = (0..<2).map { _ in
                Task {
                    await Task.yield()
                    return try await flights.value(for: "token") { try await work() }
                }
            }
            for joiner in joiners { sim.expect(try await joiner.value == 42) }
            if case .failure(let error) = await leaver.result { sim.expect(error is CancellationError) }
            sim.expect(running.count <= 3 && flights.count == 0)
        }
    }

    /// A flight ends while others come: they join it or begin a new one, and the end of the old takes nothing from the new.
    @Test func finishAndJoin() async throws {
        try await race { sim in
            let flights = SingleFlight<String, Int>()
            let (begun, inside) = (OrderRecorder<Int>(), OrderRecorder<Int>())
            await withTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        let value = try? await flights.value(for: "token") {
                            begun.record(0)
                            inside.record(1)
                            sim.expect(inside.events.reduce(0, +) == 1, "one at a time")
                            await Task.yield()
                            inside.record(-1)
                            return begun.count
                        }
                        sim.expect(value != nil)
                    }
                }
            }
            sim.expect((1...4).contains(begun.count) && flights.count == 0)
        }
    }

    /// A caller that comes after the forgetting never gets a value that was fetched before it.
    @Test func forgetAndJoin() async throws {
        try await race { sim in
            let (flights, version) = (SingleFlight<String, Int>(), Level(0))
            await withTaskGroup { group in
                for _ in 0..<3 {
                    group.addTask {
                        let before = version.value
                        let value = try? await flights.value(for: "config") {
                            let fetched = version.value
                            await Task.yield()
                            await Task.yield()
                            return fetched
                        }
                        sim.expect(value.map { $0 >= before } == true, "it is not older than the call")
                    }
                }
                group.addTask {
                    await Task.yield()
                    version.increment()
                    flights.forget("config")
                }
            }
            sim.expect(flights.count == 0)
        }
    }

    @Test func cancelAllAndJoin() async throws {
        try await race { sim in
            let flights = SingleFlight<String, Int>()
            let callers = (0..<3).map { number in
                Task {
                    for _ in 0..<number { await Task.yield() }
                    return try await flights.value(for: "token") {
                        await Task.yield()
                        return 42
                    }
                }
            }
            let cancelled = Gate()
            sim.atAnyPoint {
                flights.cancelAll()
                cancelled.open()
            }
            for caller in callers {
                switch await caller.result {
                case .success(let value): sim.expect(value == 42)
                case .failure(let error): sim.expect(error is CancellationCause, "\(error)")
                }
            }
            try await cancelled.wait()
            sim.expect(try await flights.value(for: "token") { 7 } == 7, "it can be used again")
        }
    }

    /// Two flights that ask for each other: an error, whichever comes first, and never a hang.
    @Test func flightsThatAskForEachOther() async throws {
        try await race { sim in
            let flights = SingleFlight<String, Int>()
            @Sendable func ask(_ one: String, _ other: String) async throws -> Int {
                try await flights.value(for: one) {
                    await Task.yield()
                    return try await flights.value(for: other) { 1 }
                }
            }
            let results = await [Task { try await ask("a", "b") }.result, Task { try await ask("b", "a") }.result]
            for case .failure(let error) in results { sim.expect((error as? ReentrancyError)?.key != nil) }
            let (one, other) = (Task { try await ask("c", "d") }, Task { try await ask("d", "c") })
            for case .failure(let error) in await [one.result, other.result] {
                sim.expect((error as? ReentrancyError)?.key != nil)
            }
        }
    }

    /// A permit that is granted and a cancellation, at once: nothing is lost.
    @Test func cancelAndGrant() async throws {
        try await race { sim in
            let semaphore = AsyncSemaphore(value: 2)
            try await semaphore.acquire(2)
            let waiters = [2, 1, 1].map { weight in
                Task { try await semaphore.withPermits(weight) { await Task.yield() } }
            }
            sim.cancelAtAnyPoint(waiters[0])
            sim.cancelAtAnyPoint(waiters[1])
            sim.atAnyPoint { semaphore.release() }
            sim.atAnyPoint { semaphore.release() }
            for waiter in waiters.prefix(2) {
                if case .failure(let error) = await waiter.result { sim.expect(error is CancellationError) }
            }
            try await waiters[2].value
            // Releases the other permits at any point.
            try await semaphore.acquire(2)
            semaphore.release(2)
            sim.expect(semaphore.available == 2 && semaphore.waiterCount == 0)
        }
    }

    /// At the limit itself: a value or a `TimeoutError`, and never anything else; the operation has ended in any case.
    @Test func timeoutAndFinish() async throws {
        try await race { sim in
            let ended = OrderRecorder<Bool>()
            do {
                let value = try await withTimeout(.milliseconds(5)) {
                    defer { ended.record(true) }
                    try await Task.sleep(for: .milliseconds(5))
                    return 42
                }
                sim.expect(value == 42)
            } catch {
                sim.expect(error as? TimeoutError == TimeoutError(duration: .milliseconds(5)))
            }
            sim.expect(ended.count == 1)
        }
    }

    /// The caller's cancellation is the third: whatever it meets, the caller receives one of them.
    @Test func timeoutAndCancel() async throws {
        try await race { sim in
            let task = Task {
                try await withTimeout(.milliseconds(5)) { try await Task.sleep(for: .milliseconds(5)) }
                try await withDetachedTimeout(.milliseconds(5)) { try await Task.sleep(for: .milliseconds(5)) }
            }
            sim.cancelAtAnyPoint(task)
            switch await task.result {
            case .success: break
            case .failure(let error): sim.expect(error is TimeoutError || error is CancellationError)
            }
        }
    }

    /// All of them at once: each layer's error reaches the caller as itself.
    @Test func layersThatNest() async throws {
        try await race { sim in
            let (flights, semaphore) = (SingleFlight<Int, Int>(), AsyncSemaphore(value: 2))
            let callers = (0..<4).map { number in
                Task {
                    try await withTimeout(.milliseconds(10)) {
                        try await withTimeout(.milliseconds(3 + number)) {
                            try await semaphore.withPermit {
                                try await flights.value(for: number / 2) {
                                    try await Task.sleep(for: .milliseconds(4))
                                    return number / 2
                                }
                            }
                        }
                    }
                }
            }
            sim.cancelAtAnyPoint(callers[0])
            for (number, caller) in callers.enumerated() {
                switch await caller.result {
                case .success(let value): sim.expect(value == number / 2)
                case .failure(let error as TimeoutError): sim.expect(error.duration == .milliseconds(3 + number))
                case .failure(let error): sim.expect(error is CancellationError && number == 0)
                }
            }
            sim.expect(semaphore.available == 2 && flights.count == 0)
        }
    }
}

/// A number that only rises.
private struct Level: Sendable {
    private let number: Locked<Int>

    init(_ number: Int) {
        self.number = Locked(number)
    }

    var value: Int { number.withLock { $0 } }

    func increment() { number.withLock { $0 += 1 } }
}
