package import Testing

/// Runs the tests that start a process, such as exit tests, one after the other, also those of different suites.
///
/// All tests begin at once, and share a few threads. The thread of Swift Testing that waits for child processes does not block while a process that
/// has ended waits for its test to continue, and another one runs: with dozens of exit tests at once, it uses a processor as long as the tests run.
package struct ProcessTurn: SuiteTrait, TestTrait, TestScoping {
    fileprivate let line: Line
    package let isRecursive = true

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        await line.enter()
        do {
            try await function()
        } catch {
            await line.leave()
            throw error
        }
        await line.leave()
    }

    /// No queue of this library: its events would reach the observers of other tests.
    fileprivate actor Line {
        static let processes = Line()
        static let registry = Line()

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
    package static var oneProcessAtATime: Self { ProcessTurn(line: .processes) }
    /// The test shares work under fixed keys in the flights of the process, as a test of the same name in another target does.
    package static var oneUserOfTheRegistry: Self { ProcessTurn(line: .registry) }
}
