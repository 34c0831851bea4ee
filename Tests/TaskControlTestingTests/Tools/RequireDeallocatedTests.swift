import TaskControlTesting
import Testing

private final class Object: Sendable {}

@MainActor private final class Model {
    var parts: [Object] = []
}

struct Failure: Error {}

@Suite(.timeLimit(.minutes(15)))
struct RequireDeallocatedTests {
    /// No test moves the clock: a sleep would not end.
    @Test func whatGoesAtOnceTakesNoTime() async throws {
        try await requireDeallocated(clock: TestClock()) { Object() }
    }

    @Test @MainActor func theObjectIsMadeInTheIsolationOfTheCaller() async throws {
        var models = 0
        try await requireDeallocated(clock: TestClock()) {
            let model = Model()
            model.parts.append(Object())
            models += 1
            return model
        }
        #expect(models == 1)
    }

    @Test func whatGoesLaterIsNoticedAtTheNextLook() async throws {
        final class Farewell: Sendable {
            let gone: Gate
            init(_ gone: Gate) { self.gone = gone }
            deinit { gone.open() }
        }
        let (clock, gate, gone) = (TestClock(), Gate(), Gate())
        let moving = Task {
            // It has looked at once, and 1, 3 and 7 ms later.
            await clock.advance(by: .milliseconds(7), waking: 3)
            try await clock.waitForSleepers()
            gate.open()
            try await gone.wait()
            await clock.run()
        }
        try await requireDeallocated(clock: clock) {
            let object = Farewell(gone)
            Task {
                try await gate.wait()
                withExtendedLifetime(object) {}
            }
            return object
        }
        try await moving.value
        #expect(clock.now.offset == .milliseconds(15))
    }

    @Test func whatStaysIsReportedWithItsTypeAndPlace() async {
        let object = Object()
        let clock = TestClock(advancesAutomatically: true)
        let error = await #expect(throws: StillAliveError.self) {
            try await requireDeallocated(within: .seconds(3), clock: clock, filePath: "A.swift", line: 7, column: 2) {
                object
            }
        }
        #expect(error?.description.hasPrefix("A.swift:7:2: Object is still alive 3.0 seconds after") == true)
        #expect(clock.now.offset == .seconds(3), "the limit is kept to")
        withExtendedLifetime(object) {}
    }

    @Test func whoIsCancelledLeavesAtOnce() async throws {
        let object = Object()
        let clock = TestClock()
        let task = Task { try await requireDeallocated(clock: clock) { object } }
        try await clock.waitForSleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        withExtendedLifetime(object) {}
    }

    /// A clock that sleeps on, or throws something else, when its caller is cancelled.
    @Test(arguments: [nil, Failure()] as [Failure?])
    func whateverTheClockDoesACancelledCallerSeesItsCancellation(error: Failure?) async {
        struct Deaf: Clock {
            let error: Failure?
            var now: ContinuousClock.Instant { .now }
            var minimumResolution: Duration { .zero }

            func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
                withUnsafeCurrentTask { $0?.cancel() }
                if let error { throw error }
            }
        }
        let object = Object()
        let task = Task { try await requireDeallocated(clock: Deaf(error: error)) { object } }
        await #expect(throws: CancellationError.self) { try await task.value }
        withExtendedLifetime(object) {}
    }

    @Test func whatTheClosureThrowsIsThrown() async {
        await #expect(throws: Failure.self) { try await requireDeallocated { () -> Object in throw Failure() } }
    }
}
