internal import TaskControl
internal import TaskControlTesting
public import Testing

/// Fails a test that leaves a task behind: see ``Testing/Trait/noTaskLeftBehind(within:)``.
public struct NoTaskLeftBehindTrait: TestTrait, SuiteTrait, TestScoping {
    let limit: Duration
    /// Measures the limit.
    let clock: any Clock<Duration>
    /// Whether the issue names the place in the source where each task was started: for tests of the trait, since in a debug build it takes a second
    /// to find one.
    var recordsOrigins = true

    /// Whether the trait applies to the tests of a suite and of the suites within it. Always `true`.
    public var isRecursive: Bool { true }

    /// Runs the test; Swift Testing calls this. Its cancellation reaches the function.
    public func provideScope(
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

    /// Returns when all tasks have ended, or the limit is over.
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

extension Trait where Self == NoTaskLeftBehindTrait {
    /// Fails a test that leaves a task behind, and names the task: see ``noTaskLeftBehind(within:)``.
    public static var noTaskLeftBehind: Self { .noTaskLeftBehind(within: .seconds(1)) }

    /// Fails a test if a task that it has started with TaskControl has not ended when the test returns.
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
    /// Tasks are those of the library's owners and queues, flights, `AsyncTask`, and work abandoned by `withDetachedTimeout`. A bare `Task { }` is
    /// unknown to the library, but what it starts with the library is known. Tasks that other tests start at the same time do not count:
    /// a task-local identifies the test that code runs for. `Task.detached`, a thread and a Dispatch queue do not inherit task-locals, so what they
    /// start is not found.
    ///
    /// The place where a task was started is known on Linux, for code with debug information. On other platforms, give tasks and their owners
    /// names. Each task that is started while the test runs costs about 15 µs more on Linux.
    ///
    /// After `.simulated`, the trait applies to each seed, and its limit is virtual time. Before `.simulated` it has no effect: a simulation fails
    /// by itself if a task never ends.
    ///
    /// ## Cancellation
    /// A test that is cancelled gives its tasks the same time to end.
    ///
    /// - Parameter limit: The real time that tasks may take to end after the test has returned. The trait waits for their
    ///   ends: a test that leaves no task does not wait.
    public static func noTaskLeftBehind(within limit: Duration) -> Self {
        Self(limit: limit, clock: ContinuousClock())
    }
}
