#if os(Linux)
import CTaskControlTesting
import Glibc
import TaskControl
@_spi(ExperimentalScheduling) import _Concurrency

/// Runs one seed: takes every job in, lets the schedule pick, runs it, and sees how it ends.
///
/// All on one thread, which is in the simulation while `run` is on its stack. The runtime's entry points find it
/// through that thread (`tc_enter`), and through the executor that every task of it carries.
final class SimulationEngine: SimulationHost, @unchecked Sendable {
    // Sendable: everything but `foreign` is touched by the thread of the simulation alone. Whoever comes from elsewhere
    // is turned away by `isHere` before.

    private let plan: SimulationPlan
    private var schedule: ScheduleStateMachine<SimulatedJob>
    private var ledger = TaskLedger()
    private var log = ScheduleLog()
    /// Latest first.
    private var actions: [(step: Int, action: @Sendable () -> Void)] = []
    /// Whether this simulation, of all, is the one on its main actor.
    private var isOnMain = false

    private var bodyHasEnded = false
    private var reason: SimulationFailure.Reason?
    /// Until when the job that runs has asked to sleep.
    private var deadline: Duration?

    let foreign = ForeignVisits()
    private let executor: SimulationTaskExecutor
    private let main: SimulationMainExecutor
    private let mainReference: UnownedSerialExecutor

    /// A time that no clock shows by accident; `TCSimulation` says what date that is.
    private static let start: Int64 = 1_000_000 * 1_000_000_000

    private init(_ plan: SimulationPlan) {
        self.plan = plan
        schedule = ScheduleStateMachine(seed: plan.seed, strategy: plan.strategy, now: Self.start)
        executor = SimulationTaskExecutor(foreign: foreign)
        main = SimulationMainExecutor(foreign: foreign)
        mainReference = main.asUnownedSerialExecutor()
    }

