import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct CancellableValueTests {
    @Test func givesTheValue() async throws {
        #expect(await Task { 1 }.cancellableValue == 1)
        #expect(try await Task<Int, any Error> { 2 }.cancellableValue == 2)
    }

    @Test func isThatOfATaskWithAnyFailure() async throws {
        func value<Failure: Error>(of task: Task<Int, Failure>) async throws -> Int { try await task.cancellableValue }
        #expect(try await value(of: Task { 1 }) == 1)
        await #expect(throws: MarkedError("any")) { try await value(of: Task { throw MarkedError("any") }) }
    }

    @Test func givesTheErrorToACallerThatIsNotCancelled() async {
        await #expect(throws: MarkedError("work")) {
            try await Task<Int, any Error> { throw MarkedError("work") }.cancellableValue
        }
    }

    @Test func cancellingTheOneWhoAwaitsCancelsTheTask() async {
        let started = Gate()
        let task = Task {
            started.open()
            try? await Gate().wait()
            return Task.isCancelled
        }
        let waiter = Task { await task.cancellableValue }
        try? await started.wait()
        waiter.cancel()
        #expect(await waiter.value)
    }

    @Test func aCancelledCallerSeesCancellationErrorInWhateverWordsTheTaskFailed() async {
        let started = Gate()
        let task = Task<Int, any Error> {
            started.open()
            try? await Gate().wait()
            throw MarkedError()
        }
        let waiter = Task { try await task.cancellableValue }
        try? await started.wait()
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
    }
}
