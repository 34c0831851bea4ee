extension TaskRegistry {
    // MARK: Waiting until a task may run

    /// Decides whether the body of the current task runs now, runs after a wait, or is skipped. Begins the task if its
    /// body runs now.
    ///
    /// The state machine decides, because `Task.isCancelled` alone does not suffice: a task that was cancelled while it
    /// was being created receives the cancellation only after it has been created.
    ///
    /// - Parameters:
    ///   - id: The ID of the current task.
    ///   - isDelivery: Whether `run(for:)` or `forEach(_:for:)` has created the task.
    @inline(__always)
    func begin(_ id: ID, isDelivery: Bool) -> Machine.Start {
        let isCancelled = _isTaskCancelled
        return change(cause: { $0.causeOfReplacement(by: id) }) { machine, effects in
            attachIfNeeded(id, isDelivery: isDelivery, &machine, &effects)
            return machine.begin(id, isCancelled: isCancelled, &effects)
        }
    }

    /// Attaches the handle of the current task, if the task begins before the code that creates it has attached the
    /// handle. Otherwise the body of the task could cancel the task through the registry, and would not see the
    /// cancellation at once.
    @inline(__always)
    func attachIfNeeded(_ id: ID, isDelivery: Bool, _ machine: inout Machine, _ effects: inout Effects) {
        guard machine.needsJob(id), let handle = _TaskHandle.running else { return }
        machine.attach(id, job: Word(handle, isMarked: isDelivery), &effects)
    }

    /// Waits until the body of the current task may run: for older tasks of its key, for its quiet time (the behavior
    /// `debounce`), for the end of an interval (the behavior `throttle`), or for a permit.
    ///
    /// - Returns: Whether the body may run. If not, the body must be skipped.
    func waitAndBegin(_ id: ID, isDelivery: Bool) async -> Bool {
        while true {
            switch begin(id, isDelivery: isDelivery) {
            case .run:
                return true
            case .skip:
                return false
            case .wait:
                emitWaiting(id, for: nil)
                await parkUntilTurn(id)
            case .throttle(let time):
                emitWaiting(id, for: time)
                await parkUntilTurn(id)
            case .quiet(let quietTime):
                emitWaiting(id, for: quietTime)
                // If this throws, the task was cancelled, which is checked next, or the clock has failed, and the quiet
                // time is over.
                try? await TaskControl.sleep(for: quietTime, on: clock)
                let isCancelled = Task.isCancelled
                let start = change(cause: { $0.causeOfReplacement(by: id) }) {
                    $0.quietTimeEnded(id, isCancelled: isCancelled, &$1)
                }
                if start == .wait { dropOneTooMany(id) }
                if start == .run { return true }
                if start == .skip { return false }
            }
        }
    }

    private func parkUntilTurn(_ id: ID) async {
        _ = await suspend { waiter in
            state.withLock { $0.machine.park(id, Word(waiter)) } ? nil : .reached
        } onCancel: {
            // A cancellation handler resumes only its own task, and calls no other code. The task itself reports that
            // it was cancelled.
            var effects = Effects()
            decide(&effects) { $0.leave(id, &$1) }
            for waiter in effects.actions?.waking ?? [] { waiter.resume(returning: .reached) }
            if effects.isNews { performOutsideHandler { self.onChange?() } }
        } raising: { [self] priority in
            raise(
                state.withLock { $0.machine.raise(before: id, to: priority.rawValue).map(\.task) },
                to: priority
            )
        }
    }

    // MARK: A bound on the tasks that wait

    /// Removes a task that waits, if more tasks wait than may.
    ///
    /// - Parameter newest: The task that was added, or that has begun to wait.
    func dropOneTooMany(_ newest: ID) {
        guard let bound else { return }
        guard let dropped = change({ $0.dropOneTooMany(newest, &$1) }) else { return }
        source.emit(.refused, about: subject(dropped), detail: fullError(bound).description)
    }

    /// The outcome of a task whose work does not begin.
    ///
    /// - Parameters:
    ///   - id: The ID of the current task.
    ///   - isDelivery: Whether the value of the task is an outcome, which has a cause.
    func outcome(ofSkipped id: ID, isDelivery: Bool) -> DeliveryOutcome {
        if let bound, state.withLock({ $0.machine.isDropped(id) }) { return .failed(fullError(bound)) }
        return .cancelled(isDelivery ? cause(ofSkipped: id) : .unknown)
    }

    private func fullError(_ bound: Machine.Bound) -> TaskStoreFullError {
        TaskStoreFullError(name: name, maxWaiting: bound.count)
    }

    // MARK: The next of the waiting

    func moveToFront(_ key: Key) -> Bool { change { $0.moveToFront(key, &$1) } }

    func setPriority(_ priority: TaskPriority, of key: Key) -> Bool {
        change { $0.setPriority(priority.rawValue, of: key, &$1) }
    }

    // MARK: Pausing

    var isPaused: Bool { look { $0.isPaused } }

    func pause() {
        if change({ $0.pause(&$1) }) { source.emit(.paused) }
    }

    func resume() {
        if change({ $0.endPause(&$1) }) { source.emit(.resumed) }
    }

    // MARK: Timers of intervals

    /// Creates the timer task that ends an interval of ``TaskStoreDuplicateKeyBehavior/throttle(for:)`` when `time` has
    /// passed since this call.
    func startTimer(_ id: Machine.IntervalID, _ time: Duration) {
        let body = IntervalTimer(registry: self, id: id, time: time, stopwatch: Stopwatch(clock))
        let timer = spawnDetached(name: "TaskControl: waits for the end of an interval", priority: nil, body)
        change { $0.attachTimer(id, Word(timer), &$1) }
    }

    private struct IntervalTimer: _TaskBody {
        let registry: TaskRegistry
        let id: Machine.IntervalID
        let time: Duration
        let stopwatch: Stopwatch

        nonisolated(nonsending) func run() async {
            // If this throws, the registry was closed, or the clock has failed, and the interval is over.
            try? await stopwatch.sleep(until: time)
            let key = registry.change { $0.intervalEnded(id, &$1) }
            // Perhaps the last reference to the key: released here, where the lock is not held.
            withExtendedLifetime(key) {}
        }
    }

    // MARK: Proxies of other tasks

    /// Creates a proxy of a registered task: a task that can be returned in its place before its handle is attached.
    /// The proxy ends when the registered task ends, and cancels the registered task when the proxy is cancelled. The
    /// proxy is not registered itself.
    ///
    /// - Parameter followed: The ID of the registered task.
    /// - Returns: A task with the value of a task that runs `Work`.
    func follow<Work: OwnedWork>(_ followed: ID, as _: Work.Type) -> Task<Work.Success, Never> {
        spawn(name: nil, priority: nil, isolatedTo: nil, Follower<Work>(registry: self, followed: followed))
    }

    private struct Follower<Work: OwnedWork>: _TaskBody {
        let registry: TaskRegistry
        let followed: ID

        nonisolated(nonsending) func run() async -> Work.Success {
            await withTaskCancellationHandler {
                Work.value(await registry.job(of: followed)?.waitForEnd() ?? .duplicate)
            } onCancel: {
                performOutsideHandler { registry.cancel(followed, because: .unknown) }
            }
        }
    }

    /// Returns the handle of a registered task; `nil` if the task has ended. Waits while the task is being created.
    private func job(of id: ID) async -> Job? {
        _ = await suspend { waiter in
            state.withLock { $0.machine.follow(id, Word(waiter)) } ? nil : .reached
        }
        return state.withLock { $0.machine.job(of: id).map(RegisteredTask.init) }
    }

    // MARK: Draining

    /// Waits until the registry has no tasks, including those that were cancelled and still run. The tasks are
    /// escalated to the caller's priority.
    ///
    /// - Parameter staysWhenCancelled: Whether a cancelled caller continues to wait.
    /// - Throws: `CancellationError` if the caller is cancelled, unless `staysWhenCancelled`.
    func drain(staysWhenCancelled: Bool = false) async throws(CancellationError) {
        if !staysWhenCancelled, Task.isCancelled { throw CancellationError() }
        guard let id = state.withLock({ $0.machine.enrollDrainer() }) else { return }
        try await waitForDrain(id, staysWhenCancelled: staysWhenCancelled) {
            $0.drainerLeaves(id)
        } raising: {
            $0.raiseAll(to: $1)
        }
    }

    /// Waits until a key has no tasks, including those that were cancelled and still run. The tasks are escalated to
    /// the caller's priority.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled, which then stops waiting immediately.
    nonisolated(nonsending) func drain(_ key: Key) async throws(CancellationError) {
        if Task.isCancelled { throw CancellationError() }
        guard let drainer = state.withLock({ $0.machine.enrollDrainer(of: key) }) else { return }
        try await waitForDrain(drainer.id) {
            $0.drainerLeaves(drainer)
        } raising: {
            $0.raiseAll(for: drainer, to: $1)
        }
    }

    /// Suspends a caller that the state machine has added as a waiter for the end of tasks, until the tasks have ended.
    ///
    /// - Parameters:
    ///   - id: The ID of the waiter.
    ///   - staysWhenCancelled: Whether a cancelled caller continues to wait.
    ///   - leave: Removes the waiter from the state machine, because the caller was cancelled. Returns the continuation
    ///     to resume; `nil` if none is stored yet. Called under the lock.
    ///   - raise: Returns the tasks to escalate to a raw priority. Called under the lock.
    /// - Throws: `CancellationError` if the caller is cancelled, unless `staysWhenCancelled`.
    private func waitForDrain(
        _ id: Machine.DrainID,
        staysWhenCancelled: Bool = false,
        leaving leave: @Sendable (inout Machine) -> Word?,
        raising raise: @escaping @Sendable (inout Machine, UInt8) -> [Word]
    ) async throws(CancellationError) {
        let wait = source.emitDraining()
        let outcome = await suspend { waiter in
            state.withLock { $0.machine.parkDrainer(id, Word(waiter)) }
        } onCancel: {
            if staysWhenCancelled { return }
            // The cancellation may come before the continuation is stored: the machine then keeps the outcome.
            state.withLock { leave(&$0.machine) }?.resume(returning: .left)
        } raising: { [self] priority in
            self.raise(state.withLock { raise(&$0.machine, priority.rawValue).map(\.task) }, to: priority)
        }
        source.emitDrained(wait, hasLeft: outcome == .left)
        if outcome == .left { throw CancellationError() }
    }

    /// Escalates the registered tasks that have a lower priority to `priority`, where the system supports it (macOS 26,
    /// Linux).
    func raiseAll(to priority: TaskPriority) {
        raise(state.withLock { $0.machine.raiseAll(to: priority.rawValue).map(\.task) }, to: priority)
    }

    private func raise(_ jobs: [_TaskHandle], to priority: TaskPriority) {
        if !jobs.isEmpty { TaskControl.raise(jobs, to: priority) }
    }
}

