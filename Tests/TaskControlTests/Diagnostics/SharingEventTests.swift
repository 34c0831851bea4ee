import TaskControlTesting
import TestSupport
import Testing

@_spi(Observers) @testable import TaskControl

/// The events of flights, retries, limits and permits.
@Suite(.timeLimit(.minutes(15)))
struct SharingEventTests {
    @Test func whoJoinsIsToldAndTheKeyIsInItsOwnWords() async throws {
        try await EventLog.recording { recorder in
            let gate = Gate()
            let callers = [Task(name: "a") { try await fetch("token-refresh", gate) }]
            try await recorder.wait { $0.named("withSingleFlight.running").count == 1 }
            let second = Task(name: "b") { try await fetch("token-refresh", gate) }
            try await recorder.wait { $0.named("withSingleFlight.joined").count == 1 }
            gate.open()
            for caller in callers + [second] {
                let value = try await caller.value
                #expect(value == 7)
            }
            try await recorder.wait { $0.named("withSingleFlight.completed").count == 1 }
            #expect(
                recorder.events.lines == [
                    "withSingleFlight.started task=a key=token-refresh",
                    "withSingleFlight.running task=a key=token-refresh",
                    "withSingleFlight.joined task=b key=token-refresh",
                    "withSingleFlight.completed task=a key=token-refresh",
                ]
            )
            #expect(Set(recorder.events.map(\.subject)).count == 1 && recorder.events.unpaired == [])
            #expect(
                recorder.events.allSatisfy {
                    $0.owner == TaskEvent.Identity(_SharedFlights.table.source.number)
                }
            )
            #expect(Set(recorder.events.map(\.task)).count == 3)
        }
    }

    @Test func aFlightThatEverybodyLeavesIsCancelled() async throws {
        let flights = SingleFlight<Int, Int>()
        // The flight is cancelled outside all tasks.
        let number = flights._flights.source.number
        let collector = Collector { $0.owner == TaskEvent.Identity(number) }
        let observation = TaskDiagnostics.observe(collector)
        defer { observation.end() }
        try await EventLog.recording { recorder in
            let (begun, gate) = (Gate(), Gate())
            let caller = Task {
                try await flights.value(for: 1) {
                    begun.open()
                    try await gate.wait()
                    return 1
                }
            }
            try await begun.wait()
            caller.cancel()
            _ = await caller.result
            try await recorder.wait {
                $0.named("SingleFlight.failed").count == 1 && $0.named("SingleFlight.left").count == 1
            }
            try await collector.wait { $0.named("SingleFlight.cancelled").count == 1 }
            let lines = recorder.events.lines
            #expect(lines.contains("SingleFlight.left"))
            #expect(lines.contains("SingleFlight.failed key=1 error=CancellationError() cancelled=true"))
            #expect(recorder.events.unpaired == [])
        }
    }

    @Test func whatIsForgottenAndCancelledAltogetherIsTold() async throws {
        let flights = SingleFlight<String, Int>()
        try await EventLog.recording { recorder in
            let gate = Gate()
            let caller = Task {
                try await flights.value(for: "k") {
                    try await gate.wait()
                    return 1
                }
            }
            try await recorder.wait { $0.count == 2 }
            flights.forget("other")
            flights.forget("k")
            flights.cancelAll()
            _ = await caller.result
            try await recorder.wait { $0.contains { $0.outcome != nil } && $0.contains { $0.kind == .left } }
            // The caller leaves and the flight ends on other threads, perhaps before `cancelled` is emitted.
            let lines = recorder.events.filter { $0.kind != .left && $0.outcome == nil }.lines
            #expect(
                lines == [
                    "SingleFlight.started key=k", "SingleFlight.running key=k", "SingleFlight.forgotten key=k",
                    "SingleFlight.cancelledAll count=1", "SingleFlight.cancelled detail=requested",
                ]
            )
        }
        let own = EventLog.events { _ = SingleFlight<String, Int>() }
        #expect(own.lines == ["SingleFlight.created", "SingleFlight.deallocated"])
    }

    // MARK: Retries

    @Test func aRetryTellsItsFailuresAndItsSuccess() async throws {
        let events = try await EventLog.events {
            try await retry(attempts: 3, backoff: .none) { attempt in
                if attempt < 3 { throw MarkedError("\(attempt)") }
            }
        }
        #expect(
            events.lines == [
                #"retry.failed attempt=1 error=MarkedError(mark: "1")"#, "retry.waiting attempt=1 delay=0.0 seconds",
                "retry.retrying attempt=2",
                #"retry.failed attempt=2 error=MarkedError(mark: "2")"#, "retry.waiting attempt=2 delay=0.0 seconds",
                "retry.retrying attempt=3",
                "retry.succeeded attempt=3",
            ]
        )
        #expect(Set(events.map(\.subject)).count == 1 && events.unpaired == [] && events.last?.age != nil)
    }

    @Test func whatSucceedsAtOnceIsNoRetry() async throws {
        let events = try await EventLog.events { try await retry(attempts: 3, backoff: .none) {} }
        #expect(events.isEmpty)
    }

    @Test func aRetryThatGivesUpSaysSo() async {
        let events = await EventLog.events {
            try? await retry(attempts: 1, backoff: .none) { throw MarkedError("no") }
        }
        #expect(
            events.lines == [
                #"retry.failed attempt=1 error=MarkedError(mark: "no")"#,
                #"retry.gaveUp attempt=1 error=MarkedError(mark: "no")"#,
            ]
        )
        #expect(events.unpaired == [])
    }

    @Test func aRetryThatIsCancelledInItsDelayEnds() async throws {
        let clock = TestClock()
        try await EventLog.recording { recorder in
            let caller = Task {
                try await retry(attempts: 2, backoff: .fixed(.seconds(1)), clock: clock) {
                    throw MarkedError("no")
                }
            }
            try await recorder.wait { $0.named("retry.waiting").count == 1 }
            caller.cancel()
            _ = await caller.result
            #expect(
                recorder.events.last?.description.contains("retry.gaveUp attempt=1 error=CancellationError()") == true
            )
            #expect(recorder.events.last?.isCancelled == true && recorder.events.unpaired == [])
        }
    }

    // MARK: Limits

    @Test func aLimitIsToldWithWhatCameOfIt() async throws {
        let clock = TestClock()
        try await EventLog.recording { recorder in
            try await withTimeout(.seconds(1), clock: clock) {}
            try? await withTimeout(.seconds(1), clock: clock) { throw MarkedError("no") }
            #expect(
                recorder.events.lines == [
                    "withTimeout.started delay=1.0 seconds", "withTimeout.running", "withTimeout.completed",
                    "withTimeout.started delay=1.0 seconds", "withTimeout.running",
                    #"withTimeout.failed error=MarkedError(mark: "no")"#,
                ]
            )
            let slow = Task { try await withTimeout(.seconds(1), clock: clock) { try await Gate().wait() } }
            try await recorder.wait { $0.count == 8 }
            try await clock.waitForSleepers(count: 1)
            await clock.advance(by: .seconds(1))
            _ = await slow.result
            #expect(recorder.events.last?.name == "withTimeout.timedOut")
            #expect(recorder.events.unpaired == [])
        }
    }

    @Test func abandonedWorkIsToldToItsEnd() async throws {
        let clock = TestClock()
        try await EventLog.recording { recorder in
            let gate = Gate()
            let caller = Task {
                try await withDetachedTimeout(.seconds(1), name: "legacy", clock: clock) {
                    await Task { try? await gate.wait() }.value
                }
            }
            try await clock.waitForSleepers(count: 1)
            try await recorder.wait { $0.named("withDetachedTimeout.started").count == 1 }
            await clock.advance(by: .seconds(1))
            _ = await caller.result
            gate.open()
            try await recorder.wait { $0.contains { $0.kind == .abandonedWorkEnded } }
            let own = recorder.events.filter { $0.primitive == .withDetachedTimeout }
            #expect(own.first?.description == "withDetachedTimeout.started task=legacy")
            #expect(own.last?.description == "withDetachedTimeout.abandonedWorkEnded task=legacy")
            #expect(own.unpaired == [])
        }
    }

    // MARK: Permits

    @Test func permitsAreToldFromTheWaitToTheirReturn() async throws {
        let semaphore = AsyncSemaphore(value: 1)
        try await EventLog.recording { recorder in
            try await semaphore.withPermit {
                let waiting = Task { try await semaphore.withPermit {} }
                try await recorder.wait { $0.named("AsyncSemaphore.waiting").count == 1 }
                let leaving = Task { try await semaphore.acquire() }
                try await recorder.wait { $0.named("AsyncSemaphore.waiting").count == 2 }
                leaving.cancel()
                _ = await leaving.result
                // It waits for this one to return its permit.
                _ = waiting
            }
            try await recorder.wait { $0.named("AsyncSemaphore.released").count == 2 }
            let lists = recorder.events.bySubject.map(\.lines)
            #expect(
                lists == [
                    ["AsyncSemaphore.acquired count=1", "AsyncSemaphore.released count=1"],
                    [
                        "AsyncSemaphore.waiting count=1", "AsyncSemaphore.acquired count=1",
                        "AsyncSemaphore.released count=1",
                    ],
                    ["AsyncSemaphore.waiting count=1", "AsyncSemaphore.left count=1 cancelled=true"],
                ]
            )
            #expect(recorder.events.unpaired == [])
            #expect(recorder.events.allSatisfy { $0.owner == TaskEvent.Identity(semaphore.source.number) })
        }
        let events = await EventLog.events {
            try? await semaphore.acquire()
            #expect(!semaphore.tryAcquire())
            semaphore.release()
            #expect(semaphore.tryAcquire())
            semaphore.release()
        }
        #expect(events.map(\.kind) == [.acquired, .released, .acquired, .released])
        #expect(events.allSatisfy { $0.subject == nil && $0.count == 1 })
        let own = EventLog.events { _ = AsyncSemaphore(value: 3) }
        #expect(own.lines == ["AsyncSemaphore.created count=3", "AsyncSemaphore.deallocated"])
    }
}

private func fetch(_ key: String, _ gate: Gate) async throws -> Int {
    try await withSingleFlight(key: key) {
        try await gate.wait()
        return 7
    }
}
