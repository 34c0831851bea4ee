import NeighborLibrary
import TaskControl
import TaskControlTesting
import Testing

import struct TaskControl.RetryPolicy

/// A file that imports the package beside a module with the `RetryPolicy` of Alamofire or grpc-swift-2 and a `withTimeout`.
@Suite(.timeLimit(.minutes(15)))
struct RetryNamesTests {
    private struct Failure: Error {}

    @Test func thePlainNameIsTheImportedPolicy() async throws {
        let attempts = OrderRecorder<Int>()
        let policy = RetryPolicy(attempts: 2, backoff: .none) { _ in true }
        await #expect(throws: Failure.self) {
            try await retry(policy) {
                attempts.record(attempts.events.count)
                throw Failure()
            }
        }
        #expect(attempts.events == [0, 1])
    }

    @Test func theOtherPolicyIsNamedWithItsModule() {
        #expect(NeighborLibrary.RetryPolicy(maxAttempts: 4).maxAttempts == 4)
        #expect(TaskControl.RetryPolicy(attempts: 4).attempts == 4)
    }

    @Test func aFunctionThatBothHaveIsNamedWithItsModule() async throws {
        let clock = TestClock(advancesAutomatically: true)
        await #expect(throws: TimeoutError.self) {
            try await TaskControl.withTimeout(.seconds(1), clock: clock) { try await clock.sleep(for: .seconds(60)) }
        }
        try await NeighborLibrary.withTimeout(.seconds(1), clock: clock) { try await clock.sleep(for: .seconds(60)) }
        #expect(clock.now.offset == .seconds(61))
    }

    /// Code in a type that has a method of this name.
    private struct ErrorScreen {
        func retry() -> Int { 0 }

        func load() async throws -> Int {
            try await TaskControl.retry { 1 } + retry()
        }
    }

    @Test func aMethodOfTheSameNameHidesTheFunctionUntilTheModuleIsNamed() async throws {
        #expect(try await ErrorScreen().load() == 1)
    }
}
