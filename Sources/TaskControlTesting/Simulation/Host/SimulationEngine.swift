#if os(Linux) || canImport(Darwin)

import CTaskControlTesting
import TaskControl

// The engine of the simulation, from the outside in:
//
//     simulate                                the face
//     SimulationRunner                        runs seeds, and shrinks the schedule of a failure (ScheduleShrinker)
//     SimulationEngine                        one run: receives the jobs of the runtime, and runs them one by one
//       ScheduleStateMachine                  the ready and the sleeping jobs, virtual time, and what runs next
//         ScheduleChooser                     the answers of the strategy and the seed
//       TaskLedger                            the tasks: names, creators, states
//       ScheduleLog                           the last steps, for the report
//     CTaskControlTesting                     the functions of the runtime and of the C library that it replaces

/// The engine that runs a simulation under one seed: receives every job of the Swift runtime, runs the jobs in the
/// order that the schedule decides, and determines the result.
///
/// All jobs run on one thread, which is considered inside the simulation while `run` is on its stack. The runtime's
/// hooks find the engine through that thread (`tc_enter`), and through the task executor that every task of the
/// simulation has.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class SimulationEngine: @unchecked Sendable {
    // Sendable: only the thread of the simulation uses the properties, except `foreign`. `isHere` rejects all other threads.

    let plan: SimulationPlan
    // Exclusivity is not checked for the state of a step: no access to it is long or runs code of the program, and the checks take a tenth of the
    // time of a step.
    @exclusivity(unchecked) var schedule: ScheduleStateMachine
    /// The generator of `Simulation.random`. It is separate from the generator of the schedule, so that neither changes the other's
    /// numbers.
    var draws: SeededGenerator
    /// The generator of the numbers with which the simulation replaces those of the system.
    private var systemDraws: SeededGenerator
    /// The number of random decisions of the run so far: see ``isSimplified()``.
    var decisionCount = 0
    /// The numbers of the random decisions that have their simplest outcome; `nil` for none.
    private var simplified: Set<Int>?
    @exclusivity(unchecked) var ledger: TaskLedger
    let log = ScheduleLog()
    /// The actions passed to `Simulation.atAnyPoint` that have not run yet, in the order of the calls.
    var actions: [(moment: ScheduleChooser.Moment, isFault: Bool, action: @Sendable () -> Void)] = [] {
        didSet { hasActions = !actions.isEmpty }
    }
    @exclusivity(unchecked) private(set) var hasActions = false
    /// Whether this simulation holds the lock with which only one simulation at a time uses the main actor.
    @exclusivity(unchecked) var isOnMain = false
    /// The number of jobs that are running: zero between two steps, and more than one if a created task was started
    /// early, on the stack of its creator.
    @exclusivity(unchecked) var depth = 0

    @exclusivity(unchecked) var bodyHasEnded = false
    /// Whether the engine has waited, before it ended the run, for a thread outside the simulation that might have
    /// resumed a task.
    var hasLookedOut = false
    @exclusivity(unchecked) var reason: Simulation.Failure.Reason?
    /// The number of the task that failed an expectation.
    private var failedTask: Int?
    /// The deadline of the sleep that the running job has begun, in nanoseconds of virtual time since the simulation
    /// began; `nil` if the job has begun no sleep.
    @exclusivity(unchecked) var deadline: Int64?
    /// The jobs of tasks that have called `Task.yield()` in this step: each enqueues its task again.
    @exclusivity(unchecked) var yields = FlatArray<SimulatedJob>()
    /// Whether the running job is one of ``yields``.
    @exclusivity(unchecked) var isResumingYield = false
    /// The state of the job with which an actor runs the work in its queue (the actor's turn), while a task is being
    /// enqueued on this actor: the job is expected, or has arrived and runs at once. `nil` at other times.
    @exclusivity(unchecked) var turn: Turn?

    enum Turn {
        case expected
        case came(SimulatedJob)
    }

    /// The number of the actor of the step that runs; `nil` if it runs on none.
    @exclusivity(unchecked) private(set) var actorOfStep: Int?
    /// Whether the run must be repeated alone: a task has arrived at an actor that another simulation uses.
    var hasCollided = false

    /// The handlers of sources of signals that have not ended, in the order in which they run.
    private var handlers: [SignalHandler] = []

    typealias SignalHandler = (block: UnsafeMutableRawPointer, unless: UnsafePointer<Bool>?)

    /// Whether the running job reads the clock in a loop, so often that each further read advances virtual time.
    @exclusivity(unchecked) var isPolling = false
    /// The number of calls in this step that have blocked the thread for a time.
    @exclusivity(unchecked) var blockCount = 0
    /// The number of jobs of the main actor that are running: more than one if other tasks run while one of them waits.
    @exclusivity(unchecked) private var depthOnMain = 0
    /// Whether ``reason`` is only that the step waits, for which one of the other tasks that run meanwhile may end the wait.
    var mayWaitInVain = false

    /// The values that the core keeps once per process: those of the body's, and of each process that it simulates.
    private var processes = [ProcessValues()]

    let foreign = ForeignVisits()
    let executor: SimulationTaskExecutor
    let hop: SimulationHopExecutor
    let main: SimulationMainExecutor
    let mainReference: UnownedSerialExecutor

    /// The time at which virtual time begins, in nanoseconds: a time that no real clock is likely to show. Clocks that
    /// show the date begin with 2030-01-01 (see `Time.c`).
    static let start: Int64 = 1_000_000 * 1_000_000_000

    private init(_ plan: SimulationPlan) {
        self.plan = plan
        ledger = TaskLedger(plan.capabilities, log: log)
        let chooser = ScheduleChooser(seed: plan.seed, strategy: plan.strategy)
        schedule = ScheduleStateMachine(chooser: chooser, now: Self.start)
        draws = SeededGenerator(seed: plan.seed ^ 0xD1B5_4A32_D192_ED03)
        systemDraws = SeededGenerator(seed: plan.seed ^ 0x9E6C_63D0_876A_46B5)
        executor = SimulationTaskExecutor(foreign: foreign)
        hop = SimulationHopExecutor(foreign: foreign)
        main = SimulationMainExecutor(foreign: foreign)
        if let schedule = plan.strategy.schedule, !schedule.simplified.isEmpty { simplified = Set(schedule.simplified) }
        mainReference = tc_standsInForMain() ? main.asUnownedSerialExecutor() : MainActor.sharedUnownedExecutor
    }

    /// The engine of the simulation in which this thread runs; `nil` if there is none.
    static var current: SimulationEngine? {
        guard let context = tc_context() else { return nil }
        return at(context)
    }

    /// A new ``Simulation`` that refers to this engine, to be passed to the program under test.
    var simulation: Simulation { Simulation(seed: plan.seed, host: self) }

    // MARK: Running

    static func run(_ plan: SimulationPlan, _ body: @escaping SimulationPlan.Body) -> SimulationResult {
        insist(
            tc_context() == nil,
            "simulate was called inside a simulation. Call the code of the inner body directly."
        )
        tc_beginRun(plan.isAlone)
        let engine = SimulationEngine(plan)
        defer {
            engine.leaveBehind()
            tc_dropClaims()
            tc_endRun(plan.isAlone)
        }
        return engine.inside { engine.run(body) }
    }

    func inside(_ work: () -> SimulationResult) -> SimulationResult {
        var runtime = TCSimulation(
            context: Unmanaged.passUnretained(self).toOpaque(),
            taskExecutor: Self.words(executor.asUnownedTaskExecutor()),
            mainExecutor: Self.words(mainReference),
            hopExecutor: Self.words(hop.asUnownedSerialExecutor()),
            globalExecutor: Self.words(globalConcurrentExecutor.asUnownedTaskExecutor()).0,
            created: { context, task, name, foreign in
                let engine = SimulationEngine.at(context)
                engine.checkCurrentTask()
                var text: String?
                if let name { text = String(cString: name) }
                let number = engine.ledger.created(task, name: text)
                if let name { tc_nameTask(Int64(number), name) }
                if let foreign { engine.escaped(task, "was made for an executor of its own", foreign) }
                engine.startEarly(number)
            },
            goes: { context, foreign in
                let engine = SimulationEngine.at(context)
                guard let task = tc_currentTask(), engine.ledger.knows(task) else { return }
                engine.escaped(task, "went to the executor of an actor", foreign)
            },
            mayHop: { context in SimulationEngine.at(context).checkCurrentTask() },
            enqueue: { context, job, isOnMain in
                SimulationEngine.at(context).enqueueIfOwn(SimulatedJob(job, isOnMain: isOnMain), after: nil)
            },
            enqueueAfter: { context, job, nanoseconds in
                let job = SimulatedJob(job, isOnMain: false)
                return SimulationEngine.at(context).enqueueIfOwn(job, after: .nanoseconds(nanoseconds))
            },
            touched: { context, call, why, caller in
                SimulationEngine.at(context).touched(String(cString: call), String(cString: why), caller)
            },
            blocked: { context, call, holder, caller in
                SimulationEngine.at(context).waits(in: String(cString: call), forLockOf: holder, caller)
            },
            runsOther: { context, call, caller in
                SimulationEngine.at(context).runsOther(during: String(cString: call), caller)
            },
            waitsInVain: { context in SimulationEngine.at(context).waitsInVain() },
            perform: { context, block, unless in SimulationEngine.at(context).perform((block, unless)) },
            draw: { context in SimulationEngine.at(context).systemDraws.next() },
            passed: { context, nanoseconds, call in
                SimulationEngine.at(context).blocked(for: nanoseconds, in: call.map { String(cString: $0) })
            }
        )
        let (strategy, call) = (TCStrategy(plan.strategy), plan.call)
        tc_beginSeed(plan.seed, strategy, plan.replay, plan.command, call.location.fileID, Int64(call.location.line))
        defer { tc_endSeed() }
        tc_hook()
        defer { tc_unhook() }
        return withUnsafeMutablePointer(to: &runtime) { runtime in
            tc_enter(runtime, plan.capabilities.includesAny(of: .interposed))
            tc_setNow(schedule.now)
            ProcessValues.simulate(processes[0])
            defer {
                ProcessValues.endSimulation()
                tc_enter(nil, false)
                tc_setNow(-1)
                if isOnMain { tc_unlockMain() }
            }
            return work()
        }
    }

    static func at(_ context: UnsafeMutableRawPointer) -> SimulationEngine {
        Unmanaged<SimulationEngine>.fromOpaque(context).takeUnretainedValue()
    }

    static func words<Reference>(
        _ reference: Reference
    ) -> (UnsafeMutableRawPointer, UnsafeMutableRawPointer) {
        // By ABI, a reference to an executor is two words: the object, and its witness table.
        unsafeBitCast(reference, to: (UnsafeMutableRawPointer, UnsafeMutableRawPointer).self)
    }

    func run(_ body: @escaping SimulationPlan.Body) -> SimulationResult {
        start(body)
        while reason == nil, advance() {}
        let unfinished = reason == nil ? [] : unfinished()
        return SimulationResult(
            run: Simulation.Run(
                seed: plan.seed,
                fingerprint: schedule.trace,
                stepCount: schedule.steps,
                elapsed: elapsedHere
            ),
            answers: reason != nil || plan.keepsAnswers ? schedule.chooser.answers : [],
            decisionCount: decisionCount,
            log: log,
            reason: reason,
            failedTask: failedTask.map { ledger.label($0) },
            hasCollided: hasCollided,
            hasLookedOut: hasLookedOut,
            hasLost: ledger.hasLost,
            unfinished: unfinished.map { number, state in
                let task = ledger[number]
                return SimulationUnfinishedTask(
                    task: task,
                    creator: task.creator.map { ledger[$0] },
                    state: log.state(state)
                )
            }
        )
    }

    func start(_ body: @escaping SimulationPlan.Body) {
        let simulation = simulation
        // An explicit executor, since the simulation may not notice that the task is created; and an explicit priority,
        // so that the priority of the caller, which may change, does not affect the schedule.
        Task(name: "body", executorPreference: executor, priority: .medium) {
            do {
                try await body(simulation)
            } catch {
                self.fail(.threw(error))
            }
            self.bodyHasEnded = true
        }
    }

    /// Runs one step of the schedule.
    ///
    /// - Returns: Whether to run another step. If `false`, the run has ended.
    func advance() -> Bool {
        if foreign.hasVisits, takeForeignVisits() { return false }
        if schedule.steps >= plan.call.maxSteps {
            reason = .livelock(steps: schedule.steps)
            return false
        }
        if hasActions, let index = schedule.action(actions.map(\.moment)) {
            perform(actions.remove(at: index))
            return true
        }
        guard let item = schedule.next() else { return isGoingOnAlthoughIdle() }
        tc_setNow(schedule.now)
        run(item)
        return true
    }

    func run(_ item: ScheduleStateMachine.Item) {
        let (job, owner, number) = (SimulatedJob(item), item.task, schedule.steps - 1)
        if ledger.hasLost, let owner, ledger.isLost(owner) { return }
        let (isTask, actor) = (job.isTask, actor(of: job))
        if let place = job.actor, !tc_claim(place) { return collided(owner, actor!) }
        actorOfStep = actor
        if isTask, let task = owner { ledger.waits(task, for: nil) }
        if processes.count > 1 { simulateProcess(of: owner) }
        let firstYield = yields.count
        deadline = nil
        isPolling = false
        if depth == 0 { blockCount = 0 }
        depth += 1
        if job.isOnMain, !isOnMain {
            tc_lockMain()
            isOnMain = true
        }
        tc_beginStep(Int64(schedule.steps), Int64(owner ?? -1))
        if job.isOnMain {
            depthOnMain += 1
            job.job.runSynchronously(
                isolatedTo: mainReference,
                taskExecutor: executor.asUnownedTaskExecutor()
            )
            depthOnMain -= 1
        } else if let actor = job.actor {
            turn = .expected
            tc_enqueueOnActor(job.pointer, actor)
            if case .came(let job) = turn { run(job) } else if !takeTurns() { isElsewhere(owner, actorOfStep!) }
            turn = nil
        } else {
            run(job)
        }
        tc_endStep()
        depth -= 1
        // Tasks that have yielded are enqueued again at the end of the step. This is not a choice of the schedule.
        if yields.count > firstYield {
            isResumingYield = true
            while yields.count > firstYield { run(yields.remove(at: firstYield)) }
            isResumingYield = false
        }
        append(isTask, of: owner, actor, number)
        if isTask, let task = owner {
            if let ended = ledger.hasRun(task) { tc_release(ended) }
        } else if ledger.actorHasRun() {
            Self.release(ledger.sweep())
        }
    }

    /// Runs the jobs of actors that have work other than tasks, such as an isolated `deinit`: one job per actor handles
    /// all such work. After a step, no task remains in the queue of an actor. (If a thread outside the simulation is
    /// running the actor, it also runs this job.)
    ///
    /// - Returns: Whether there was such a job.
    func takeTurns() -> Bool {
        turn = nil
        var hasRun = false
        while let item = schedule.takeFirst(where: { SimulatedJob($0).isTurn }) {
            run(SimulatedJob(item))
            hasRun = true
        }
        return hasRun
    }

    func run(_ job: SimulatedJob) {
        turn = nil
        job.job.runSynchronously(on: executor.asUnownedTaskExecutor())
    }

    func actor(of job: SimulatedJob) -> Int? {
        if job.isOnMain { return log.number(ofActor: Unmanaged.passUnretained(MainActor.shared).toOpaque()) }
        guard let actor = job.actor else { return nil }
        return log.number(ofActor: actor)
    }

    /// Starts a task that is being created before its creator continues, on the creator's stack, if the schedule
    /// chooses that. Otherwise does nothing.
    ///
    /// - Parameter task: The number of the task.
    func startEarly(_ task: Int) {
        // A task that is created under a lock starts later: it may wait for the lock, which another thread would do.
        guard depth > 0, depth < 3, reason == nil, !tc_holdsLock() else { return }
        guard
            let item = schedule.takeEarly(where: { item in
                let job = SimulatedJob(item)
                return item.task == task && job.isTask && !job.isOnMain && job.actor == nil
            })
        else { return }
        runInside(item)
    }

    /// Runs a job on the stack of the step that runs.
    private func runInside(_ item: ScheduleStateMachine.Item) {
        let (step, task) = (Int64(schedule.steps - 1), Int64(ledger.current ?? -1))
        let outer = (deadline, turn, isPolling, actorOfStep)
        run(item)
        (deadline, turn, isPolling, actorOfStep) = outer
        tc_beginStep(step, task)
    }

    /// Runs a step of another task on the stack of the step that runs, which waits for another task: so it can end, and with it
    /// the run, which has failed. A job of the main actor does not run inside another one.
    ///
    /// - Returns: Whether there was another step.
    func runOther() -> Bool {
        guard depth > 0, depth < 8 else { return false }
        let isOnMain = depthOnMain > 0
        var item = schedule.takeFirst { !isOnMain || !SimulatedJob($0).isOnMain }
        if item == nil, schedule.isAboutToMoveTime { item = schedule.next() }
        guard let item else { return false }
        tc_setNow(schedule.now)
        runInside(item)
        return true
    }

    /// Decides whether the next random decision of the run has its simplest outcome, because the shortened schedule that
    /// is run says so: a draw is 1, and a fault does not happen.
    func isSimplified() -> Bool {
        defer { decisionCount += 1 }
        return simplified?.contains(decisionCount) ?? false
    }

    /// Runs a handler of a source of signals, after those before it. One task runs those that wait.
    func perform(_ handler: SignalHandler) {
        handlers.append(handler)
        guard handlers.count == 1 else { return }
        Task(name: "signal handlers", executorPreference: executor, priority: .medium) {
            while let handler = self.handlers.first {
                tc_callBlock(handler.block, handler.unless)
                self.handlers.removeFirst()
                await Task.yield()
            }
        }
    }

    private func perform(_ item: (moment: ScheduleChooser.Moment, isFault: Bool, action: @Sendable () -> Void)) {
        if !item.isFault { record(.action, of: nil, on: nil, number: schedule.steps) }
        schedule.note("action")
        tc_beginStep(Int64(schedule.steps), -1)
        item.action()
        tc_endStep()
    }
}

