import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// Forms that compile: each spelling, in each isolation, without anything Sendable.
@Suite(.timeLimit(.minutes(15)))
struct RetryFormsTests {
    private final class NotSendable {
        var number = 0
    }

    private actor Client {
        private var calls = 0
        private var refusals = 0
        private let journal = NotSendable()

        private func call() throws -> NotSendable {
            calls += 1
            if calls % 3 != 0 { throw MarkedError() }
            return journal
        }

        /// The closures touch the actor's state without `await`, and what comes out is the actor's own.
        func fetch() async throws -> Int {
            let journal = try await retry(attempts: 3, backoff: .none, budget: nil) {
                assertIsolated()
                await Task.yield()
                assertIsolated()
                return try call()
            } shouldRetry: { _ in
                assertIsolated()
                refusals += 1
                return true
            }
            journal.number += try await retry(
                attempts: 3,
                backoff: .fixed(.milliseconds(1)),
                budget: nil,
                clock: TestClock(advancesAutomatically: true),
                onRetry: { _ in
                    assertIsolated()
                    refusals += 1
                },
                operation: { attempt in
                    assertIsolated()
                    journal.number += 100
                    return try call().number - attempt
                }
            )
            return refusals * 10_000 + journal.number
        }
    }

    /// More attempts than a budget would pay for.
    @Test func eachFormMakesAsManyAttemptsAsTheCallStates() async {
        let attempts = OrderRecorder<Int>()
        func fail() throws { attempts.record(attempts.count); throw MarkedError() }
        try? await retry(attempts: 70, backoff: .none) { try fail() }
        #expect(attempts.count == 70)
        try? await retry(attempts: 70, backoff: .none) { _ in try fail() }
        #expect(attempts.count == 140)
        try? await retry(attempts: 70, backoff: .none) {
            try fail()
        } shouldRetry: { _ in
            true
        }
        #expect(attempts.count == 210)
    }

    @Test func insideAnActorTheClosuresAreTheActors() async throws {
        // Four refusals; 300 in three attempts; 300 - 3 more.
        #expect(try await Client().fetch() == 40_597)
    }

    @Test @MainActor func onTheMainActorTheClosuresAreItsOwn() async throws {
        let object = NotSendable()
        let result = try await retry(
            attempts: 2,
            backoff: .none,
            shouldRetry: { _ in
                MainActor.assertIsolated(); object.number += 10; return true
            },
            budget: nil
        ) { attempt in
            MainActor.assertIsolated()
            object.number += attempt
            if attempt == 1 { throw MarkedError() }
            return object
        }
        #expect(result === object && object.number == 13)
    }

    @Test func eachSpellingFindsItsForm() async throws {
        func fails() async throws -> Int { throw MarkedError() }
        func number(_ attempt: Int) async throws -> Int { attempt }

        #expect(try await retry(attempts: 1, backoff: .none, budget: nil) { 1 } == 1)
        #expect(try await retry(attempts: 1, backoff: .none, budget: nil) { $0 } == 1)
        #expect(try await retry(attempts: 1, backoff: .none, budget: nil, operation: number) == 1)
        await #expect(throws: MarkedError.self) {
            try await retry(attempts: 1, backoff: .none, budget: nil, operation: fails)
        }
        #expect(try await retry(attempts: 1, backoff: .none, budget: nil) { 1 } == 1)
        #expect(
            try await retry(attempts: 1, backoff: .none, shouldRetry: { $0 is MarkedError }, budget: nil) { 1 } == 1
        )
        #expect(
            try await retry(attempts: 1, backoff: .none, shouldRetry: { $0 is MarkedError }, budget: nil) { attempt in
                attempt
            } == 1
        )
        #expect(
            try await retry(attempts: 1, backoff: .none, budget: nil) {
                1
            } shouldRetry: {
                $0 is MarkedError
            } == 1
        )
        #expect(
            try await retry(attempts: 1, backoff: .none, shouldRetry: { _ in false }, budget: nil) { attempt in
                attempt
            } == 1
        )
        #expect(try await retry(attempts: 1, backoff: .none, budget: nil, onRetry: { _ in }) { 1 } == 1)
        #expect(
            try await retry(attempts: 1, backoff: .none, budget: nil, onRetry: { _ in }) {
                1
            } shouldRetry: { _ in
                true
            } == 1
        )
        #expect(
            try await retry(
                attempts: 1,
                backoff: .none,
                budget: nil,
                onRetry: { _ in },
                operation: { 1 },
                shouldRetry: { _ in true }
            ) == 1
        )
    }

    @Test func allParametersHaveTheirOrder() async throws {
        let (budget, clock) = (RetryBudget(), TestClock(advancesAutomatically: true))
        let one = try await retry(
            attempts: 3,
            backoff: .exponential(base: .seconds(1), factor: 3).capped(at: .seconds(2)).jittered(
                .equal,
                using: SeededGenerator(seed: 1)
            ),
            shouldRetry: { _ in true },
            budget: budget,
            maxElapsed: .seconds(60),
            clock: clock,
            onRetry: { _ in }
        ) {
            1
        }
        let other = try await retry(
            attempts: 3,
            backoff: .custom { attempt, error in error is MarkedError ? .seconds(attempt) : nil },
            shouldRetry: { _ in true },
            budget: budget,
            maxElapsed: .seconds(60),
            clock: SuspendingClock(),
            onRetry: { _ in }
        ) { attempt in
            attempt
        }
        #expect(one == other)
    }

    @Test func theClosuresMayWriteToTheirSurroundings() async {
        var (attempts, refusals, events) = (0, 0, 0)
        try? await retry(attempts: 3, backoff: .none, budget: nil, onRetry: { _ in events += 1 }) {
            attempts += 1
            throw MarkedError()
        } shouldRetry: { _ in
            refusals += 1
            return true
        }
        #expect((attempts, refusals, events) == (3, 2, 2))
    }

    /// The caller's task: its values, its name, its priority.
    @Test func theOperationRunsInTheCallersTask() async throws {
        enum Request {
            @TaskLocal static var id = 0
        }
        try await Request.$id.withValue(7) {
            try await retry(
                attempts: 2,
                backoff: .fixed(.seconds(1)),
                budget: nil,
                clock: TestClock(advancesAutomatically: true)
            ) {
                attempt in
                #expect(Request.id == 7)
                if attempt == 1 { throw MarkedError() }
            }
        }
    }
}
