internal import TaskControl

/// The parameters of a call of `simulate` that are the same for all of its runs.
struct SimulationCall {
    var maxSteps: Int
    let location: Simulation.Location
}

/// The description of one run, without its body.
struct SimulationPlan {
    typealias Body = @isolated(any) @Sendable (Simulation) async throws -> Void

    let seed: UInt64
    /// The strategy of the run. It is neither `swarm` nor `guided`: with these, each seed draws one of the other strategies.
    var strategy: Simulation.Strategy
    var call: SimulationCall
    /// The capabilities that this run uses.
    var capabilities = Simulation.capabilities

    /// The code or the command that replays the run; `nil` if the seed and the strategy are sufficient to replay it.
    var replay: String? {
        guard case .schedule(let schedule) = strategy.kind else { return nil }
        return SimulatedTest.current?.replay(schedule) ?? "try simulate(schedule: \"\(schedule)\") { … }"
    }

    /// The command that runs the test; `nil` if `simulate` was called directly, or if the seed alone does not decide the schedule.
    var command: String? { strategy.dependsOnSeedAlone ? SimulatedTest.current?.command : nil }

    /// Receives the conditions of ``Simulation/sometimes(_:_:fileID:filePath:line:column:)``.
    var goals: SimulationGoals?

    /// Whether messages name the function of the program that has called a system function. It takes the time and the
    /// memory to read the symbols of the executable.
    var namesCallers = true

    /// Whether no other simulation of the process may run at the same time.
    var isAlone = false

    /// Whether ``SimulationResult/answers`` contains the choices of the schedule even if the run passes.
    var keepsAnswers = false

    /// The real time for which the simulation waits, when no job can run, for threads outside the simulation that may
    /// be about to resume a task.
    var grace = Duration.milliseconds(100)
}

/// The outcome of one run.
struct SimulationResult {
    let run: Simulation.Run
    /// The choices of the schedule. Empty if the run passed and ``SimulationPlan/keepsAnswers`` was `false`.
    let answers: [ScheduleChooser.Answer]
    /// The number of random decisions of the run, which a shortened schedule can replace by the simplest ones.
    let decisionCount: Int
    let log: ScheduleLog
    let reason: Simulation.Failure.Reason?
    /// The task that failed an expectation: see ``Simulation/Failure/failedTask``.
    var failedTask: String?
    /// Whether the run must be repeated alone: one of its tasks has arrived at an actor that another simulation uses.
    let hasCollided: Bool
    /// Whether the simulation has waited, before it ended the run, for a thread outside the simulation that might have
    /// resumed a task.
    let hasLookedOut: Bool
    /// Whether tasks were lost in crashes.
    var hasLost = false
    /// The tasks that had not ended. Empty if the run passed.
    let unfinished: [SimulationUnfinishedTask]
}

/// The execution of one call of `simulate`: runs its seeds, and throws an error for the first run that fails.
struct SimulationRunner {
    private let call: SimulationCall
    private let checksDeterminism: Bool
    private let isShrinking: Bool
    private let body: SimulationPlan.Body

    /// Whether the runs of this call share an actor with another simulation, and therefore run alone.
    private var isAlone = false
    private let goals = SimulationGoals()
    private var corpus = ScheduleCorpus()

    private var report = Simulation.Report()
    private var fingerprints: Set<UInt64> = []
    /// The last run, and its plan.
    private var last: (result: SimulationResult, plan: SimulationPlan)?

    init(
        _ call: SimulationCall,
        checksDeterminism: Bool,
        isShrinking: Bool,
        _ body: @escaping SimulationPlan.Body
    ) throws {
        insist(call.maxSteps > 0, "maxSteps limits the steps of one schedule: at least 1, not \(call.maxSteps).")
        guard Simulation.isSupported else { throw Simulation.UnsupportedError() }
        self.call = call
        self.checksDeterminism = checksDeterminism
        self.isShrinking = isShrinking
        self.body = body
    }

    // MARK: Many schedules

    mutating func run(_ seeds: Range<UInt64>, _ strategy: Simulation.Strategy) throws -> Simulation.Report {
        if case .exhaustive(let preemptions) = strategy.kind {
            try search(strategy, preemptions: preemptions, seeds)
        } else {
            let recent = max(1, seeds.count / 10)
            for seed in seeds {
                let run = try run(seed, strategy)
                let isNew = fingerprints.insert(run.fingerprint).inserted
                guard seeds.upperBound - seed <= recent else { continue }
                report.recentScheduleCount += 1
                if isNew { report.recentNewScheduleCount += 1 }
            }
        }
        report.distinctScheduleCount = fingerprints.count
        // A single seed is the replay of one schedule.
        if report.scheduleCount > 1, let goal = goals.missed.first, let last { throw missed(goal, last).reported() }
        return report
    }

