internal import TaskControl

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
    private var runs: [Int: SupervisedRunStorage] = [:]
    private var schedules: [Int: RetrySchedule] = [:]
    private var causes: [SupervisionError.FailedRun] = []
    /// The name of the child that has failed permanently; `nil` if none has.
    private var failedName: String?
    /// The error of the child that has failed last, and the time (measured as ``now``) at which it and the children
    /// that restart with it begin again; `nil` before the first restart.
    private var restart: (until: Duration, error: any Error)?
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
            case .requestStop(let index): requestStop(child(index))
            case .cancel(let index, let isFinal): cancel(child(index), isFinal)
            case .down(let index, let isFinal): down(child(index), isFinal)
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
        runs[child.index] = run
        if number > 1 { child.publication.publish(.starting) }
        let parent = parent
        child.lifetime.addTask(name: child.name, priority: child.priority) {
            await perform(run, child, parent)
        }
        engine.raiseRun(of: child)
        if number == 1 {
            emit(.started, .began(.running), child)
        } else {
            emit(.restarted, .entered(.running), child)
        }
    }

    private func announceReady(_ child: SupervisedChild) {
        child.publication.publish(.running)
        let waiters = engine.state.withLock { $0.machine.wakeReady(child.index) }
        for waiter in waiters { waiter.resume(returning: .reached) }
        emit(.ready, .noted, child)
    }

    private mutating func decide(_ child: SupervisedChild, _ failures: Int, _ mayRestart: Bool) {
        let error = runs[child.index]?.error ?? UnexpectedReturnError(name: child.name)
        record(error, of: child)
        emit(.failed, .noted, child, error: error)
        if mayRestart, let delay = delay(of: child, failures, error) {
            let now = now
            if engine.state.withLock({ $0.machine.restart(child.index, after: delay, at: now) }) {
                restart = (now + delay, error)
                // The state has the error: a stop during the delay does not report it as unhandled.
                runs[child.index]?.forgetError()
                child.publication.publish(.waiting(for: delay, after: error))
                return emit(.waiting, .entered(.waiting), child, delay: delay)
            }
        }
        fail(child)
    }

    private mutating func record(_ error: any Error, of child: SupervisedChild) {
        causes.append(SupervisionError.FailedRun(name: child.name, run: runs[child.index]?.number ?? 0, error: error))
        if causes.count > Self.causeLimit { causes.removeFirst() }
    }

    private mutating func delay(of child: SupervisedChild, _ failures: Int, _ error: any Error) -> Duration? {
        // After a stable run, the delays begin again.
        var schedule =
            failures == 1 ? RetrySchedule(child.backoff) : schedules[child.index] ?? RetrySchedule(child.backoff)
        defer { schedules[child.index] = schedule }
        guard let delay = schedule.delay(afterAttempt: failures, error: error, hint: nil) else { return nil }
        // Work without a caller can wait as long as a server asks for, also beyond the cap.
        guard let hint = (error as? any RetryAfterProviding)?.retryAfter else { return delay }
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
        emit(.gaveUp, .ended(.failed), child, error: cause?.error)
        forget(child)
    }

    private mutating func complete(_ child: SupervisedChild) {
        engine.publishEnd(of: child, .completed)
        emit(.completed, .ended(.completed), child)
        forget(child)
    }

    /// Removes the run and the sequence of retry delays that are stored for a child that has ended.
    private mutating func forget(_ child: SupervisedChild) {
        runs[child.index] = nil
        schedules[child.index] = nil
    }

    private var origin: TaskOrigin {
        let primitive = engine.source.primitive
        return TaskOrigin(primitive == .keepRunning ? "AsyncLifetime.keepRunning" : "Supervisor.keepRunning", primitive)
    }

    // MARK: Stops

    private func requestStop(_ child: SupervisedChild) {
        runs[child.index]?.requestStop()
        emit(.stopping, .noted, child)
    }

    private func cancel(_ child: SupervisedChild, _ isFinal: Bool) {
        if isFinal {
            child.lifetime.close()
        } else {
            child.lifetime.cancelAll(because: "another child of the supervisor has failed")
        }
    }

    private mutating func down(_ child: SupervisedChild, _ isFinal: Bool) {
        let run = runs[child.index]
        let error = run?.error.flatMap { $0 is CancellationError ? nil : $0 }
        let hasBegun = run != nil
        if isFinal {
            // The error is not part of a cancellation, and no restart follows, so nothing else receives the error.
            if let error, run?.wasCancelled == false { origin.reportUnhandled(error) }
            engine.publishEnd(of: child, .stopped)
            if hasBegun { emit(.stopped, .ended(.cancelled), child, error: error) }
            forget(child)
        } else if let restart {
            let delay = max(.zero, restart.until - now)
            child.publication.publish(.waiting(for: delay, after: restart.error))
            if hasBegun { emit(.waiting, .entered(.waiting), child, error: error, delay: delay) }
        }
    }

    private func finish(_ end: SupervisionEngine.Machine.End) throws(SupervisionError) {
        engine.publishEnd()
        Diagnostics.emit(engine.source.event(.closed))
        if case .failed = end {
            throw SupervisionError(name: failedName ?? "", reason: .failed, causes: causes)
        }
    }

    // MARK: Waiting

    /// Waits until the engine receives an event, or until a time.
    ///
    /// - Parameter time: The time, measured as ``now``; `nil` to wait only for an event.
    private mutating func wait(until time: Duration?) async {
        guard let time, !isCancelled else { return await park() }
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
        case .failed(let error): clockFailed(error)
        }
    }

    private enum Sleep: Sendable {
        case reached, left
        case failed(any Error)
    }

    /// Handles the error of a clock that cannot sleep. The child that waits for a restart fails permanently, because
    /// without a delay its restarts would follow each other forever. If no child waits for a restart, the sleep was for
    /// a grace period: all grace periods end now.
    ///
    /// - Parameter error: The error that the clock has thrown.
    private mutating func clockFailed(_ error: any Error) {
        guard let index = engine.state.withLock({ $0.machine.clockFailed() }) else { return }
        record(error, of: child(index))
        fail(child(index))
    }

    private func park() async {
        guard !isCancelled else {
            _ = await suspend { waiter in
                engine.state.withLock { $0.machine.park(waiter) } ? SupervisionWake.reached : nil
            }
            return
        }
        _ = await suspend { waiter in
            engine.state.withLock { $0.machine.park(waiter) } ? SupervisionWake.reached : nil
        } onCancel: { [engine] in
            engine.state.withLock { $0.machine.wake() }?.resume(returning: .left)
        }
    }

    private func emit(
        _ kind: TaskEvent.Kind,
        _ change: TaskEvent.Change,
        _ child: SupervisedChild,
        error: (any Error)? = nil,
        delay: Duration? = nil
    ) {
        Diagnostics.emit(
            engine.source.event(
                kind,
                change,
                about: child.subject,
                taskName: child.name,
                error: error,
                attempt: runs[child.index]?.number,
                delay: delay
            )
        )
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
