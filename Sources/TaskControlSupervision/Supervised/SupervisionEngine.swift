internal import TaskControl

// The engine of supervised work, from the outside in:
//
//     keepRunning, Supervisor                 the faces; SupervisedWork is the handle
//     SupervisionEngine                       the lock, and one task, the coordinator, that starts and stops runs
//       SupervisionStateMachine               the state of each child, its restarts, and the order of a shutdown
//         RestartWindow                       the times of the recent restarts
//       SupervisedChild                       a child: its operation, the owner of its tasks, its published state
//         SupervisedRun                       one run of it, as its operation sees it

/// The storage of supervised work: passes events to a ``SupervisionStateMachine`` under a lock, and acts on its answers
/// after unlocking.
///
/// One task, the coordinator, carries out the actions of the state machine: see ``coordinate(on:)``. Runs and callers
/// only report events, which wake the coordinator.
final class SupervisionEngine: Sendable {
    typealias Machine = SupervisionStateMachine

    struct Books {
        var machine: Machine
        /// The children whose end has not been published, by number.
        var children: [Int: SupervisedChild] = [:]
        /// The task of the coordinator; `nil` while it does not run.
        var coordinator: RunningTask?
        /// The rule of the shutdown for further attempts of `retry` and `poll` in the runs that are asked to stop.
        var waiting = WaitingWorkBehavior.run
        /// The children that a shutdown has cancelled at the end of their grace periods, or before; `nil` before the first
        /// shutdown.
        var cutOff: [CutOffChild]?
        /// The names of the children that a shutdown has left behind.
        var leftBehind: [String] = []
    }

    /// A child whose run was cancelled at the end of its grace period, or before its end.
    struct CutOffChild {
        let name: String
        let grace: Duration
    }

    let state: Locked<Books>
    let source: EventSource

    init(_ primitive: TaskEvent.Primitive, name: String?, _ strategy: Supervisor.Strategy, _ limit: RestartLimit) {
        source = EventSource(primitive, name: name)
        state = Locked(Books(machine: Machine(strategy, limit)))
        source.emit(.created)
    }

    deinit { source.emit(.deallocated) }

    /// Adds a child. If the supervision is ending, the child is stopped and never runs.
    ///
    /// - Parameters:
    ///   - name: The name of the child, which its task and its events have.
    ///   - rules: When the child is restarted, and how long its runs may take to stop or to become stable.
    ///   - backoff: The delays before the restarts of the child.
    ///   - priority: The priority of the child's tasks; `nil` for that of the coordinator.
    ///   - condition: The condition for which the child waits before it is restarted; `nil` for none.
    ///   - operation: The operation that each run calls.
    /// - Returns: The handle of the child.
    func add(
        _ name: String,
        _ rules: Machine.Rules,
        _ backoff: RetryBackoff,
        _ priority: TaskPriority?,
        _ condition: SupervisedChild.Condition?,
        _ operation: @escaping SupervisedChild.Operation
    ) -> SupervisedWork {
        var rules = rules
        rules.isConditional = condition != nil
        let child = SupervisedChild(name, rules.grace, backoff, priority, condition, operation)
        let (isAdded, coordinator) = state.withLock { books in
            let (index, coordinator) = books.machine.add(rules)
            if let index {
                child.index = index
                books.children[index] = child
            }
            return (index != nil, coordinator)
        }
        coordinator?.resume(returning: .reached)
        if !isAdded {
            child.end(.stopped)
            source.emit(.refused, taskName: name)
        }
        return SupervisedWork(self, child)
    }

    // MARK: Events of runs

    /// Records that the task of a run has begun.
    ///
    /// - Returns: `true` if the run must call its operation; `false` if the run was stopped before its task began.
    func began(_ run: SupervisedRunStorage) -> Bool {
        let (mayRun, coordinator) = state.withLock { $0.machine.began(run.child, run: run.number) }
        coordinator?.resume(returning: .reached)
        return mayRun
    }