    private func missed(_ goal: SimulationGoals.Goal, _ last: (SimulationResult, SimulationPlan)) -> Simulation.Failure
    {
        failure(
            last.0,
            of: last.1,
            as: .neverHeld(goal.message, location: goal.location, schedules: report.scheduleCount)
        )
    }

    mutating func run(_ schedule: Simulation.Schedule) throws -> Simulation.Report {
        fingerprints.insert(try runOne(schedule).fingerprint)
        report.distinctScheduleCount = fingerprints.count
        return report
    }

    /// Runs all schedules with at most `preemptions` preemptions (interruptions of a task that could continue), but at
    /// most as many schedules as there are seeds. Throws the failure of the first run that fails.
    ///
    /// - Parameter strategy: The strategy of the search, which decides whether its schedules have slowness or early
    ///   starts.
    private mutating func search(_ strategy: Simulation.Strategy, preemptions: Int, _ seeds: Range<UInt64>) throws {
        var search = ScheduleSearch(preemptions: preemptions)
        for _ in seeds {
            let deviations = search.prefix.enumerated()
                .map { Simulation.Schedule.Deviation(question: $0, answer: Int($1)) }
            let schedule = Simulation.Schedule(
                seed: seeds.lowerBound,
                deviations: deviations,
                hasSlowness: strategy.hasSlowness,
                hasEarlyStarts: strategy.hasEarlyStarts
            )
            let result = try runOne(schedule.seed, Simulation.Strategy(kind: .schedule(schedule), isSearch: true))
            fingerprints.insert(result.run.fingerprint)
            guard search.isFollowed(by: result.answers) else {
                let plan = plan(schedule.seed, Simulation.Strategy(kind: .schedule(schedule)))
                throw failure(result, of: plan, as: .nondeterministic).reported()
            }
            if !search.advance(past: result.answers) {
                report.exhaustedPreemptions = preemptions
                return
            }
        }
        report.isCutOff = true
    }

    // MARK: One schedule

    @discardableResult
    mutating func run(_ seed: UInt64, _ strategy: Simulation.Strategy) throws -> Simulation.Run {
        if strategy.isGuided {
            let (seed, strategy) = corpus.run(of: seed, strategy)
            let result = try runOne(seed, strategy, keepsAnswers: true)
            let schedule = Simulation.Schedule(seed: seed, answers: result.answers, strategy)
            corpus.ran(schedule, choices: result.answers.count, handovers: result.log.handovers)
            return result.run
        }
        // The strategy that a swarm draws depends only on the seed.
        if report.mostSteps > 0, !strategy.isSwarm {
            return try runOne(seed, strategy.with(steps: report.mostSteps)).run
        }
        return try runOne(seed, strategy.drawn(by: seed)).run
    }

    @discardableResult
    mutating func runOne(_ schedule: Simulation.Schedule) throws -> Simulation.Run {
        try runOne(schedule.seed, Simulation.Strategy(kind: .schedule(schedule))).run
    }

    private mutating func runOne(
        _ seed: UInt64,
        _ strategy: Simulation.Strategy,
        keepsAnswers: Bool = false
    ) throws -> SimulationResult {
        var plan = plan(seed, strategy)
        if keepsAnswers { plan.keepsAnswers = true }
        let result = execute(plan)
        if case .continued = strategy.kind {
            // The schedule alone replays the run.
            let schedule = Simulation.Schedule(seed: seed, answers: result.answers, strategy)
            plan.strategy = Simulation.Strategy(kind: .schedule(schedule))
        }
        if goals.isUsed { last = (result, plan) }
        report.scheduleCount += 1
        report.mostSteps = max(report.mostSteps, result.run.stepCount)
        if let reason = result.reason {
            var failure = failure(result, of: plan, as: reason)
            if isShrinking, failure.mayBeRepeated {
                failure.shrunk = shrink(failure, plan, decisionCount: result.decisionCount)
            }
            throw failure.reported()
        }
        if checksDeterminism {
            let again = execute(plan)
            if again.run != result.run || again.log.steps != result.log.steps {
                var failure = failure(result, of: plan, as: .nondeterministic)
                failure.divergence = result.log.divergence(from: again.log)
                throw failure.reported()
            }
        }
        if result.hasLost, !keepsAnswers, !goals.isUsed { result.log.removeAll() }
        return result
    }

