import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(2)))
struct AsyncLifetimeTests {
    // MARK: Counting and cancelling

    @Test func cancelAllCancelsWhatIsBoundAndTheLifetimeGoesOn() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        let tasks = (0..<10).map { _ in
            AsyncTask { await gate.waitIgnoringCancellation() }.bind(to: lifetime)
        }
        #expect(lifetime.count == 10 && !lifetime.isEmpty)
        lifetime.cancelAll()
        #expect(lifetime.count == 0 && lifetime.isEmpty, "though they still run")
        #expect(tasks.filter(\.isCancelled).count == 10)
        let later = AsyncTask { await gate.waitIgnoringCancellation() }.bind(to: lifetime)
        #expect(lifetime.count == 1 && !later.isCancelled)
        gate.open()
        try await lifetime.drain()
        #expect(lifetime.isEmpty)
    }

    @Test func cancelAllFromAHandlerThatItTriggersNeitherDeadlocksNorMissesATask() async throws {
        let (lifetime, ended) = (AsyncLifetime(), Log<Int>())
        let started = (0..<20).map { _ in Gate() }
        for number in 0..<20 {
            AsyncTask {
                await withTaskCancellationHandler {
                    started[number].open()
                    await Gate().wait()
                    ended.append(number)
                } onCancel: {
                    lifetime.cancelAll()
                    // What is bound meanwhile is not concerned.
                    if number == 0 { AsyncTask { ended.append(100) }.bind(to: lifetime) }
                }
            }.bind(to: lifetime)
        }
        for gate in started { await gate.wait() }
        lifetime.cancelAll()
        try await lifetime.drain()
        #expect(Set(ended.values).isSuperset(of: 0..<20))
    }

    @Test func aMillionTasksLeaveNothingBehind() async {
        // In a process of its own, so that nobody else's memory is measured.
        await #expect(processExitsWith: .success) {
            let lifetime = AsyncLifetime()
            func run(_ count: Int) async throws {
                for batch in 0..<count / 1_000 {
                    for _ in 0..<1_000 { AsyncTask {}.bind(to: lifetime) }
                    if batch.isMultiple(of: 4) { try await lifetime.drain() }
                }
                try await lifetime.drain()
            }
            try await run(200_000)
            let before = try residentKilobytes()
            try await run(800_000)
            let growth = try residentKilobytes() - before
            precondition(lifetime.count == 0 && growth < 16_384, "\(lifetime.count) left, \(growth) KB more")
        }
    }

    // MARK: Closing

    @Test func aClosedLifetimeCancelsAndStartsNothing() async throws {
        let (lifetime, log, owner) = (AsyncLifetime(), Log<String>(), Owner())
        let before = AsyncTask { await Gate().wait() }.bind(to: lifetime)
        lifetime.close()
        #expect(before.isCancelled && lifetime.isEmpty)
        let bound = AsyncTask { await Gate().wait() }.bind(to: lifetime)
        #expect(bound.isCancelled)
        let run = lifetime.run(for: owner) {
            log.append("run")
        } deliver: { _, _ in
            log.append("deliver")
        }
        let forEach = lifetime.forEach(AsyncStream { $0.yield(1) }, for: owner) { _, _ in log.append("element") }
        await run.value
        await forEach.value
        #expect(log.values == [] && run.isCancelled && forEach.isCancelled)
        try await lifetime.drain()
    }

    // MARK: Draining

    @Test func drainReturnsAtOnceWhenNothingIsBound() async throws {
        try await AsyncLifetime().drain()
    }

    @Test func drainWaitsForWhatIsBoundMeanwhileAndForWhatWasCancelled() async throws {
        let (lifetime, log) = (AsyncLifetime(), Log<Int>())
        let (first, second, started) = (Gate(), Gate(), Gate())
        AsyncTask {
            started.open()
            await first.waitIgnoringCancellation()
            AsyncTask {
                await second.wait()
                log.append(2)
            }.bind(to: lifetime)
            log.append(1)
        }.bind(to: lifetime)
        await started.wait()
        lifetime.cancelAll()
        let drained = Task {
            try await lifetime.drain()
            log.append(3)
        }
        first.open()
        second.open()
        try await drained.value
        #expect(log.values.last == 3 && Set(log.values) == [1, 2, 3])
    }

    @Test func aCancelledDrainLeavesAtOnceAndWhatIsBoundGoesOn() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        let task = AsyncTask { await gate.wait() }.bind(to: lifetime)
        for isEarly in [true, false] {
            let drain = Task { @MainActor in try await lifetime.drain() }
            // On the main actor or before it, the drain is cancelled before it parks; otherwise wherever it is.
            if !isEarly { await MainActor.run {} }
            drain.cancel()
            await #expect(throws: CancellationError.self) { try await drain.value }
        }
        #expect(!task.isCancelled && lifetime.count == 1)
        gate.open()
        try await lifetime.drain()
    }

    @Test func aCallerThatIsCancelledAlreadySeesCancellationErrorThoughNothingIsBound() async {
        let (lifetime, cancelled) = (AsyncLifetime(), Gate())
        let drain = Task {
            await cancelled.waitIgnoringCancellation()
            try await lifetime.drain()
        }
        drain.cancel()
        cancelled.open()
        await #expect(throws: CancellationError.self) { try await drain.value }
    }

    @Test func manyDrainsAllReturn() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        AsyncTask { await gate.wait() }.bind(to: lifetime)
        let drains = (0..<50).map { number in
            let drain = Task { try await lifetime.drain() }
            if number.isMultiple(of: 2) { drain.cancel() }
            return drain
        }
        gate.open()
        for (number, drain) in drains.enumerated() {
            if number.isMultiple(of: 2) { _ = try? await drain.value } else { try await drain.value }
        }
    }

    // MARK: Shutting down

    @Test func shutdownLetsWorkEndWithinItsGrace() async {
        let (lifetime, gate, clock) = (AsyncLifetime(), Gate(), ManualClock())
        let task = AsyncTask { await gate.wait() }.bind(to: lifetime)
        let shutdown = Task { await lifetime.shutdown(grace: .seconds(5), clock: clock) }
        await clock.hasSlept(1)
        let late = AsyncTask { await Gate().wait() }.bind(to: lifetime)
        #expect(late.isCancelled, "new work is refused")
        gate.open()
        await shutdown.value
        #expect(!task.isCancelled && lifetime.isEmpty)
        await late.value
    }

    @Test func shutdownCancelsTheRestAfterItsGraceAndWaitsForTheEnd() async {
        let (lifetime, clock, log) = (AsyncLifetime(), ManualClock(), Log<String>())
        AsyncTask {
            await Gate().wait()
            log.append("task ended, cancelled: \(Task.isCancelled)")
        }.bind(to: lifetime)
        let shutdown = Task {
            await lifetime.shutdown(grace: .seconds(5), clock: clock)
            log.append("shutdown ended")
        }
        await clock.hasSlept(1)
        #expect(lifetime.count == 1)
        clock.advance(by: .seconds(5))
        await shutdown.value
        #expect(log.values == ["task ended, cancelled: true", "shutdown ended"])
    }

    @Test func aCancelledShutdownCutsTheGraceShortAndStillWaitsForTheEnd() async {
        let (lifetime, clock, log, cancelled) = (AsyncLifetime(), ManualClock(), Log<String>(), Gate())
        let gate = Gate()
        AsyncTask {
            await withTaskCancellationHandler {
                await gate.waitIgnoringCancellation()
            } onCancel: {
                cancelled.open()
            }
            log.append("task ended")
        }.bind(to: lifetime)
        let shutdown = Task {
            await lifetime.shutdown(grace: .seconds(5), clock: clock)
            log.append("shutdown ended")
        }
        await clock.hasSlept(1)
        shutdown.cancel()
        await cancelled.wait()
        #expect(log.values == [])
        gate.open()
        await shutdown.value
        #expect(log.values == ["task ended", "shutdown ended"])
    }

    @Test func withoutGraceShutdownCancelsAtOnce() async {
        let lifetime = AsyncLifetime()
        let task = AsyncTask { await Gate().wait() }.bind(to: lifetime)
        await lifetime.shutdown(grace: .zero, clock: ManualClock())
        #expect(task.isCancelled && lifetime.isEmpty)
    }

    private final class Owner: Sendable {}
}

#if os(Linux)
import Glibc

func residentKilobytes() throws -> Int {
    let file = try #require(fopen("/proc/self/statm", "r"))
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    try #require(fgets(&line, 256, file) != nil)
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let pages = try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    return pages * sysconf(CInt(_SC_PAGESIZE)) / 1_024
}
#else
func residentKilobytes() throws -> Int { 0 }
#endif