    func ready(_ run: SupervisedRunStorage) {
        state.withLock { $0.machine.ready(run.child, run: run.number) }?.resume(returning: .reached)
    }

    /// Records a report of the condition for which a child waits since the run `run` has failed; `nil` for their end.
    func report(_ isMet: Bool?, after run: SupervisedRunStorage) {
        state.withLock { $0.machine.report(run.child, run: run.number, isMet) }?.resume(returning: .reached)
    }

    func ended(_ run: SupervisedRunStorage, _ end: Machine.RunEnd) {
        state.withLock { $0.machine.ended(run.child, run: run.number, end) }?.resume(returning: .reached)
    }

    // MARK: Calls

    /// Stops all children.
    ///
    /// - Parameters:
    ///   - isAbrupt: Whether the children are cancelled at once, without a grace period.
    ///   - graceIsOfOwner: Whether the owner of the coordinator's task decides how long the children can continue, by
    ///     cancelling this task. If `false`, each child has its own grace period.
    ///   - waiting: The rule for further attempts of `retry` and `poll` in the runs, from the moment at which each is asked to stop.
    ///   - cancellationGrace: The time after which a cancelled run that has not ended is left behind; `nil` for none.
    func close(
        isAbrupt: Bool,
        graceIsOfOwner: Bool = false,
        waiting: WaitingWorkBehavior = .run,
        cancellationGrace: Duration? = nil
    ) {
        let (answer, moment) = state.withLock { books in
            if waiting == .cancel { books.waiting = .cancel }
            let answer = books.machine.close(
                isAbrupt: isAbrupt,
                graceIsOfOwner: graceIsOfOwner,
                cancellationGrace: cancellationGrace
            )
            return (answer, Diagnostics.moment)
        }
        answer.waking?.resume(returning: .reached)
        // No coordinator has begun, so no child runs.
        if answer.isEnd {
            publishEnd()
            source.emit(.closed, at: moment)
        }
    }

    /// Stops all children if the coordinator has not begun. Call this function when the coordinator will never begin.
    func abandon() {
        if state.withLock({ $0.machine.abandon() }) { publishEnd() }
    }

    /// Stops all children at once, without grace periods. When this function returns, the runs are cancelled.
    ///
    /// - Parameter cause: The cause of the cancellation.
    func cancelAll(for cause: CancellationCause) {
        let (ended, running, coordinator) = state.withLock { books in
            let answer = books.machine.cancelAll()
            let children = { [children = books.children] in children[$0] as SupervisedChild? }
            return (answer.ended.compactMap(children), answer.running.compactMap(children), answer.waking)
        }
        coordinator?.resume(returning: .reached)
        for child in ended { publishEnd(of: child, .stopped) }
        for child in running { cancelRun(of: child, for: cause) }
    }

    /// Asks the current run of a child to stop, and cancels its task, which has begun.
    private func cancelRun(of child: SupervisedChild, for cause: CancellationCause) {
        requestStop(of: child)
        // Not closed: the coordinator may be about to add the task of a run, which must report its end.
        child.lifetime.cancelAll(for: cause)
    }

    /// Asks the current run of a child to stop.
    func requestStop(of child: SupervisedChild) {
        guard let run = child.latestRun, run.requestStop() else { return }
        if state.withLock(\.waiting) == .cancel { child.lifetime.endAttempts() }
        emit(.stopping, .noted, child)
    }

    /// Waits until no child is left, and stops none. A cancelled caller stops waiting immediately.
    func drain() async throws(CancellationError) {
        while let child = state.withLock({ $0.children.keys.first }) {
            if Task.isCancelled { throw CancellationError() }
            await waitForEnd(of: child)
        }
    }

    func stop(_ child: Int) async {
        if stop(child, isAbrupt: false) { await waitForEnd(of: child) }
    }

