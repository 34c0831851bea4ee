package import Testing

/// Runs the tests that start a process, such as exit tests, one after the other, also those of different suites.
///
/// All tests begin at once, and share a few threads. The thread of Swift Testing that waits for child processes does not block while a process that
/// has ended waits for its test to continue, and another one runs: with dozens of exit tests at once, it uses a processor as long as the tests run.
package struct ProcessTurn: TestTrait, TestScoping {
    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        await Line.shared.enter()
        do {
            try await function()
        } catch {
            await Line.shared.leave()
            throw error
        }
        await Line.shared.leave()
    }

    /// No queue of this library: its events would reach the observers of other tests.
    private actor Line {
        static let shared = Line()

        private var isBusy = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func enter() async {
            guard isBusy else { return isBusy = true }
            await withCheckedContinuation { waiting.append($0) }
        }

        func leave() {
            if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
        }
    }
}

extension Trait where Self == ProcessTurn {
    /// The test starts a process, and no other test with this trait does so at the same time.
    package static var oneProcessAtATime: Self { ProcessTurn() }
}