extension TaskRegistry {
    /// Cancels the tasks of a key.
    ///
    /// - Returns: Whether the key had a task that was not cancelled before.
    @discardableResult
    func cancel(key: Key, because reason: String?) -> Bool {
        change(cause: { _ in .known(.requested(reason: reason)) }) { machine, effects in
            let hadTask = machine.isLive(key)
            machine.cancel(key: key, &effects)
            return hadTask
        }
    }

    /// Cancels the tasks of several keys in one step: none of them starts in the meantime.
    func cancel(keys: [Key]) {
        change(cause: { _ in .known(.requested(reason: nil)) }) { $0.cancel(keys: keys, &$1) }
    }

    func cancel(_ id: ID, because cause: CancellationCause) {
        change(cause: { _ in .known(cause) }) { $0.cancel(id, &$1) }
    }

    func cancelAll(because cause: CancellationCause) {
        cancelAll(isClosing: false, emitsClosed: false, cause)
    }

    /// Records the cause of cancellation of the current task, if the task was cancelled before its handle was attached
    /// (stored in the registry). Called by the task itself.
    ///
    /// - Parameter id: The ID of the current task.
    func recordCauseOfCurrentTask(_ id: ID) {
        state.withLock { books in
            guard let cause = books.machine.cause(of: id) else { return }
            CancellationCauses.record(cause, for: .running)
        }
    }