/// Receives the jobs of tasks and actors, and records the steps of the schedule.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension SimulationEngine {
    // MARK: Jobs

    func enqueue(_ job: SimulatedJob) {
        if case .expected = turn, job.isTurn {
            turn = .came(job)
            return
        }
        if job.isYield {
            yields.append(job)
            return
        }
        let number = number(job)
        if ledger.hasLost, let number, ledger.isLost(number) { return }
        var arrival: ScheduleStateMachine.Arrival?
        if job.isOnMain || job.actor != nil {
            arrival = .init(
                actor: UInt(bitPattern: job.actor),
                isFixed: tc_isCreating() || (job.isOnMain && continuesAfterEnqueuing(job)),
                priority: job.isOnMain ? 0 : tc_jobPriority(job.pointer),
                overtakes: tc_isCreating() && job.actor != nil && tc_isOnActor(job.actor!)
            )
            if job.isTask, let number { ledger.waits(number, for: actor(of: job)) }
        }
        schedule.enqueue(job.handle, of: number, on: arrival, hasYielded: isResumingYield)
    }

    /// Whether the running task continues after it has enqueued a job on the main actor, so that whatever it enqueues
    /// there later comes after this job. `false` if the task itself goes to the main actor, or has ended.
    private func continuesAfterEnqueuing(_ job: SimulatedJob) -> Bool {
        guard let current = tc_currentTask() else { return false }
        return current != job.pointer
    }

    func enqueue(_ job: SimulatedJob, after delay: Duration) {
        let (seconds, attoseconds) = delay.components
        let (whole, hasOverflown) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        var nanoseconds =
            hasOverflown ? (seconds < 0 ? 0 : .max / 2) : min(whole, .max / 2) + attoseconds / 1_000_000_000
        if !plan.capabilities.includes(.virtualTime) {
            // Real time has passed since the deadline was computed. It must not affect the schedule.
            nanoseconds = (max(0, nanoseconds) + 999_999) / 1_000_000 * 1_000_000
        }
        // A task that sleeps forever wakes at the end of time.
        nanoseconds = withoutLead(max(0, nanoseconds))
        let (at, isLate) = schedule.now.addingReportingOverflow(nanoseconds)
        deadline = nanosecondsHere + nanoseconds
        schedule.enqueue(job.handle, of: number(job, isTimer: true), at: isLate ? .max : at)
    }

    /// Returns a duration of a sleep that ends at a whole microsecond, if the given duration is shorter only because the
    /// clock was read between the computation of the deadline and the sleep: each read takes a nanosecond.
    private func withoutLead(_ nanoseconds: Int64) -> Int64 {
        let rest = (nanosecondsHere + nanoseconds) % 1_000
        return rest > 0 && 1_000 - rest < tc_lead() ? nanoseconds + 1_000 - rest : nanoseconds
    }

    func enqueueIfOwn(_ job: SimulatedJob, after delay: Duration?) -> Bool {
        // A job that is not a task is an actor's turn, or an isolated `deinit`.
        let isKnown = tc_isCreating() || ledger.knows(job.pointer) || ledger.mayDiscover(job.pointer)
        // A timer is created by the runtime, for the task that goes to sleep.
        let isTimer = delay != nil && ledger.current != nil
        if job.isTask, !isKnown, !isTimer { return false }
        if let delay { enqueue(job, after: delay) } else { enqueue(job) }
        return true
    }

    /// Returns the number of the task that a job belongs to or, for other work of an actor such as an isolated
    /// `deinit`, of the task that enqueued the job. Returns `nil` if there is no such task.
    ///
    /// - Parameter isTimer: Whether the job is a timer that the runtime has created to end a sleep.
    func number(_ job: SimulatedJob, isTimer: Bool = false) -> Int? {
        if job.isTask { return ledger.number(of: job.pointer, isTimer: isTimer) }
        // The turn of an actor belongs to no task.
        if job.isTurn { return nil }
        return ledger.current
    }

    // MARK: Recording

    /// Records a step of the schedule.
    ///
    /// - Parameters:
    ///   - isTask: Whether the job of the step was a task. (The job itself is possibly deallocated already.)
    ///   - task: The number of the task that ran, or for which an actor did other work; `nil` if there is none.
    ///   - actor: The number of the actor on which the job ran; `nil` if it ran on none.
    ///   - number: The number of the step.
    func append(_ isTask: Bool, of task: Int?, _ actor: Int?, _ number: Int) {
        guard let state = state(of: task) else { return }
        let event = isTask ? ScheduleLog.Event.ran(state) : .actorTurn
        record(event, of: task, on: actor, number: number)
    }

    /// Adds an event to the log, and to the last steps that a crash prints.
    private func record(_ event: ScheduleLog.Event, of task: Int?, on actor: Int?, number: Int) {
        let time = nanosecondsHere
        log.append(event, of: task, on: actor, number: number, at: time)
        let (kind, value) = event.parts
        tc_keepStep(time, Int64(task ?? -1), Int64(actor ?? -1), Int64(kind.rawValue), value, nil)
    }

    /// Adds a text to the log, and to the last steps that a crash prints.
    ///
    /// - Parameters:
    ///   - event: The event that has the text.
    ///   - location: The source location of a note.
    func record(_ event: SimulationStep.Event, _ text: String, at location: String? = nil) {
        let (time, task) = (nanosecondsHere, ledger.current)
        let index = log.text(text, location: location)
        let isNote = if case .note = event { true } else { false }
        log.append(isNote ? .note(index) : .blocked(index), of: task, on: nil, number: schedule.steps, at: time)
        let step = SimulationStep(
            number: schedule.steps,
            time: .nanoseconds(time),
            task: task.map { ledger[$0] },
            actor: nil,
            event: event,
            location: location
        )
        tc_keepStep(time, -1, -1, 0, 0, step.text)
    }

    /// Returns the state of the task with the given number, to be recorded with a step; `nil` if a failure report
    /// should not list the step, such as that of a timer.
    private func state(of task: Int?) -> ScheduleLog.State? {
        guard let task else { return .unknown }
        if let deadline { return .sleeping(until: deadline) }
        if ledger.isTimer(task) { return nil }
        return ledger.state(of: task) ?? .unknown
    }

    /// Returns the numbers of the tasks that have not ended, and their states.
    func unfinished() -> [(Int, ScheduleLog.State)] {
        // Only the state of the body is known.
        guard ledger.readsStates else { return bodyHasEnded ? [] : [(0, .unknown)] }
        Self.release(ledger.sweep())
        // A task that sleeps awaits a continuation, which its timer resumes.
        var deadlines: [Int: Int64] = [:]
        for (timer, deadline) in schedule.sleeps {
            if let task = ledger[timer].creator { deadlines[task] = deadline - Self.start }
        }
        return (0..<ledger.unended.count)
            .map { index in
                let number = ledger.unended[index]
                let state = ledger.state(of: number) ?? .unknown
                if case .awaitingContinuation = state, let end = deadlines[number] {
                    return (number, .sleeping(until: end))
                }
                return (number, state)
            } + (0..<ledger.lost.count).map { (ledger.lost[$0], .lost) }
    }
}

