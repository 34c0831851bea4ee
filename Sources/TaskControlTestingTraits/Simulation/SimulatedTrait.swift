internal import TaskControl
public import TaskControlTesting
public import Testing

/// Runs a test once per seed, each time in a different order: see
/// ``Testing/Trait/simulated(seeds:strategy:maxSteps:checksDeterminism:)``.
public struct SimulatedTrait: TestTrait, SuiteTrait, TestScoping {
    let seeds: Range<UInt64>
    let strategy: SimulationStrategy
    let maxSteps: Int
    let checksDeterminism: Bool

    /// Whether the trait applies to the tests of a suite and of the suites within it. Always `true`.
    public var isRecursive: Bool { true }

    /// Runs the test; Swift Testing calls this. A test that is cancelled ends with the seed that runs.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard Simulation.isSupported else {
            _ = Self.saysThatTestsRunOnce
            return try await function()
        }
        // Within the scope of the suite's trait, which has applied the settings of the test's own trait.
        if Simulation.current != nil { return try await function() }
        let trait = test.traits.lazy.compactMap { $0 as? SimulatedTrait }.last ?? self
        try await trait.simulate(test, testCase, BorrowedFunction(function))
    }

    private func simulate(_ test: Test, _ testCase: Test.Case?, _ function: BorrowedFunction) async throws {
        let issues = ScheduleIssues()
        let isCancelled = Locked(Task.isCancelled)
        var failure: SimulationFailure?
        do {
            try await issues.hold(test, testCase) {
                try await withTaskCancellationHandler {
                    try TestScope.unobserved { try simulateSeeds(test, issues, isCancelled, function) }
                } onCancel: {
                    isCancelled.withLock { $0 = true }
                }
            }
        } catch let error as SimulationFailure {
            failure = error
        }
        guard let failure else { return }
        // Not a failure of the seed, such as by `Test.cancel`: Swift Testing knows the error.
        if case .threw(let error) = failure.reason, Task.isCancelled, issues.held == nil { throw error }
        try await issues.record(failure, test, testCase)
    }

    /// Tasks that a seed leaves behind fail it, or belong to one that has failed: no scope around the simulation has to know them.
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
                // The task of the test is blocked: its cancellation ends the test before the next seed.
                if isCancelled.withLock({ $0 }) { throw CancellationError() }
                issues.begin(simulation)
                try await function()
            }
        }
    }

    /// Once in a process, since it is about the platform and not about a test.
    private static let saysThatTestsRunOnce: Void = System.writeToStandardError(
        "Simulation is not supported on this platform: tests with the trait .simulated run once, as ordinary tests."
    )
}

extension Trait where Self == SimulatedTrait {
    /// Runs the test under the seeds `0..<1_000`: see ``simulated(seeds:strategy:maxSteps:checksDeterminism:)``.
    public static var simulated: Self { .simulated() }

    /// Runs the test once per seed, each time in a different order, and in virtual time.
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
    /// The function is the body of `simulate(seeds:)` of `TaskControlTesting`, whose documentation says what a simulation sees. Each case of a
    /// parameterized test is simulated by itself. On a suite, the trait applies to all tests of the suite, and the trait of a test replaces the
    /// trait of its suite. The other traits of the test apply to all seeds together. `Simulation.current` provides the random numbers and the
    /// faults of the seed.
    ///
    /// ## Issues
    /// The first issue that fails the test ends the seed and the test: a failed `#expect` or `#require`, a thrown error, `Issue.record`, and what
    /// the simulation itself finds, such as a deadlock. It is recorded once, at its place in the source and with its values, with the seed, the
    /// command that replays it and the schedule as a comment; the schedule is also attached to the test as a text. Known issues and warnings do
    /// not end a seed, and are recorded once, regardless of the number of seeds that have them.
    ///
    /// Swift Testing knows the test of an issue by task-locals. A `Task.detached` or another thread does not inherit the task-locals: the trait
    /// does not see an `#expect` there, which is recorded under every seed, without the seed. Use `Simulation.current?.expect` instead. An
    /// attachment that the function records is also recorded under every seed.
    ///
    /// ## Environment
    /// `TASKCONTROL_SEED=3` runs only that seed, `TASKCONTROL_SCHEDULE=3:12=1` only that schedule, and `TASKCONTROL_SEEDS=100000` that many seeds
    /// from the first one on. `TASKCONTROL_ARTIFACTS=folder` writes a failure into a file of that folder. A variable with an invalid value fails
    /// the test.
    ///
    /// ## Cancellation
    /// A test that is cancelled, such as by `.timeLimit`, ends with the seed that runs.
    ///
    /// ## Other platforms
    /// Where there is no simulation, the test runs once, as an ordinary test in real time, and `Simulation.current` is `nil`. A message on standard
    /// error says so once per process. To skip the test there, add `.enabled(if: Simulation.isSupported)`.
    ///
    /// - Parameters:
    ///   - seeds: The seeds, one schedule per seed. Negative seeds are ignored.
    ///   - strategy: The strategy that picks the next job.
    ///   - maxSteps: The number of steps after which a seed fails as a livelock.
    ///   - checksDeterminism: Whether each seed runs twice, and fails if the two runs differ.
    public static func simulated(
        seeds: Range<Int> = 0..<1_000,
        strategy: SimulationStrategy = .swarm,
        maxSteps: Int = 100_000,
        checksDeterminism: Bool = false
    ) -> Self {
        // `Int`, since the compiler takes the literals of a range for that in an implicit member such as `.simulated(seeds: 0..<9)`.
        let seeds = seeds.clamped(to: 0..<Int.max)
        return Self(
            seeds: UInt64(seeds.lowerBound)..<UInt64(seeds.upperBound),
            strategy: strategy,
            maxSteps: maxSteps,
            checksDeterminism: checksDeterminism
        )
    }
}

extension Test {
    /// The name without the labels of its parameters, as `swift test --filter` takes it.
    var filterName: String {
        let name = name.split(separator: "(", maxSplits: 1).first.map(String.init) ?? name
        return name.filter { $0 != "`" }
    }
}
