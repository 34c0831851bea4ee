internal import TaskControl
internal import TaskControlTesting
public import Testing

/// A trait that fails a test if a task that the test has started has not ended within a time limit after the test has
/// returned. Created with ``Testing/Trait/noTaskLeftBehind(within:)``.
struct NoTaskLeftBehindTrait: TestScoping {
    let limit: Duration
    /// The clock that measures the time for which the tasks may still run after the test has returned.
    let clock: any Clock<Duration>
    /// Whether the issue contains the source location at which each task was started. Tests of the trait turn this off, since finding a location
    /// takes a second in a debug build.
    var recordsOrigins = true

    /// Runs the test, and then checks that the tasks that it has started have ended. Called by Swift Testing.
    /// Cancelling the caller cancels the test.
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await TestScope.observing(recordsOrigins: recordsOrigins) { scope in
            let result: Result<Void, any Error>
            do {
                try await scope.run(function)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await wait(for: scope)
            let tasks = scope.tasks
            if !tasks.isEmpty {
                Issue.record(Self.comment(on: tasks, after: limit), sourceLocation: test.sourceLocation)
            }
            try result.get()
        }
    }

    /// Waits until all tasks of the given scope have ended, but at most for ``limit``.
    private func wait(for scope: TestScope) async {
        // In a task of its own: a test that was cancelled also gives its tasks the time to end.
        await Task {
            try? await withTimeout(limit, clock: clock) { try await scope.waitForTasks() }
        }.value
    }

    private static func comment(on tasks: [TestScope.Subject], after limit: Duration) -> Comment {
        let title = tasks.count == 1 ? "1 task has" : "\(tasks.count) tasks have"
        let lines = tasks.prefix(mostListed).map { "  \($0)\n" }.joined()
        let more = tasks.count > mostListed ? "  and \(tasks.count - mostListed) more\n" : ""
        return """
            \(title) not ended \(limit) after the test returned:
            \(lines)\(more)Cancel the tasks, await them, or drain their owner before the test returns.
            """
    }

    private static let mostListed = 10
}

extension Trait where Self == TaskControlTrait {
    /// A trait that fails a test if a task that the test has started with TaskControl has not ended one second after
    /// the test has returned. See ``noTaskLeftBehind(within:)``.
    public static var noTaskLeftBehind: Self { .noTaskLeftBehind(within: .seconds(1)) }

    /// Creates a trait that fails a test if a task that the test has started with TaskControl has not ended within
    /// `limit` after the test has returned. The issue lists up to ten of these tasks.
    ///
    /// ```swift
    /// @Test(.noTaskLeftBehind) func aClosedFeedStopsItsTasks() async {
    ///     let feed = Feed()
    ///     feed.open()
    ///     await feed.close()
    /// }
    /// ```
    ///
    /// ```text
    /// 1 task has not ended 1.0 seconds after the test returned:
    ///   TaskStore "feed", task "poll", key news, runs, started at /app/Sources/Feed.swift:21
    /// ```
    ///
    /// The trait checks tasks of the library's owners (such as `TaskStore` and `AsyncLifetime`) and queues, the shared
    /// operations of `SingleFlight`, `AsyncTask`, and work abandoned by `withDetachedTimeout`. It does not notice a
    /// bare `Task { }`, but notices tasks that the bare task starts with the library. Tasks of other tests that run at
    /// the same time do not count: a task-local identifies the test on whose behalf code runs. A `Task.detached`, a
    /// thread and a Dispatch queue do not inherit task-locals, so the trait does not notice the tasks that they start.
    ///
    /// On Linux, for code with debug information, the issue contains the source location at which each task was started. On other platforms, give
    /// names to tasks and their owners. On Linux, each task that is started while the test runs costs about 15 µs more.
    ///
    /// Listed after `.simulated`, the trait applies to each seed, and its limit is virtual time. Listed before `.simulated`, it has no effect: a
    /// simulation fails by itself if a task never ends.
    ///
    /// ## Cancellation
    /// If the test is cancelled, the tasks that it has started still have the time `limit` to end after the test has
    /// returned.
    ///
    /// - Parameter limit: The longest time that tasks may take to end after the test has returned: real time, except in
    ///   a simulation. The trait returns as soon as all tasks have ended.
    public static func noTaskLeftBehind(within limit: Duration) -> Self {
        Self(NoTaskLeftBehindTrait(limit: limit, clock: ContinuousClock()))
    }
}