/// Handles the situation in which no job can run, and the end of the run.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension SimulationEngine {
    /// Decides how to continue when no job can run and no task sleeps.
    ///
    /// - Returns: Whether to run another step. If `false`, the run has ended: it has failed if ``reason`` is not `nil`.
    func isGoingOnAlthoughIdle() -> Bool {
        if hasActions {
            perform(actions.remove(at: schedule.action(actions.map(\.moment), mustAct: true)!))
            return true
        }
        // Objects that are deallocated with these tasks may create tasks.
        Self.release(ledger.sweep())
        if !schedule.isIdle { return true }
        if bodyHasEnded, ledger.unended.isEmpty || !ledger.readsStates { return false }
        if reason == nil, let task = firstUnended(where: isWaitingForTaskOutside) {
            reason = .escaped("\(ledger.label(task)) waits for a task")
        }
        if reason == nil, isExpectingVisits {
            lookOutForVisits()
            hasLookedOut = true
        }
        if reason == nil { reason = bodyHasEnded ? .leftBehind(tasks: ledger.unended.count) : .deadlock }
        return false
    }

    func firstUnended(where isWanted: (Int) -> Bool) -> Int? {
        for index in 0..<ledger.unended.count where isWanted(ledger.unended[index]) { return ledger.unended[index] }
        return nil
    }

    func isWaitingForTaskOutside(_ number: Int) -> Bool {
        if case .awaitingTask(nil) = ledger.state(of: number) { true } else { false }
    }

    /// Whether a thread outside the simulation is possibly about to resume a task. This can be a thread that has
    /// received work from the simulation, or a thread that runs an actor of the simulation. Always `true` without
    /// `SimulationCapabilities.escapes`: the simulation then does not notice that a thread receives work.
    var isExpectingVisits: Bool {
        tc_takeHint() || !plan.capabilities.contains(.escapes)
            || firstUnended { if case .awaitingActor = ledger.state(of: $0) { true } else { false } } != nil
    }

    /// Waits for a short real time, in case a thread outside the simulation is about to resume a task: the run then
    /// fails with the reason ``Simulation/Failure/Reason/escaped(_:)``, which is more helpful than a deadlock.
    func lookOutForVisits() {
        tc_setNow(-1)
        let end = ContinuousClock.now + plan.grace
        while reason == nil, ContinuousClock.now < end {
            System.pause()
            _ = takeForeignVisits()
        }
        tc_setNow(schedule.now)
    }

    /// Fails the run with the reason ``Simulation/Failure/Reason/escaped(_:)`` if a thread outside the simulation has
    /// resumed a task or used the ``Simulation``.
    ///
    /// - Returns: Whether a thread has done so, and the run has therefore ended.
    func takeForeignVisits() -> Bool {
        guard foreign.hasVisits else { return false }
        let (jobs, callers) = foreign.take()
        for job in jobs { enqueue(job) }
        if let job = jobs.first, reason == nil { reason = .escaped("\(ledger.label(number(job))) was resumed") }
        if callers > 0, reason == nil { reason = .escaped("the Simulation was used") }
        return !jobs.isEmpty || callers > 0
    }

    /// Ends the simulation after its last step. The unfinished tasks of a failed run are not cancelled, and never run
    /// again. (If they were cancelled, their code would run, and could block the thread forever.)
    func leaveBehind() {
        if !ledger.unended.isEmpty || ledger.hasLost || !ledger.readsStates {
            // A task does not retain the main actor's executor, and a task that is left behind may still be resumed.
            _ = Unmanaged.passRetained(main)
        }
        Self.release(ledger.close())
        foreign.end(isDropping: reason != nil || ledger.hasLost)
        // The remaining jobs may include the turn of an actor that outlives the seed. Without this, the actor would never run again.
        while let item = schedule.next() {
            let job = SimulatedJob(item)
            if job.isTurn { tc_enqueueGlobal(job.pointer) }
        }
    }

    static func release(_ tasks: borrowing FlatArray<UnsafeMutableRawPointer>) {
        for index in 0..<tasks.count { tc_release(tasks[index]) }
    }
}