    /// Stops a child permanently.
    ///
    /// - Parameter isAbrupt: Whether the child has no grace period.
    /// - Returns: Whether the child has yet to end.
    func stop(_ child: Int, isAbrupt: Bool) -> Bool {
        let (answer, stopped, coordinator) = state.withLock { books in
            let (answer, coordinator) = books.machine.stop(child, isAbrupt: isAbrupt)
            return (answer, books.children[child], coordinator)
        }
        coordinator?.resume(returning: .reached)
        switch answer {
        case .isOver: return false
        case .isStopped:
            if let stopped { publishEnd(of: stopped, .stopped) }
            return false
        case .cancels:
            if let stopped { cancelRun(of: stopped, for: .shutdown(name: stopped.name)) }
            return true
        case .stops: return true
        }
    }

    func waitUntilReady(_ child: Int) async -> WaitOutcome {
        if Task.isCancelled { return .left }
        switch state.withLock({ $0.machine.enrollForReadiness(of: child) }) {
        case .reached: return .reached
        case .ended: return .ended
        case .waits(let id):
            return await suspend { waiter in
                state.withLock { $0.machine.parkForReadiness(of: child, id, Word(waiter)) }
            } onCancel: {
                state.withLock { $0.machine.leaveReadiness(of: child, id) }?.resume(returning: .left)
            } raising: { [self] priority in
                raise(.readiness(of: child), to: priority)
            }
        }
    }

    /// Waits for the end of the child with the number `child`. A cancelled caller stops waiting immediately.
    private func waitForEnd(of child: Int) async {
        guard let id = state.withLock({ $0.machine.enrollForEnd(of: child) }) else { return }
        _ = await suspend { waiter in
            state.withLock { $0.machine.parkForEnd(of: child, id, Word(waiter)) }
        } onCancel: {
            state.withLock { $0.machine.leaveEnd(of: child, id) }?.resume(returning: .left)
        } raising: { [self] priority in
            raise(.end(of: child), to: priority)
        }
    }

    /// Stops all children, and waits for their end. Cancelling the caller ends the grace periods early; the caller
    /// still waits for the children.
    ///
    /// - Parameters:
    ///   - waiting: The rule for further attempts of `retry` and `poll` in the runs.
    ///   - cancellationGrace: The time after which a cancelled run that has not ended is left behind; `nil` for none.
    /// - Returns: The children that were cancelled at the end of their grace periods, or before, and texts that name those
    ///   that were left behind. Another call does not return them.
    func shutdown(
        waiting: WaitingWorkBehavior,
        cancellationGrace: Duration? = nil
    ) async -> (cutOff: [CutOffChild], leftBehind: [String]) {
        state.withLock { if $0.cutOff == nil { $0.cutOff = [] } }
        close(isAbrupt: Task.isCancelled, waiting: waiting, cancellationGrace: cancellationGrace)
        await waitForEnd()
        let (cutOff, left) = state.withLock {
            (exchange(&$0.cutOff, with: []) ?? [], exchange(&$0.leftBehind, with: []))
        }
        return (cutOff, left.map { source.place(of: $0) })
    }

    /// Waits for the end of all children. Cancelling the caller ends the grace periods.
    private func waitForEnd() async {
        guard let id = state.withLock({ $0.machine.enrollForEnd(of: nil) }) else { return }
        _ = await suspend { waiter in
            state.withLock { $0.machine.parkForEnd(of: nil, id, Word(waiter)) }
        } onCancel: {
            // Resumes the coordinator, which is another task. The engine is closed already, so no observer is notified.
            wakeOutsideHandler { self.close(isAbrupt: true) }
        } raising: { [self] priority in
            raise(.all, to: priority)
        }
    }

    /// Escalates the children for which a caller waits, and the coordinator on which they depend, to the priority of
    /// the caller: the current runs, and the later runs until one of them is ready.
    func raise(_ awaited: Machine.Awaited, to priority: TaskPriority) {
        let (coordinator, children) = state.withLock { books in
            let raised = books.machine.raise(awaited, to: priority.rawValue)
            return (books.coordinator, raised.compactMap { books.children[$0] })
        }
        coordinator?.raise(to: priority)
        for child in children {
            child.lifetime.raise(to: priority)
            child.conditions?.raise(to: priority)
        }
    }

