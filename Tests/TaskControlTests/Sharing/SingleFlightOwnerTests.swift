import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// A single flight as an owner: it is drained, closed and shut down like every other owner.
@Suite(.timeLimit(.minutes(15)))
struct SingleFlightOwnerTests {
    private let flights = SingleFlight<String, Int>(name: "flights")
    private let begun = Gate()
    private let gate = Gate()

    private func startFlight() async throws -> Task<Int, any Error> {
        let caller = Task {
            try await flights.value(for: "key") {
                begun.open()
                await gate.waitIgnoringCancellation()
                return 1
            }
        }
        try await begun.wait()
        return caller
    }

    @Test func aDrainWaitsForFlightsAndAlsoForThoseThatWereCancelled() async throws {
        let owner: any TaskOwner = flights
        try await owner.drain()
        let caller = try await startFlight()
        #expect(owner.count == 1 && !owner.isEmpty)
        owner.cancelAll(because: "signed out")
        // The caller was not cancelled.
        await #expect(throws: CancellationCause.requested(reason: "signed out")) { try await caller.value }
        #expect(owner.isEmpty)
        let (draining, drained) = (Gate(), OrderRecorder<String>())
        let drain = Task {
            draining.open()
            try await owner.drain()
            drained.record("drained")
        }
        try await draining.wait()
        #expect(drained.events.isEmpty)
        gate.open()
        try await drain.value
        #expect(flights._flights.liveCount == 0)
    }

    @Test func aCancelledDrainReturnsAndTheFlightGoesOn() async throws {
        let caller = try await startFlight()
        let drain = Task { try await flights.drain() }
        drain.cancel()
        await #expect(throws: CancellationError.self) { try await drain.value }
        gate.open()
        #expect(try await caller.value == 1)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await flights.drain()
        }
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @Test func aClosedObjectCancelsItsFlightsAndRefusesNewOnes() async throws {
        let caller = try await startFlight()
        flights.close()
        let error = CancellationCause.shutdown(name: "flights")
        await #expect(throws: error) { try await caller.value }
        let calls = OrderRecorder<Int>()
        await #expect(throws: error) {
            try await flights.value(for: "other") {
                calls.record(1)
                return 2
            }
        }
        #expect(calls.events.isEmpty && flights.isEmpty)
        gate.open()
        try await flights.drain()
    }

    @Test func aShutdownLetsFlightsEndInTheGracePeriodAndLetsCallersJoinThem() async throws {
        let (caller, clock) = (try await startFlight(), TestClock())
        let shutdown = Task { await flights.shutdown(grace: .seconds(5), clock: clock) }
        try await clock.waitForSleepers()
        let joiner = Task { try await flights.value(for: "key") { 3 } }
        await #expect(throws: CancellationCause.shutdown(name: "flights")) {
            try await flights.value(for: "other") { 4 }
        }
        try await wait(forBooksOf: flights._flights.source.number) { 2 - flights._flights.callerCount }
        gate.open()
        _ = await shutdown.value
        #expect(try await caller.value == 1)
        #expect(try await joiner.value == 1)
    }

    @Test func aShutdownCancelsWhatTheGracePeriodHasNotEnded() async throws {
        let (causes, cancelled) = (OrderRecorder<CancellationCause?>(), Gate())
        let caller = Task {
            try await flights.value(for: "key") {
                begun.open()
                try? await Gate().wait()
                causes.record(Task.cancellationCause)
                cancelled.open()
                return 1
            }
        }
        try await begun.wait()
        await flights.shutdown(grace: .zero)
        await #expect(throws: CancellationCause.shutdown(name: "flights")) { try await caller.value }
        #expect(cancelled.isOpen && causes.events == [.shutdown(name: "flights")])
    }

    /// A flight whose key was forgotten has callers too.
    @Test func theCallersOfAForgottenFlightReceiveTheReasonToo() async throws {
        let caller = try await startFlight()
        flights.forget("key")
        flights.cancelAll(because: "signed out")
        await #expect(throws: CancellationCause.requested(reason: "signed out")) { try await caller.value }
        gate.open()
        try await flights.drain()
    }

    @Test func aCallerThatIsCancelledItselfReceivesACancellationErrorWhateverHappensToTheFlight() async throws {
        let caller = try await startFlight()
        caller.cancel()
        flights.cancelAll(because: "signed out")
        await #expect(throws: CancellationError.self) { try await caller.value }
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            flights.close()
            return try await flights.value(for: "other") { 2 }
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        gate.open()
    }

    /// The operation of a flight waits for another flight: the callers of both were not cancelled.
    @Test func theErrorReachesTheCallersOfAFlightThatWaitsForACancelledOne() async throws {
        let outer = SingleFlight<Int, Int>()
        let caller = Task { try await outer.value(for: 1) { try await startFlight().value } }
        try await begun.wait()
        flights.cancelAll()
        let error = await #expect(throws: CancellationCause.self) { try await caller.value }
        #expect(error == .requested(reason: nil))
        gate.open()
    }

    @Test func theErrorIsAnInterruptionAndNotWorthARetry() {
        let error = CancellationCause.requested(reason: "signed out")
        #expect(isInterruption(error) && !RetryPolicy.isWorthRetrying(error))
    }
}