    /// Returns the cause of cancellation of the current task, whose work is skipped.
    ///
    /// - Parameter id: The ID of the current task.
    func cause(ofSkipped id: ID) -> CancellationCause {
        recordCauseOfCurrentTask(id)
        return CancellationCauses.cause(of: .running)?.cause ?? .unknown
    }

    /// Refuses tasks that are added later, and calls the closures of `onEnd(_:)`. The present tasks that run continue.
    ///
    /// - Parameter waiting: The rule for tasks that have not begun, and for further attempts of `retry` and `poll`.
    func refuse(waiting: WaitingWorkBehavior) {
        var moment: EventMoment?
        var effects = Effects()
        let cause = RecordedCause.known(.shutdown(name: name))
        let handlers = decideInBooks(&effects, cause: { _ in cause }) { books, effects in
            moment = Diagnostics.moment
            books.machine.close()
            if waiting == .cancel {
                books.machine.cancelNotBegun(&effects)
                Self.endAttempts(in: books.machine)
            }
            return books.endHandlers
        }
        notify(handlers, .refuses(waiting))
        perform(effects)
        source.emit(.closed, at: moment)
        emitCancelled(effects)
    }

    /// Ends the attempts of `retry` and `poll` in the tasks that run: they make no further one.
    func endAttempts() {
        state.withLock { Self.endAttempts(in: $0.machine) }
    }

