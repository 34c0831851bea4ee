internal import TaskControl
public import TaskControlTesting
public import Testing

/// A trait that runs a test once per seed in virtual time, each time with another order of its tasks. Created with
/// ``Testing/Trait/simulated(seeds:strategy:maxSteps:checksDeterminism:)``.
struct SimulatedTrait: TestScoping {
    let seeds: Range<UInt64>
    let strategy: Simulation.Strategy
    let maxSteps: Int
    let checksDeterminism: Bool

    /// Runs the test once per seed, or once in real time on platforms without simulation. Called by Swift Testing. If
    /// the test is cancelled, the run of the current seed continues to its end, and no other seed runs.
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard Simulation.isSupported else {
            _ = Self.saysThatTestsRunOnce
            return try await function()
        }
        // The test runs within the scope of its suite's trait, which has applied the settings of the test's own trait.
        if Simulation.current != nil { return try await function() }
        let trait = test.traits.lazy.compactMap { ($0 as? TaskControlTrait)?.scope as? SimulatedTrait }.last ?? self
        try await trait.simulate(test, testCase, BorrowedFunction(function))
    }

    private func simulate(_ test: Test, _ testCase: Test.Case?, _ function: BorrowedFunction) async throws {
        let issues = ScheduleIssues()
        let isCancelled = Locked(Task.isCancelled)
        var failure: Simulation.Failure?
        do {
            try await issues.hold(test, testCase) {
                try await withTaskCancellationHandler {
                    try TestScope.unobserved { try simulateSeeds(test, issues, isCancelled, function) }
                } onCancel: {
                    isCancelled.withLock { $0 = true }
                }
            }
        } catch let error as Simulation.Failure {
            failure = error
        }
        guard let failure else { return }
        // The error comes from a cancellation, for example by `Test.cancel`, and not from the seed. Swift Testing
        // handles this error.
        if case .threw(let error) = failure.reason, Task.isCancelled, issues.held == nil { throw error }
        try await issues.record(failure, test, testCase)
    }

    /// Runs the test once per seed, and blocks the thread until all seeds have run. Must be called within
    /// ``TestScope/unobserved(_:)``: a task that a seed leaves behind either fails this seed or belongs to a seed that
    /// has failed.
    ///
    /// - Parameters:
    ///   - issues: The object that collects the issues of the schedules.
    ///   - isCancelled: Whether the test has been cancelled. If so, no further seed runs.
    ///   - function: The function of the test.
    private func simulateSeeds(
        _ test: Test,
        _ issues: ScheduleIssues,
        _ isCancelled: Locked<Bool>,
        _ function: BorrowedFunction
    ) throws {
        try SimulatedTest.$current.withValue(SimulatedTest(name: test.filterName)) {
            try TaskControlTesting.simulate(
                seeds: seeds,
                strategy: strategy,
                maxSteps: maxSteps,
                checksDeterminism: checksDeterminism,
                fileID: test.sourceLocation.fileID,
                filePath: test.sourceLocation.filePath,
                line: test.sourceLocation.line,
                column: test.sourceLocation.column
            ) { simulation in
                // The task of the test is blocked while the seeds run. If the task is cancelled, the test ends before
                // the next seed.
                if isCancelled.withLock({ $0 }) { throw CancellationError() }
                issues.begin(simulation)
                try await function()
            }
        }
    }

    /// A constant whose first use writes a message to standard error, once per process: the platform does not support
    /// simulations.
    private static let saysThatTestsRunOnce: Void = System.writeToStandardError(
        "Simulation is not supported on this platform: tests with the trait .simulated run once, as ordinary tests."
    )
}

extension Trait where Self == TaskControlTrait {
    /// A trait that runs the test once for each of the seeds `0..<1_000`. See ``simulated(seeds:strategy:maxSteps:checksDeterminism:)``.
    public static var simulated: Self { .simulated() }