    /// Escalates a run that has just been started to the priority to which waiting callers have escalated the child.
    func raiseRun(of child: SupervisedChild) {
        let level = state.withLock { $0.machine.raisedTo(child.index) }
        if level > 0 { child.lifetime.raise(to: TaskPriority(rawValue: level)) }
    }

    // MARK: The end

    /// Publishes the last state of a child, and wakes the callers that wait for the child.
    ///
    /// - Parameter end: The last state.
    func publishEnd(of child: SupervisedChild, _ end: SupervisedWork.State) {
        child.end(end)
        let woken = state.withLock { books in
            // The caller retains the child: nothing is deallocated here.
            books.children[child.index] = nil
            return books.machine.wakeEnded(child.index)
        }
        resume(woken)
    }

    /// Publishes the end of all children that have not ended, and wakes all callers that wait.
    func publishEnd() {
        let children = state.withLock(\.children)
        for (_, child) in children.sorted(by: { $0.key < $1.key }) where !child.publication.state.isFinal {
            child.end(.stopped)
        }
        let woken = state.withLock { books in
            books.children = [:]
            return books.machine.end()
        }
        resume(woken)
        // Released here, where the lock is free.
        withExtendedLifetime(children) {}
    }

    // MARK: Events

    /// Emits an event about the latest run of a child.
    func emit(
        _ kind: TaskEvent.Kind,
        _ change: TaskEvent.Change,
        _ child: SupervisedChild,
        error: (any Error)? = nil,
        delay: Duration? = nil
    ) {
        source.emit(
            kind,
            change,
            about: child.subject,
            taskName: child.name,
            error: error,
            attempt: child.latestRun?.number,
            delay: delay
        )
    }

    private func resume(_ woken: Machine.Woken) {
        for waiter in woken.reached { waiter.resume(returning: .reached) }
        for waiter in woken.ended { waiter.resume(returning: .ended) }
    }
}

extension SupervisionEngine {
    /// Starts, stops and restarts the children, measuring delays and grace periods with `clock`, until all have ended,
    /// or until one has failed permanently and the others were stopped. If the caller is cancelled, stops all children
    /// without a grace period. Returns at once if this function was called before, or if the supervision has ended.
    ///
    /// - Parameters:
    ///   - clock: Measures the delays and grace periods.
    ///   - whenBegun: Called before the first child starts, and not if this function returns at once.
    /// - Throws: ``SupervisionError`` if a child has failed permanently.
    func coordinate(
        on clock: some Clock<Duration>,
        whenBegun: () -> Void = {}
    ) async throws(SupervisionError) {
        let task = RunningTask.current
        let hasBegun = state.withLock { books in
            let hasBegun = books.machine.begin()
            if hasBegun { books.coordinator = task }
            return hasBegun
        }
        guard hasBegun else { return }
        defer { state.withLock { $0.coordinator = nil } }
        whenBegun()
        // A task that waits for the coordinator waits for the runs.
        try await passingRises(to: { [self] priority in raise(.all, to: priority) }) {
            () async throws(SupervisionError) in
            var coordinator = Coordinator(engine: self, stopwatch: Stopwatch(clock))
            try await coordinator.run()
        }
    }
}

/// The loop of the task that runs a supervision: carries out the actions of the ``SupervisionStateMachine``, one after
/// the other.
private struct Coordinator {
    /// The number of failures that are kept for ``SupervisionError/causes``: the latest ones.
    private static var causeLimit: Int { 32 }

