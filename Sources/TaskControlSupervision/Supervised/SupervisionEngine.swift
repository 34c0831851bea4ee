internal import TaskControl

/// The storage of supervised work: passes events to a ``SupervisionStateMachine`` under a lock, and acts on its answers
/// after unlocking.
///
/// One task, the coordinator, carries out the actions of the state machine: see ``coordinate(on:)``. Runs and callers
/// only report events, which wake the coordinator.
final class SupervisionEngine: Sendable {
    typealias Waiter = UnsafeContinuation<SupervisionWake, Never>
    typealias Machine = SupervisionStateMachine<Waiter>

    struct Books {
        var machine: Machine
        /// The children whose end has not been published, by number.
        var children: [Int: SupervisedChild] = [:]
        /// The task of the coordinator; `nil` while it does not run.
        var coordinator: RunningTask?
    }

    let state: Locked<Books>
    let source: EventSource

    init(_ primitive: TaskEvent.Primitive, name: String?, _ strategy: Supervisor.Strategy, _ limit: RestartLimit) {
        source = EventSource(primitive, name: name)
        state = Locked(Books(machine: Machine(strategy, limit)))
        Diagnostics.emit(source.event(.created))
    }

    deinit { Diagnostics.emit(source.event(.deallocated)) }

    /// Adds a child. If the supervision is ending, the child is stopped and never runs.
    ///
    /// - Parameters:
    ///   - name: The name of the child, which its task and its events have.
    ///   - rules: When the child is restarted, and how long its runs may take to stop or to become stable.
    ///   - backoff: The delays before the restarts of the child.
    ///   - priority: The priority of the child's tasks; `nil` for that of the coordinator.
    ///   - operation: The operation that each run calls.
    /// - Returns: The handle of the child.
    func add(
        _ name: String,
        _ rules: Machine.Rules,
        _ backoff: RetryBackoff,
        _ priority: TaskPriority?,
        _ operation: @escaping SupervisedChild.Operation
    ) -> SupervisedWork {
        // Two callers may read the same number. The caller that adds its child second creates the child again with the
        // next number.
        while true {
            let index = state.withLock { $0.machine.nextChild }
            let child = SupervisedChild(index, name, backoff, priority, operation)
            let (isAdded, isRefused, coordinator) = state.withLock { books -> (Bool, Bool, Waiter?) in
                guard books.machine.nextChild == index else { return (false, false, nil) }
                let (added, coordinator) = books.machine.add(rules)
                if added != nil { books.children[index] = child }
                return (added != nil, added == nil, coordinator)
            }
            coordinator?.resume(returning: .reached)
            if isRefused {
                child.end(.stopped)
                Diagnostics.emit(source.event(.refused, taskName: name))
            }
            if isAdded || isRefused { return SupervisedWork(self, child) }
        }
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
    func close(isAbrupt: Bool, graceIsOfOwner: Bool = false) {
        let (answer, moment) = state.withLock {
            ($0.machine.close(isAbrupt: isAbrupt, graceIsOfOwner: graceIsOfOwner), Diagnostics.moment)
        }
        answer.waking?.resume(returning: .reached)
        // No coordinator has begun, so no child runs.
        if answer.isEnd {
            publishEnd()
            Diagnostics.emit(at: moment, source.event(.closed))
        }
    }

    /// Stops all children if the coordinator has not begun. Call this function when the coordinator will never begin.
    func abandon() {
        if state.withLock({ $0.machine.abandon() }) { publishEnd() }
    }

    /// Stops all children at once, without grace periods. When this function returns, the runs are cancelled.
    ///
    /// - Parameter reason: The reason of the cancellation; `nil` for none.
    func cancelAll(because reason: String?) {
        let (ended, running, coordinator) = state.withLock { books in
            let answer = books.machine.cancelAll()
            let children = { [children = books.children] in children[$0] as SupervisedChild? }
            return (answer.ended.compactMap(children), answer.running.compactMap(children), answer.waking)
        }
        coordinator?.resume(returning: .reached)
        for child in ended { publishEnd(of: child, .stopped) }
        for child in running {
            if let reason { child.lifetime.cancelAll(because: reason) } else { child.lifetime.cancelAll() }
        }
    }

    /// Waits until no child is left, and stops none. A cancelled caller stops waiting immediately.
    func drain() async throws(CancellationError) {
        while let child = state.withLock({ $0.children.keys.first }) {
            if Task.isCancelled { throw CancellationError() }
            await waitForEnd(of: child)
        }
    }

    func stop(_ child: Int) async {
        let (answer, stopped, coordinator) = state.withLock { books in
            let (answer, coordinator) = books.machine.stop(child)
            return (answer, books.children[child], coordinator)
        }
        coordinator?.resume(returning: .reached)
        switch answer {
        case .isOver: return
        case .isStopped: if let stopped { publishEnd(of: stopped, .stopped) }
        case .stops: await waitForEnd(of: child)
        }
    }

    func waitUntilReady(_ child: Int) async -> SupervisionWake {
        if Task.isCancelled { return .left }
        switch state.withLock({ $0.machine.enrollForReadiness(of: child) }) {
        case .reached: return .reached
        case .ended: return .ended
        case .waits(let id):
            return await suspend { waiter in
                state.withLock { $0.machine.parkForReadiness(of: child, id, waiter) }
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
            state.withLock { $0.machine.parkForEnd(of: child, id, waiter) }
        } onCancel: {
            state.withLock { $0.machine.leaveEnd(of: child, id) }?.resume(returning: .left)
        } raising: { [self] priority in
            raise(.end(of: child), to: priority)
        }
    }

    /// Stops all children, and waits for their end. Cancelling the caller ends the grace periods early; the caller
    /// still waits for the children.
    func shutdown() async {
        close(isAbrupt: Task.isCancelled)
        guard let id = state.withLock({ $0.machine.enrollForEnd(of: nil) }) else { return }
        _ = await suspend { waiter in
            state.withLock { $0.machine.parkForEnd(of: nil, id, waiter) }
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
        for child in children { child.lifetime.raise(to: priority) }
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

    private func resume(_ woken: Machine.Woken) {
        for waiter in woken.reached { waiter.resume(returning: .reached) }
        for waiter in woken.ended { waiter.resume(returning: .ended) }
    }
}