    /// Creates a trait that runs the test once per seed in virtual time, each time with another order of its tasks, to
    /// find concurrency bugs.
    ///
    /// ```swift
    /// @Test(.simulated(seeds: 0..<10_000)) func aSecondLoginWaitsForTheFirst() async throws {
    ///     let session = Session()
    ///     async let first = session.login()
    ///     async let second = session.login()
    ///     #expect(try await first == second)
    /// }
    /// ```
    ///
    /// The function of the test becomes the body of `simulate(seeds:)` of `TaskControlTesting`, whose documentation
    /// describes what a simulation controls. Each case of a parameterized test is simulated separately. On a suite, the
    /// trait applies to all tests of the suite; a test's own trait replaces that of its suite. The other traits of the
    /// test apply to all seeds together. `Simulation.current` provides random numbers that depend on the seed, and
    /// functions that cancel a task or call a closure at a random point of the schedule.
    ///
    /// ## Issues
    /// The first issue that fails the test ends the seed and the test: a failed `#expect` or `#require`, a thrown
    /// error, `Issue.record`, or a problem that the simulation itself finds, such as a deadlock. The issue is recorded
    /// once, with its location and its values. A comment of the issue contains the seed, the command that replays its
    /// run, and the schedule; the schedule is also attached to the test as a text. Known issues and warnings do not end
    /// a seed, and each is recorded once, regardless of the number of seeds that have it.
    ///
    /// Swift Testing finds the test of an issue through task-locals, which a `Task.detached` or another thread does not
    /// inherit. So the trait does not notice an `#expect` that fails there: the failure does not end the seed, is recorded
    /// again for each seed in which it happens, and has no comment with the seed. Use `Simulation.current?.expect`
    /// there instead. An attachment that the test records is recorded once per run.
    ///
    /// ## Environment
    /// `TASKCONTROL_SEED=3` runs only that seed, `TASKCONTROL_SCHEDULE=3:12=1` runs only that schedule, and `TASKCONTROL_SEEDS=100000` runs that
    /// number of seeds, beginning with the first of `seeds`. `TASKCONTROL_ARTIFACTS=folder` writes a failure into a file in that folder. A variable
    /// with an invalid value fails the test.
    ///
    /// ## Cancellation
    /// If the test is cancelled, for example by `.timeLimit`, the run of the current seed continues to its end, and no
    /// other seed runs.
    ///
    /// ## Other platforms
    /// On platforms without simulation, the test runs once in real time, as an ordinary test, and `Simulation.current` is `nil`. A message on
    /// standard error reports this once per process. To skip the test there, add `.enabled(if: Simulation.isSupported)`.
    ///
    /// - Parameters:
    ///   - seeds: The seeds. The test runs once per seed, or twice with `checksDeterminism`. Negative seeds are
    ///     ignored.
    ///   - strategy: The method that chooses which task runs next.
    ///   - maxSteps: The number of steps after which a seed fails as a livelock. A step is the part of a task between two suspension points.
    ///   - checksDeterminism: If `true`, each seed runs twice, and fails if its two runs differ. If `false`, each seed
    ///     runs once.
    public static func simulated(
        seeds: Range<Int> = 0..<1_000,
        strategy: Simulation.Strategy = .swarm,
        maxSteps: Int = 100_000,
        checksDeterminism: Bool = false
    ) -> Self {
        // `Int`, since the compiler takes the literals of a range for that in an implicit member such as `.simulated(seeds: 0..<9)`.
        let seeds = seeds.clamped(to: 0..<Int.max)
        return Self(
            SimulatedTrait(
                seeds: UInt64(seeds.lowerBound)..<UInt64(seeds.upperBound),
                strategy: strategy,
                maxSteps: maxSteps,
                checksDeterminism: checksDeterminism
            )
        )
    }
}

extension Test {
    /// The name of the test without the labels of its parameters, in the form that `swift test --filter` accepts.
    var filterName: String {
        let name = name.split(separator: "(", maxSplits: 1).first.map(String.init) ?? name
        return name.filter { $0 != "`" }
    }
}