    let engine: SupervisionEngine
    let stopwatch: Stopwatch
    /// The address of the coordinator's task. If this task is cancelled, its cause of cancellation is also that of the
    /// runs.
    private let parent = TaskAddress.running
    private var schedules: [Int: RetrySchedule] = [:]
    private var causes: [SupervisionError.FailedRun] = []
    /// The name of the child that has failed permanently; `nil` if none has.
    private var failedName: String?
    /// The failure of the child that has failed last, and the time (measured as ``now``) at which it and the children
    /// that restart with it begin again; `nil` before the first restart.
    private var restart: (until: Duration, failure: SupervisionError.FailedRun)?
    /// The time at which the last sleep was due, measured as ``now``, which is never less. Without this value, the
    /// coordinator would sleep again and again for the rest of a nanosecond if a clock ends a sleep too early.
    private var floor = Duration.zero
    private var isCancelled = false

    init(engine: SupervisionEngine, stopwatch: Stopwatch) {
        self.engine = engine
        self.stopwatch = stopwatch
    }

    private var now: Duration { max(floor, stopwatch.now) }

    mutating func run() async throws(SupervisionError) {
        while true {
            if !isCancelled, Task.isCancelled {
                isCancelled = true
                engine.close(isAbrupt: true)
            }
            let now = now
            switch engine.state.withLock({ $0.machine.next(at: now) }) {
            case .announceReady(let index): announceReady(child(index))
            case .start(let index, let number): start(child(index), number)
            case .failed(let index, let failures, let mayRestart): decide(child(index), failures, mayRestart)
            case .limitReached(let index): fail(child(index))
            case .completed(let index): complete(child(index))
            case .requestStop(let index): engine.requestStop(of: child(index))
            case .cancel(let index, let isFinal): cancel(child(index), isFinal)
            case .down(let index, let isFinal): down(child(index), isFinal)
            case .leave(let index): leave(child(index))
            case .wait(let time): await wait(until: time)
            case .end(let end): return try finish(end)
            }
        }
    }

    /// Returns the child with the number `index`. It must exist: only the coordinator removes children.
    private func child(_ index: Int) -> SupervisedChild { engine.state.withLock { $0.children[index]! } }

    // MARK: Runs

    private mutating func start(_ child: SupervisedChild, _ number: Int) {
        let run = SupervisedRunStorage(engine, child.index, number)
        child.latestRun = run
        if number > 1 {
            child.conditions?.cancelAll()
            child.publication.publish(.starting)
        }
        let parent = parent
        child.lifetime.addTask(name: child.name, priority: child.priority) {
            await perform(run, child, parent)
        }
        engine.raiseRun(of: child)
        if number == 1 {
            engine.emit(.started, .began(.running), child)
        } else {
            engine.emit(.restarted, .entered(.running), child)
        }
    }

    private func announceReady(_ child: SupervisedChild) {
        child.lastFailure = nil
        child.publication.publish(.running)
        let waiters = engine.state.withLock { $0.machine.wakeReady(child.index) }
        for waiter in waiters { waiter.resume(returning: .reached) }
        engine.emit(.ready, .noted, child)
    }

    private mutating func decide(_ child: SupervisedChild, _ failures: Int, _ mayRestart: Bool) {
        let error = child.latestRun?.error ?? SupervisionError(name: child.name, reason: .completed, causes: [])
        let failure = record(error, of: child)
        engine.emit(.failed, .noted, child, error: error)
        if mayRestart, let delay = delay(of: child, failures, error) {
            let now = now
            if engine.state.withLock({ $0.machine.restart(child.index, after: delay, at: now) }) {
                restart = (now + delay, failure)
                waitForCondition(of: child)
                // The state has the error: a stop during the delay does not report it as unhandled.
                child.latestRun?.forgetError()
                child.publication.publish(.waiting(for: delay, after: error))
                return engine.emit(.waiting, .entered(.waiting), child, delay: delay)
            }
        }
        fail(child)
    }

    /// Starts the task that reads the reports of the condition of a child that waits for its restart.
    private func waitForCondition(of child: SupervisedChild) {
        guard let condition = child.condition, let conditions = child.conditions, let run = child.latestRun else {
            return
        }
        conditions.addTask(name: "\(child.name): condition", priority: child.priority) {
            await withoutCallersContext {
                for await isMet in await condition() { run.engine.report(isMet, after: run) }
            }
            run.engine.report(nil, after: run)
        }
    }