/// Handles the calls that the program under test makes through its ``Simulation``.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension SimulationEngine: SimulationHost {
    /// Agrees with the clocks to a microsecond: each of their reads adds a nanosecond.
    var nanosecondsHere: Int64 {
        let lead = tc_lead()
        return schedule.now - Self.start + lead - lead % 1_000
    }

    var elapsedHere: Duration {
        // Not `.nanoseconds(_:)`, which is generic, and slow in a debug build.
        let (seconds, nanoseconds) = (nanosecondsHere / 1_000_000_000, nanosecondsHere % 1_000_000_000)
        return Duration(secondsComponent: seconds, attosecondsComponent: nanoseconds * 1_000_000_000)
    }

    /// Whether the caller runs in this simulation, that is, on its thread. If not, reading this property makes the run
    /// fail with the reason ``Simulation/Failure/Reason/escaped(_:)``.
    var isHere: Bool {
        if SimulationEngine.current === self { return true }
        foreign.call()
        return false
    }

    var elapsed: Duration { isHere ? elapsedHere : .zero }

    func fail(_ failure: Simulation.Failure.Reason) {
        guard isHere, reason == nil else { return }
        reason = failure
        if case .expectation = failure { failedTask = ledger.current }
    }

    func note(_ text: String, _ location: String?) {
        guard isHere else { return }
        schedule.note(text)
        record(.note(text), text, at: location)
    }

    func atAnyPoint(isFault: Bool, _ action: @escaping @Sendable () -> Void) {
        guard isHere else { return }
        actions.append((schedule.moment(), isFault, action))
    }

    func draw() -> UInt64? {
        guard isHere else { return nil }
        let number = draws.next()
        // Not zero, which the standard library can reject when it draws from a range.
        return isSimplified() ? 1 : number
    }

    func drawSeed() -> UInt64 { isHere ? draws.next() : 0 }

    func happens() -> Bool { !isHere || !isSimplified() }

    func sometimes(_ condition: Bool, _ message: String, _ location: Simulation.Location) {
        if isHere { plan.goals?.note(condition, message, location) }
    }

    func leave() -> Bool {
        guard isHere, tc_setOutside(true) else { return false }
        ProcessValues.leaveSimulation()
        return true
    }

    func beginProcess() -> Int? {
        guard isHere, let number = ledger.beginProcess() else { return nil }
        while processes.count <= number { processes.append(ProcessValues(in: processes[0])) }
        return number
    }

    func inProcess(_ process: Int, _ work: () -> Void) {
        guard isHere else { return work() }
        let outer = ledger.joinedProcess
        ledger.joinedProcess = process
        work()
        ledger.joinedProcess = outer
    }

    func crash(_ process: Int) {
        guard isHere else { return }
        ledger.crash(process)
        schedule.removeSleepers { ledger.isLost($0) }
    }

    var isCallerLost: Bool { isHere && ledger.current.map { ledger.isLost($0) } ?? false }

    func comeBack() {
        simulateProcess(of: ledger.current)
        _ = tc_setOutside(false)
    }

    private func simulateProcess(of task: Int?) {
        ProcessValues.simulate(processes[task.map { ledger.process(of: $0) } ?? 0])
    }
}

#endif
