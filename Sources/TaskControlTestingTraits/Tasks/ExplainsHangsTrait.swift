internal import TaskControl
internal import TaskControlSnapshot
internal import TaskControlTesting
public import Testing

/// Explains why a test does not return: see ``Testing/Trait/explainsHangs(after:)``.
public struct ExplainsHangsTrait: TestTrait, SuiteTrait, TestScoping {
    let limit: Duration
    /// Measures the limit.
    let clock: any Clock<Duration>

    /// Whether the trait applies to the tests of a suite and of the suites within it. Always `true`.
    public var isRecursive: Bool { true }

    private enum Event {
        case returned
        case hangs
        case stoppedWatching
    }

    /// Runs the test; Swift Testing calls this. Its cancellation reaches the function, which is also cancelled at the limit.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // A simulation finds deadlocks by itself, and its time is virtual.
        guard Simulation.current == nil else { return try await function() }
        // A tracker of its own: the configuration of the process is not changed.
        let tracker = TaskTracker()
        let observation = TaskDiagnostics.observe(tracker)
        defer { observation.end() }
        try await TestScope.observing { scope in
            try await withoutActuallyEscaping(function) { function in
                try await withThrowingTaskGroup(of: Event.self) { group in
                    group.addTask {
                        try await scope.run(function)
                        return .returned
                    }
                    group.addTask {
                        do { try await clock.sleep(for: limit) } catch { return .stoppedWatching }
                        return .hangs
                    }
                    var hangs = false
                    while let event = await group.nextResult() {
                        switch event {
                        case .success(.returned): group.cancelAll()
                        // The cancellation was the trait's own, and has its issue.
                        case .failure(is CancellationError) where hangs: break
                        case .failure(let error): throw error
                        case .success(.hangs):
                            hangs = true
                            Issue.record(comment(tracker, scope), sourceLocation: test.sourceLocation)
                            group.cancelAll()
                        case .success(.stoppedWatching): break
                        }
                    }
                }
            }
        }
    }

    private func comment(_ tracker: TaskTracker, _ scope: TestScope) -> Comment {
        let snapshot = tracker.snapshot().concerning(scope.identities)
        let isEmpty = snapshot.owners.isEmpty && snapshot.others.isEmpty
        let found =
            isEmpty
            ? "None of its tasks and calls of TaskControl is waiting: it waits for something that the library does not know, such as "
                + "`task.value` or a continuation."
            : "\(snapshot)"
        return "The test has not returned after \(limit), and is cancelled.\n\(found)"
    }
}

extension Trait where Self == ExplainsHangsTrait {
    /// Explains why a test does not return, and cancels it.
    ///
    /// ```swift
    /// @Test(.explainsHangs(after: .seconds(30)), .timeLimit(.minutes(1))) func transfersBothWays() async throws {
    ///     try await bank.transfer(1, from: a, to: b)
    /// }
    /// ```
    ///
    /// If the test has not returned after the limit, one issue is recorded: the tasks and calls of the test in this library, which of them waits
    /// for which, and deadlocks, as a `TaskSnapshot` shows them. Then the test is cancelled, so that it returns if it respects its cancellation;
    /// the `CancellationError` that it throws is no second issue. A test that ignores its cancellation does not return, but the issue shows why.
    /// `.timeLimit` cannot end such a test either, records only that the limit was exceeded, and has a resolution of one minute.
    ///
    /// Tasks and calls of other tests are left out, except where this test waits for them. The work of the test in `Task.detached`, on a
    /// thread or in a Dispatch queue is left out too. The library does not see waits for `task.value`, a continuation or an actor.
    ///
    /// The tracking that this needs lasts as long as the test, and does not change the configuration of the process (`TaskDiagnostics.configure`).
    /// The test runs in a child task. Under `.simulated` the trait has no effect on the seeds if it comes after that trait, since a simulation
    /// finds deadlocks by itself; before it, it limits all seeds together.
    ///
    /// ## Cancellation
    /// A test that is cancelled ends as it would without the trait.
    ///
    /// - Parameter limit: The time that the test may take, in real time.
    public static func explainsHangs(after limit: Duration) -> Self {
        Self(limit: limit, clock: ContinuousClock())
    }
}