    @discardableResult
    private mutating func record(_ error: any Error, of child: SupervisedChild) -> SupervisionError.FailedRun {
        let failure = SupervisionError.FailedRun(name: child.name, run: child.latestRun?.number ?? 0, error: error)
        child.lastFailure = failure
        causes.append(failure)
        if causes.count > Self.causeLimit { causes.removeFirst() }
        return failure
    }

    private mutating func delay(of child: SupervisedChild, _ failures: Int, _ error: any Error) -> Duration? {
        // After a stable run, the delays begin again.
        var schedule =
            failures == 1 ? RetrySchedule(child.backoff) : schedules[child.index] ?? RetrySchedule(child.backoff)
        defer { schedules[child.index] = schedule }
        guard let delay = schedule.delay(afterAttempt: failures, error: error, hint: nil) else { return nil }
        // Work without a caller can wait as long as a server asks for, also beyond the cap.
        guard let hint = (error as? any RetryAdvising)?.retryAfter else { return delay }
        return max(delay, hint.saturated)
    }

    private mutating func fail(_ child: SupervisedChild) {
        failedName = failedName ?? child.name
        let isWatched = engine.state.withLock { books in
            books.machine.fail(child.index)
            return books.machine.hasWaiters(child.index)
        }
        let cause = causes.last { $0.name == child.name }
        // A supervisor throws the error. Supervised work of a lifetime has it in its state, and throws it from a wait,
        // so it is reported only if no task observes either.
        if engine.source.primitive == .keepRunning, !isWatched, !child.publication.isObserved, let cause {
            origin.reportUnhandled(cause.error)
        }
        engine.publishEnd(of: child, .failed(causes))
        engine.emit(.gaveUp, .ended(.failed), child, error: cause?.error)
        forget(child)
    }

    private mutating func complete(_ child: SupervisedChild) {
        engine.publishEnd(of: child, .completed)
        engine.emit(.completed, .ended(.completed), child)
        forget(child)
    }

    /// Removes the run and the sequence of retry delays that are stored for a child that has ended.
    private mutating func forget(_ child: SupervisedChild) {
        child.latestRun = nil
        schedules[child.index] = nil
    }

    private var origin: TaskOrigin {
        let primitive = engine.source.primitive
        return TaskOrigin(primitive == .keepRunning ? "AsyncLifetime.keepRunning" : "Supervisor.keepRunning", primitive)
    }

    // MARK: Stops

    private func cancel(_ child: SupervisedChild, _ isFinal: Bool) {
        if isFinal {
            if child.grace > .zero {
                let cutOff = SupervisionEngine.CutOffChild(name: child.name, grace: child.grace)
                engine.state.withLock { $0.cutOff?.append(cutOff) }
            }
            child.lifetime.close()
        } else {
            child.lifetime.cancelAll(because: "another child of the supervisor has failed")
        }
    }

    private mutating func down(_ child: SupervisedChild, _ isFinal: Bool) {
        let run = child.latestRun
        let error = run?.error.flatMap { isInterruption($0) ? nil : $0 }
        let hasBegun = run != nil
        if isFinal {
            // The error is not part of a cancellation, and no restart follows, so nothing else receives the error.
            if let error, run?.wasCancelled == false { origin.reportUnhandled(error) }
            engine.publishEnd(of: child, .stopped)
            if hasBegun { engine.emit(.stopped, .ended(.cancelled), child, error: error) }
            forget(child)
        } else if let restart {
            let delay = max(.zero, restart.until - now)
            child.lastFailure = restart.failure
            child.publication.publish(.waiting(for: delay, after: restart.failure.error))
            if hasBegun { engine.emit(.waiting, .entered(.waiting), child, error: error, delay: delay) }
        }
    }

    private mutating func leave(_ child: SupervisedChild) {
        engine.state.withLock { $0.leftBehind.append(child.name) }
        down(child, true)
    }

