internal import TaskControl
@_spi(Observers) internal import TaskControlSnapshot
internal import TaskControlTesting
public import Testing

/// A trait that explains why a test has not returned after a time limit, and cancels the test. Created with
/// ``Testing/Trait/explainsHangs(after:)``.
struct ExplainsHangsTrait: TestScoping {
    let limit: Duration
    /// The clock that measures the time limit of the test.
    let clock: any Clock<Duration>

    private enum Event {
        case returned
        case hangs
        case stoppedWatching
    }

    /// Runs the test. If it has not returned at the time limit, records an issue and cancels the test. Called by Swift
    /// Testing. Cancelling the caller cancels the test.
    func provideScope(
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
                        do { try await sleep(for: limit, on: clock) } catch { return .stoppedWatching }
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

extension Trait where Self == TaskControlTrait {
    /// Creates a trait that records why a test has not returned after a time limit, and cancels the test.
    ///
    /// ```swift
    /// @Test(.explainsHangs(after: .seconds(30)), .timeLimit(.minutes(1))) func transfersBothWays() async throws {
    ///     try await bank.transfer(1, from: a, to: b)
    /// }
    /// ```
    ///
    /// If the test has not returned after the limit, the trait records one issue. The issue lists, in the form of a
    /// `TaskSnapshot`, the tasks that the test has started with TaskControl and that have not ended, the test's calls
    /// of TaskControl that have not returned, which of these tasks and calls wait for which others, and deadlocks. Then
    /// the trait cancels the test, which returns if it responds to cancellation. The `CancellationError` that the test
    /// then throws is not recorded as another issue. A test that ignores its cancellation does not return, but the
    /// issue shows the reason. By comparison, `.timeLimit` cannot end such a test either, records only that the limit
    /// was exceeded, and has a resolution of one minute.
    ///
    /// The issue does not list tasks and calls of other tests, except those for which this test waits. It does not list work that the test has
    /// started in a `Task.detached`, on a thread or in a Dispatch queue either. The library does not notice waits for `task.value`, a continuation or
    /// an actor.
    ///
    /// The trait tracks tasks only while the test runs, and does not change the configuration of the process (`TaskDiagnostics.configure`). The test
    /// runs in a child task. Listed after `.simulated`, the trait has no effect, since a simulation finds deadlocks by itself. Listed before
    /// `.simulated`, it limits the time of all seeds together.
    ///
    /// ## Cancellation
    /// If the test is cancelled before the limit, for example by `.timeLimit`, it ends as it would without the trait.
    ///
    /// - Parameter limit: The longest time that the test may take, in real time.
    public static func explainsHangs(after limit: Duration) -> Self {
        Self(ExplainsHangsTrait(limit: limit, clock: ContinuousClock()))
    }
}
