import TaskControl
import TaskControlSnapshot
import TaskControlTesting
import Testing

@testable import TaskControlTestingTraits

/// The explanation of a test that does not return: what it waits for.
@Suite(.timeLimit(.minutes(15)))
struct ExplainsHangsTests {
    private struct Mistake: Error {}

    /// Time stands until the test moves it.
    private let clock = TestClock()
    private var trait: ExplainsHangsTrait { ExplainsHangsTrait(limit: .seconds(30), clock: clock) }

    /// Runs a function that hangs, and lets its time pass once it does.
    private func outcome(
        when hangs: @escaping @Sendable () async throws -> Void,
        _ function: @concurrent @escaping @Sendable () async throws -> Void
    ) async throws -> Outcome {
        let trait = trait
        let outcome = Task { try await Outcome(of: trait, function) }
        try await hangs()
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(30))
        return try await outcome.value
    }

    @Test func aTestThatHangsIsOneIssueWithWhatItWaitsFor() async throws {
        let (store, gate) = (TaskStore<String>(name: "feed"), Gate())
        let outcome = try await outcome(when: { try await gate.waitForWaiters() }) {
            store.addTask(forKey: "news", name: "poll") { try? await gate.wait() }
            try await store.drain()
        }
        let text = try outcome.issue.text
        #expect(text.hasPrefix("The test has not returned after 30.0 seconds, and is cancelled.\n"))
        #expect(text.contains("TaskStore \"feed\"") && text.contains("\"poll\" key news runs"))
        gate.open()
        try await store.drain()
        #expect(try outcome.issue.sourceLocation == Test.current?.sourceLocation)
    }

    @Test func aCircleIsNamed() async throws {
        let hangs = Gate()
        let waits = WaitObserver(gate: hangs)
        let observation = TaskDiagnostics.observe(waits)
        defer { observation.end() }
        let outcome = try await outcome(when: { try await hangs.wait() }) {
            try await WaitObserver.$isWatched.withValue(true) {
                let permits = AsyncSemaphore(name: "printers", value: 1)
                try await permits.withPermit { try await permits.withPermit {} }
            }
        }
        let text = try outcome.issue.text
        #expect(text.contains("waits for itself: "))
    }

    @Test func aTestThatReturnsInTimeIsNotDisturbed() async throws {
        let outcome = try await Outcome(of: trait) { await Task.yield() }
        #expect(outcome.issues.isEmpty && outcome.error == nil)
        let failing = try await Outcome(of: trait) { throw Mistake() }
        #expect(failing.issues.isEmpty && failing.error is Mistake)
    }

    @Test func aHangThatTheLibraryDoesNotKnowIsSaidToBeOne() async throws {
        let gate = Gate()
        let outcome = try await outcome(when: { try await gate.waitForWaiters() }) { try await gate.wait() }
        #expect(try outcome.issue.text.contains("waits for something that the library does not know"))
    }

    @Test func anotherErrorAfterTheCancellationIsThrownOn() async throws {
        let gate = Gate()
        let outcome = try await outcome(when: { try await gate.waitForWaiters() }) {
            do { try await gate.wait() } catch { throw Mistake() }
        }
        #expect(outcome.issues.count == 1 && outcome.error is Mistake)
    }

    @Test func whatOtherTestsDoIsLeftOut() async throws {
        let (own, gate) = (TaskBag(name: "own"), Gate())
        let (others, otherGate) = (TaskBag(name: "others"), Gate())
        let outcome = try await outcome(
            when: {
                try await gate.waitForWaiters()
                others.addTask { try? await otherGate.wait() }
                try await otherGate.waitForWaiters()
            }
        ) {
            own.addTask { try? await gate.wait() }
            try await own.drain()
        }
        #expect(try outcome.issue.text.contains("\"own\"") && !outcome.issue.text.contains("\"others\""))
        gate.open()
        otherGate.open()
        try await own.drain()
        try await others.drain()
    }

    @Test func theConfigurationOfTheProcessIsUntouched() async throws {
        let outcome = try await Outcome(of: trait) {
            if TaskSnapshot.current().isTracking { throw Mistake() }
        }
        #expect(outcome.error == nil)
    }
}

/// Opens a gate when a semaphore makes a test wait.
private struct WaitObserver: TaskObserver {
    @TaskLocal static var isWatched = false

    let gate: Gate

    func receive(_ event: TaskEvent) {
        if event.primitive == .asyncSemaphore, event.kind == .waiting, Self.isWatched { gate.open() }
    }
}
