public import Testing

/// The type of the traits of this module: `.simulated`, `.explainsHangs(after:)` and `.noTaskLeftBehind`.
public struct TaskControlTrait: TestTrait, SuiteTrait, TestScoping {
    /// The work of the trait.
    let scope: any TestScoping & Sendable

    init(_ scope: any TestScoping & Sendable) { self.scope = scope }

    /// Whether the trait of a suite also applies to the tests of the suite and of the suites within it. Always `true`.
    public var isRecursive: Bool { true }

    /// Runs the test with the trait. Called by Swift Testing. Cancelling the caller cancels the test.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await scope.provideScope(for: test, testCase: testCase, performing: function)
    }
}