    /// The simulation that this thread is in.
    static var current: SimulationEngine? {
        tc_context().map { Unmanaged<SimulationEngine>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Running

    static func run(_ plan: SimulationPlan, _ body: @escaping SimulationPlan.Body) throws -> SimulationRun {
        insist(
            tc_context() == nil,
            "simulate was called inside a simulation. One body is one world: call the inner one's code directly."
        )
        let engine = SimulationEngine(plan)
        defer { engine.leaveBehind() }
        return try engine.inside { try engine.run(body) }
    }

    private func inside<Result>(_ work: () throws -> Result) rethrows -> Result {
        var runtime = TCSimulation(
            context: Unmanaged.passUnretained(self).toOpaque(),
            taskExecutor: Self.words(executor.asUnownedTaskExecutor()),
            mainExecutor: Self.words(mainReference),
            globalExecutor: Self.words(globalConcurrentExecutor.asUnownedTaskExecutor()).0,
            created: { context, task, name, foreign in
                let engine = SimulationEngine.at(context)
                engine.ledger.created(task, name: name.map { String(cString: $0) })
                if let foreign { engine.escaped(task, "was made for an executor of its own", foreign) }
            },
            goes: { context, foreign in
                let engine = SimulationEngine.at(context)
                guard let task = tc_currentTask(), engine.ledger.knows(task) else { return }
                engine.escaped(task, "went to the executor of an actor", foreign)
            },
            enqueue: { context, job, isOnMain in
                SimulationEngine.at(context).enqueueIfOwn(SimulatedJob(job, isOnMain: isOnMain), after: nil)
            },
            enqueueAfter: { context, job, nanoseconds in
                let job = SimulatedJob(job, isOnMain: false)
                return SimulationEngine.at(context).enqueueIfOwn(job, after: .nanoseconds(nanoseconds))
            }
        )
        tc_hook()
        defer { tc_unhook() }
        return try withUnsafeMutablePointer(to: &runtime) { runtime in
            tc_enter(runtime)
            tc_setNow(schedule.now)
            performHandlerActionsInTasks(true)
            defer {
                performHandlerActionsInTasks(false)
                tc_enter(nil)
                tc_setNow(-1)
                if isOnMain { tc_unlockMain() }
            }
            return try work()
        }
    }

    private static func at(_ context: UnsafeMutableRawPointer) -> SimulationEngine {
        Unmanaged<SimulationEngine>.fromOpaque(context).takeUnretainedValue()
    }

    private static func words<Reference>(
        _ reference: Reference
    ) -> (UnsafeMutableRawPointer, UnsafeMutableRawPointer) {
        // A reference to an executor is two words, by ABI: the object, and its witness.
        unsafeBitCast(reference, to: (UnsafeMutableRawPointer, UnsafeMutableRawPointer).self)
    }

    private func run(_ body: @escaping SimulationPlan.Body) throws -> SimulationRun {
        start(body)
        while reason == nil, advance() {}
        let run = SimulationRun(
            seed: plan.seed,
            trace: schedule.trace,
            steps: schedule.steps,
            elapsed: elapsedHere
        )
        guard let reason else { return run }
        let failure = plan.failure(reason, run, schedule: report())
        if case .threw(let error) = reason, String(reflecting: type(of: error)) == "Testing.ExpectationFailedError" {
            let text = Array("\(failure)\n".utf8)
            _ = write(STDERR_FILENO, text, text.count)
            throw error
        }
        throw failure
    }

    private func start(_ body: @escaping SimulationPlan.Body) {
        let simulation = Simulation(seed: plan.seed, host: self)
        // The priority is given, so that the caller's, which may change, decides nothing.
        Task(name: "body", priority: .medium) {
            do {
                try await body(simulation)
            } catch {
                self.fail(.threw(error))
            }
            self.bodyHasEnded = true
        }
    }

    /// Runs one step.
    ///
    /// - Returns: Whether there may be another.
    private func advance() -> Bool {
        if takeForeignVisits() { return false }
        if schedule.steps >= plan.maxSteps {
            reason = .livelock(steps: schedule.steps)
            return false
        }
        if let next = actions.last,
            next.step <= schedule.steps || (schedule.isAboutToMoveTime && schedule.draw() % 2 == 0)
        {
            perform(actions.removeLast().action)
            return true
        }
        guard let item = schedule.next() else { return isGoingOnAlthoughIdle() }
        tc_setNow(schedule.now)
        run(item)
        return true
    }

    private func run(_ item: ScheduleStateMachine<SimulatedJob>.Item) {
        deadline = nil
        if item.job.isOnMain {
            if !isOnMain { tc_lockMain() }
            isOnMain = true
            item.job.job.runSynchronously(
                isolatedTo: mainReference,
                taskExecutor: executor.asUnownedTaskExecutor()
            )
        } else {
            item.job.job.runSynchronously(on: executor.asUnownedTaskExecutor())
        }
        if let outcome = outcome(of: item) { log.append(outcome, at: elapsedHere) }
        Self.release(ledger.hasRun(item.job.kind == TCJobTask ? item.task : nil))
    }

    private func perform(_ action: @Sendable () -> Void) {
        log.append(.action, at: elapsedHere)
        schedule.note("action")
        action()
    }

    /// Nothing can run, and nobody sleeps.
    private func isGoingOnAlthoughIdle() -> Bool {
        if !actions.isEmpty {
            perform(actions.removeLast().action)
            return true
        }
        // What goes with them may make tasks.
        Self.release(ledger.sweep())
        if !schedule.isIdle { return true }
        if bodyHasEnded, ledger.unended.isEmpty { return false }
        // A thread of somebody else may be about to resume one of them: that is an escape, and says more than a deadlock.
        tc_setNow(-1)
        let end = ContinuousClock.now + plan.grace
        while reason == nil, ContinuousClock.now < end {
            usleep(2_000)
            _ = takeForeignVisits()
        }
        tc_setNow(schedule.now)
        if reason == nil { reason = bodyHasEnded ? .leftBehind(tasks: ledger.unended.count) : .deadlock }
        return false
    }

    /// - Returns: Whether there were any: that is the end of this seed.
    private func takeForeignVisits() -> Bool {
        let (jobs, callers) = foreign.take()
        for job in jobs { schedule.enqueue(job, of: number(job)) }
        if let job = jobs.first, reason == nil { reason = .escaped("\(ledger.label(number(job))) was resumed") }
        if callers > 0, reason == nil { reason = .escaped("the Simulation was used") }
        return !jobs.isEmpty || callers > 0
    }

    /// Leaves what has not ended as it is: tasks of a seed that failed never run again. (Cancelled, they might never give the thread back.)
    private func leaveBehind() {
        if !ledger.unended.isEmpty {
            // A task does not retain the main actor's executor. One that is left behind may still be resumed.
            _ = Unmanaged.passRetained(main)
        }
        Self.release(ledger.close())
        foreign.end(isDropping: reason != nil)
        // The turn of an actor that outlives the seed may be among what is left. Nobody else would give it one.
        while let item = schedule.next() {
            if item.job.kind == TCJobActor { tc_enqueueGlobal(item.job.pointer) }
        }
    }

    private static func release(_ tasks: [UnsafeMutableRawPointer]) {
        for task in tasks { tc_release(task) }
    }

    private func escaped(_ task: UnsafeMutableRawPointer, _ how: String, _ foreign: UnsafeMutableRawPointer) {
        let executor = "\(type(of: Unmanaged<AnyObject>.fromOpaque(foreign).takeUnretainedValue()))"
        let number = ledger.number(of: task)
        ledger.went(number, to: executor)
        if reason == nil { reason = .escaped("\(ledger.label(number)) \(how), \(executor)") }
    }

    // MARK: Telling

    /// `nil`: nothing that a reader wants to know.
    private func outcome(of item: ScheduleStateMachine<SimulatedJob>.Item) -> ScheduleLog.Event? {
        guard let task = item.task else { return .actor(for: nil) }
        switch item.job.kind {
        case TCJobTask: break
        case TCJobYield: return .came(task, "has given way, and can go on")
        default: return .actor(for: task)
        }
        if let deadline { return .sleeps(task, until: deadline) }
        if let words = words(for: task) { return .came(task, words) }
        return ledger.isTimer(task) ? nil : .came(task, "ran")
    }

    /// What a task is up to; `nil` if nobody may look.
    private func words(for task: Int) -> String? {
        if let executor = ledger.entries[task].foreignExecutor { return "went to \(executor), outside the simulation" }
        guard let state = ledger.state(of: task) else { return nil }
        return switch state.kind {
        case TCTaskFinished: "ended"
        case TCTaskAwaitsTask:
            "waits for \(state.task.map { ledger.label($0) } ?? "a task that is not the simulation's")"
        case TCTaskAwaitsContinuation: "waits for a continuation to be resumed"
        case TCTaskAwaitsGroup: "waits for its child tasks"
        case TCTaskAwaitsExecutor: "waits for its turn on an actor, \(state.actor ?? "")"
        default: "can go on"
        }
    }

    private static let mostInReport = 30

    /// Who waits for what, and how it came to that.
    private func report() -> String {
        switch reason {
        case .threw, .expectation, .nondeterministic, nil: return log.text(ledger)
        case .deadlock, .leftBehind, .livelock, .escaped: Self.release(ledger.sweep())
        }
        let waiting = ledger.unended.prefix(Self.mostInReport).map { number -> String in
            var line = "  " + ledger.label(number)
            if let creator = ledger.entries[number].creator { line += " (made by \(ledger.label(creator)))" }
            if let words = words(for: number) { line += " " + words }
            return line
        }
        let title = waiting.isEmpty ? "" : "not ended at \(ScheduleLog.milliseconds(elapsedHere)):\n"
        let more = ledger.unended.count - waiting.count
        return title + waiting.map { $0 + "\n" }.joined() + (more > 0 ? "  and \(more) more\n" : "") + log.text(ledger)
    }

    // MARK: Jobs

    func enqueue(_ job: SimulatedJob) {
        schedule.enqueue(job, of: number(job))
    }

    func enqueue(_ job: SimulatedJob, after delay: Duration) {
        let (seconds, attoseconds) = delay.components
        let (whole, hasOverflown) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let nanoseconds =
            hasOverflown ? (seconds < 0 ? 0 : .max / 2) : min(whole, .max / 2) + attoseconds / 1_000_000_000
        // Whoever sleeps for ever wakes at the end of time.
        let (at, isLate) = schedule.now.addingReportingOverflow(max(0, nanoseconds))
        deadline = elapsedHere + .nanoseconds(max(0, nanoseconds))
        schedule.enqueue(job, of: number(job, isTimer: true), at: isLate ? .max : at)
    }

    private func enqueueIfOwn(_ job: SimulatedJob, after delay: Duration?) -> Bool {
        // A job that is no task is an actor's turn, or the end of an isolated object.
        let isKnown = tc_isCreating() || ledger.knows(job.pointer)
        // A timer is made by the runtime, for the task that goes to sleep.
        let isTimer = delay != nil && tc_currentTask().map(ledger.knows) ?? false
        if job.kind == TCJobTask, !isKnown, !isTimer { return false }
        if let delay { enqueue(job, after: delay) } else { enqueue(job) }
        return true
    }

    /// The task that a job is of, or on whose behalf it was enqueued.
    private func number(_ job: SimulatedJob, isTimer: Bool = false) -> Int? {
        if job.kind == TCJobTask { return ledger.number(of: job.pointer, isTimer: isTimer) }
        return tc_currentTask().flatMap { ledger.knows($0) ? ledger.number(of: $0) : nil }
    }

    // MARK: SimulationHost

    private var elapsedHere: Duration { .nanoseconds(schedule.now - Self.start) }

    /// Whether the caller is in this simulation. If not, it ends as escaped.
    private var isHere: Bool {
        if SimulationEngine.current === self { return true }
        foreign.call()
        return false
    }

    var elapsed: Duration { isHere ? elapsedHere : .zero }

    func fail(_ failure: SimulationFailure.Reason) {
        if isHere, reason == nil { reason = failure }
    }

    func note(_ text: String) {
        guard isHere else { return }
        schedule.note(text)
        let task = tc_currentTask().flatMap { ledger.knows($0) ? ledger.number(of: $0) : nil }
        log.append(.note(task, text), at: elapsedHere)
    }

    func somewhere(_ action: @escaping @Sendable () -> Void) {
        guard isHere else { return }
        // How long the program is nobody knows: near moments and far ones, each order of magnitude alike.
        let reach = 2 << (schedule.draw() % 7)
        let step = schedule.steps + Int(schedule.draw() % UInt64(reach))
        let index = actions.firstIndex { $0.step <= step } ?? actions.endIndex
        actions.insert((step, action), at: index)
    }

    func draw() -> UInt64 { isHere ? schedule.draw() : 0 }
}
#endif