    // Called under the lock, because the registered tasks are known not to have ended while it is held.
    private static func endAttempts(in machine: Machine) {
        for job in machine.liveJobs { CancellationCauses.endAttempts(of: job.task.address) }
    }

    /// Cancels the present tasks for a cause at the end of the grace period of a shutdown, and waits until all tasks have
    /// ended, also if the caller is cancelled.
    ///
    /// - Parameters:
    ///   - limit: The limit on this wait.
    ///   - afterCancelling: Called between the two steps.
    /// - Returns: The tasks that this call has cancelled, and those that are left when the limit has passed, in the order in
    ///   which they were added.
    func cutOff(
        because cause: CancellationCause,
        within limit: CancellationLimit?,
        afterCancelling: () -> Void = {}
    ) async -> ShutdownReport {
        let cancelled = cancelAll(isClosing: false, emitsClosed: false, notesNames: true, cause)
        afterCancelling()
        let hasEnded = await waitForCancelledTasks(within: limit) { (stays: Bool) throws(CancellationError) in
            try await self.drain(staysWhenCancelled: stays)
        }
        let left = hasEnded ? [] : state.withLock { $0.machine.remaining.map($0.machine.text) }
        return ShutdownReport(cancelled: cancelled, leftBehind: left.map { source.place(of: $0) })
    }

    private func notify(_ handlers: RareDictionary<UInt64, @Sendable (OwnerEnd) -> Void>, _ end: OwnerEnd) {
        if handlers.isEmpty { return }
        for handler in rarelySorted(Array(handlers.entries), by: \.key) { handler.value(end) }
    }

    /// Refuses tasks that are added later, and cancels the present ones.
    func close() {
        cancelAll(isClosing: true, emitsClosed: true, .shutdown(name: name))
    }

    /// Closes the registry and cancels its tasks, because the owner of the registry is deallocated.
    @inline(never)
    func release() {
        cancelAll(isClosing: true, emitsClosed: false, .ownerDeallocated(name: name))
        source.emit(.deallocated)
    }

    /// - Parameter notesNames: Whether the names of the cancelled tasks are needed.
    /// - Returns: The names of the tasks that this call has cancelled, in the order in which they were added.
    @discardableResult
    private func cancelAll(
        isClosing: Bool,
        emitsClosed: Bool,
        notesNames: Bool = false,
        _ cause: CancellationCause
    ) -> [String] {
        var names: [String] = []
        var moment: EventMoment?
        var effects = Effects()
        let handlers = decideInBooks(&effects, cause: { _ in .known(cause) }) { books, effects in
            moment = Diagnostics.moment
            if isClosing { books.machine.close() }
            books.machine.cancelAll(&effects)
            if notesNames {
                let cancelled = rarelySorted(effects.actions?.retired ?? [], by: \.number)
                names = cancelled.map(books.machine.text)
            }
            return books.endHandlers
        }
        // Before a task that only awaits others is cancelled: it would cancel those itself, later.
        notify(handlers, .cancels(cause))
        perform(effects)
        if emitsClosed { source.emit(.closed, at: moment) }
        let count = effects.actions?.retired.count ?? 0
        // An owner that ends without tasks cancels nothing.
        if count > 0 || !isClosing { source.emit(.cancelledAll, count: count, at: moment) }
        emitCancelled(effects)
        return names
    }
}