    /// Runs a schedule. A run that shares an actor with another simulation is repeated alone, and so are all later ones.
    private mutating func execute(_ plan: SimulationPlan) -> SimulationResult {
        var plan = plan
        plan.isAlone = isAlone
        let result = SimulationSupport.run(plan, body)
        guard result.hasCollided, !isAlone else { return result }
        isAlone = true
        plan.isAlone = true
        return SimulationSupport.run(plan, body)
    }

    private func plan(_ seed: UInt64, _ strategy: Simulation.Strategy) -> SimulationPlan {
        var plan = SimulationPlan(seed: seed, strategy: strategy, call: call)
        plan.goals = goals
        plan.keepsAnswers = checksDeterminism || strategy.isSearch
        return plan
    }

    // MARK: Failures

    private func failure(
        _ result: SimulationResult,
        of plan: SimulationPlan,
        as reason: Simulation.Failure.Reason
    ) -> Simulation.Failure {
        var failure = Simulation.Failure(
            reason: reason,
            seed: plan.seed,
            strategy: plan.strategy,
            run: result.run,
            location: call.location,
            schedule: Simulation.Schedule(seed: plan.seed, answers: result.answers, plan.strategy),
            steps: result.log.steps,
            unfinished: result.unfinished
        )
        failure.failedTask = result.failedTask
        failure.hasLookedOut = result.hasLookedOut
        failure.scheduleCount = report.scheduleCount
        return failure
    }

    private static let mostShrinkingRuns = 200
    private static let mostShrinkingSteps = 200_000

    /// Searches for a shorter schedule that fails for the same reason as a failed run. Returns `nil` if none is found.
    ///
    /// - Parameters:
    ///   - failure: The failure of the run.
    ///   - plan: The description of the run.
    ///   - decisionCount: The number of random decisions of the run.
    private mutating func shrink(
        _ failure: Simulation.Failure,
        _ plan: SimulationPlan,
        decisionCount: Int
    ) -> Simulation.Failure.Shrunk? {
        var shrinker = ScheduleShrinker(failure.schedule, decisionCount: decisionCount)
        var (runs, steps) = (0, 0)
        var best: Simulation.Failure?
        while runs < Self.mostShrinkingRuns, steps < Self.mostShrinkingSteps, let schedule = shrinker.next() {
            var plan = self.plan(plan.seed, Simulation.Strategy(kind: .schedule(schedule)))
            plan.grace = .zero
            plan.goals = nil
            // Without a fault, or with another order, the program often runs on: that takes none of the steps that other
            // candidates need.
            plan.call.maxSteps = min(call.maxSteps, 2 * failure.run.stepCount)
            let result = execute(plan)
            runs += 1
            steps += result.run.stepCount
            if let reason = result.reason, reason.isLike(failure.reason) {
                let shorter = self.failure(result, of: plan, as: reason)
                shrinker.fails(as: shorter.schedule, decisionCount: result.decisionCount)
                best = shorter
            } else {
                shrinker.passes()
            }
        }
        guard let best else { return nil }
        return Simulation.Failure.Shrunk(
            schedule: best.schedule,
            reason: best.reasonAndTask,
            steps: best.steps,
            unfinished: best.unfinished,
            runCount: runs
        )
    }
}

extension Simulation.Failure {
    /// Whether it makes sense to run the body again to shorten the schedule. `false` if the run has failed as an
    /// escape, if each further run would record another issue of Swift Testing's `#require`, or if the test was
    /// cancelled.
    fileprivate var mayBeRepeated: Bool {
        // Code that has left the simulation would leave it again in each further run.
        if case .escaped = reason { return false }
        guard case .threw(let error) = reason else { return true }
        return !(error is CancellationError && Task.isCancelled) && !isOfRequire
    }

    /// Whether the run failed because Swift Testing's `#require` threw an error, which it has already recorded. The
    /// type of such an error is not public.
    var isOfRequire: Bool {
        guard case .threw(let error) = reason else { return false }
        return String(reflecting: type(of: error)) == "Testing.ExpectationFailedError"
    }
}

extension Simulation.Failure.Reason {
    /// Returns whether two runs have failed for the same reason: the same kind of reason, and the same location or type of error.
    fileprivate func isLike(_ other: Self) -> Bool {
        switch (self, other) {
        case (.threw(let one), .threw(let other)): type(of: one) == type(of: other)
        case (.expectation(_, let place), .expectation(_, let otherPlace)): place == otherPlace
        case (.deadlock, .deadlock), (.livelock, .livelock), (.leftBehind, .leftBehind), (.escaped, .escaped),
            (.nondeterministic, .nondeterministic), (.blocked, .blocked):
            true
        default: false
        }
    }
}