    private func finish(_ end: SupervisionEngine.Machine.End) throws(SupervisionError) {
        engine.publishEnd()
        engine.source.emit(.closed)
        if case .failed = end {
            throw SupervisionError(name: failedName ?? "", reason: .failed, causes: causes)
        }
    }

    // MARK: Waiting

    /// Waits until the engine receives an event, or until a time.
    ///
    /// - Parameter time: The time, measured as ``now``; `nil` to wait only for an event.
    private mutating func wait(until time: Duration?) async {
        guard let time else { return await park() }
        if isCancelled { return await waitInCancelledTask(until: time) }
        let sleep = await withTaskGroup(of: Sleep.self) { [stopwatch, engine, self] group in
            group.addTask {
                var end = Sleep.reached
                do {
                    try await stopwatch.sleep(until: time)
                } catch {
                    end = Task.isCancelled ? .left : .failed(error)
                }
                engine.state.withLock { $0.machine.wake() }?.resume(returning: .reached)
                return end
            }
            await park()
            group.cancelAll()
            return await group.next() ?? .left
        }
        switch sleep {
        case .reached: floor = time
        case .left: break
        case .failed(let error): clockFailed(error, at: time)
        }
    }

    /// Waits like `wait(until:)` in a cancelled task, in which a sleep would end at once.
    private mutating func waitInCancelledTask(until time: Duration) async {
        let timer = Task.detached(name: "TaskControl: waits for the end of a limit") { [stopwatch, engine] in
            var hasPassed = true
            do { try await stopwatch.sleep(until: time) } catch { hasPassed = !Task.isCancelled }
            engine.state.withLock { $0.machine.wake() }?.resume(returning: .reached)
            return hasPassed
        }
        await park()
        timer.cancel()
        // Without a clock, the limit has no end, so it is over.
        if await timer.value { floor = time }
    }

    private enum Sleep: Sendable {
        case reached, left
        case failed(any Error)
    }

    /// Handles the error of a clock that cannot sleep. The child that waits for a restart fails permanently, because
    /// without a delay its restarts would follow each other forever. If no child waits for a restart, the sleep was for
    /// a grace period: all grace periods end now.
    ///
    /// - Parameters:
    ///   - error: The error that the clock has thrown.
    ///   - time: The time until which it should have slept.
    private mutating func clockFailed(_ error: any Error, at time: Duration) {
        guard let index = engine.state.withLock({ $0.machine.clockFailed() }) else {
            floor = time
            return
        }
        record(error, of: child(index))
        fail(child(index))
    }

    private func park() async {
        guard !isCancelled else {
            _ = await suspend { waiter in
                engine.state.withLock { $0.machine.park(Word(waiter)) } ? WaitOutcome.reached : nil
            }
            return
        }
        _ = await suspend { waiter in
            engine.state.withLock { $0.machine.park(Word(waiter)) } ? WaitOutcome.reached : nil
        } onCancel: { [engine] in
            engine.state.withLock { $0.machine.wake() }?.resume(returning: .left)
        }
    }
}

/// Performs one run of a child. Runs in the task of the run.
///
/// - Parameter parent: The task that coordinates the supervision: the causes of its cancellation are also those of the
///   run.
private func perform(_ run: SupervisedRunStorage, _ child: SupervisedChild, _ parent: TaskAddress) async {
    // The coordinator waits for the run, and so outlives it: the causes of its cancellation are those of the run.
    CancellationCauses.link(.running, to: parent)
    var end = SupervisionEngine.Machine.RunEnd.returned
    if run.engine.began(run) {
        do {
            // The task that began the supervision may have had a deadline; the work has none.
            try await withoutCallersContext { try await child.run(SupervisedRun(storage: run)) }
        } catch {
            run.fail(error, wasCancelled: Task.isCancelled)
            end = .threw
        }
    }
    CancellationCauses.forget(.running)
    // Resumes the tasks that the operation has left behind and that wait for a stop of this run.
    run.requestStop()
    run.engine.ended(run, end)
}
