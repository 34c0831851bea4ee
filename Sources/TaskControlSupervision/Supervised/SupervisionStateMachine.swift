internal import TaskControl

/// Decides when the runs of supervised work begin and end. Pure: a value without a lock, task, clock or closure.
///
///     pending ──start──▶ launching ──began──▶ starting ──ready──▶ ready
///        ▲                                       └──────ended───────┴──▶ ended ──▶ completed, retired, failed
///        └────────────────────── restart, stop of a sibling ─────────────┘
///
/// One task, the coordinator, calls ``next(at:)`` and carries out the returned actions, one after the other, so a child
/// has at most one run at a time. Callers and runs report events; each event returns the coordinator's continuation (a
/// `Waiter`) if it must be resumed.
///
/// Times are durations since the beginning of the supervision. A child is stopped only after its run has begun, so
/// every run reports its end.
struct SupervisionStateMachine {
    typealias Waiter = Word
    typealias Waiters = WaiterTable

    private let strategy: Supervisor.Strategy
    private var children = Children()
    private(set) var window: RestartWindow
    private var closing: End?
    private var isAbrupt = false
    private var graceIsOfOwner = false
    /// The time that a cancelled child has to end while all children are stopped; `nil` for any time.
    private var cancellationGrace: Duration?
    private var hasBegun = false
    private(set) var hasEnded = false
    /// Whether the end of the supervision is about to be published, and no child can be added any more.
    private var isEnding = false
    private var coordinator: Waiter?
    /// Whether an event has happened since the coordinator last called ``next(at:)``.
    private var isNews = false
    private var groupEnds = Waiters()

    init(_ strategy: Supervisor.Strategy, _ limit: RestartLimit) {
        self.strategy = strategy
        window = RestartWindow(limit)
    }

    /// Whether no children are left: each was removed after its end was published.
    var isEmpty: Bool { children.isEmpty }

    func phase(of child: Int) -> Phase { children[child].phase }

    /// A count of the steps that the machine has taken to find children and to record their changes.
    var visitCount: Int { children.visitCount }

    // MARK: Beginning and end

    /// Records that the coordinator begins. Returns whether the coordinator may continue: `false` if a coordinator has
    /// begun before, or if the supervision has ended.
    mutating func begin() -> Bool {
        if hasBegun || isEnding { return false }
        hasBegun = true
        return true
    }

    /// Adds a child with the given rules after the others. Returns its number, or `nil` if the supervision is being
    /// stopped or has ended; and the continuation of the coordinator if it must be resumed.
    mutating func add(_ rules: Rules) -> (child: Int?, waking: Waiter?) {
        if isEnding || closing != nil { return (nil, nil) }
        return (children.append(Child(rules: rules)), wake())
    }

    /// Stops all children. No child starts afterwards.
    ///
    /// - Parameters:
    ///   - isAbrupt: Whether the children are cancelled at once, without a grace period.
    ///   - graceIsOfOwner: Whether the owner of the coordinator's task ends the grace periods, by cancelling this task.
    ///     If `false`, each child has its own grace period.
    ///   - cancellationGrace: The time after which a cancelled child that has not ended is left behind; `nil` for none. Of
    ///     several calls, the shortest time counts.
    /// - Returns: The continuation of the coordinator if it must be resumed; and whether the caller must publish the
    ///   end of all children, because no coordinator has begun.
    mutating func close(
        isAbrupt: Bool,
        graceIsOfOwner: Bool = false,
        cancellationGrace: Duration? = nil
    ) -> (waking: Waiter?, isEnd: Bool) {
        if isEnding { return (nil, false) }
        self.cancellationGrace = earliest(self.cancellationGrace, cancellationGrace)
        if closing == nil { self.graceIsOfOwner = graceIsOfOwner }
        if isAbrupt { self.isAbrupt = true }
        if closing == nil { close(.stopped) }
        if !hasBegun { isEnding = true }
        return (wake(), isEnding)
    }

    /// Stops all children if no coordinator has begun. Called when no coordinator will begin. Returns whether the
    /// caller must publish the end of all children.
    mutating func abandon() -> Bool { hasBegun ? false : close(isAbrupt: true).isEnd }

    private mutating func close(_ end: End) {
        closing = end
        for child in children.numbers where !children[child].isOver { children[child].mustStop = true }
    }

    /// Records that the end of each child was published. Returns the callers that wait for a child or for the end of
    /// all children, which must be resumed.
    mutating func end() -> Woken {
        (isEnding, hasEnded) = (true, true)
        var woken = Woken(reached: groupEnds.wakeAll(with: .reached))
        for child in children.numbers { woken.append(wakeEnded(child)) }
        return woken
    }

    /// Stops one child permanently; without a grace period, if `isAbrupt`. Returns what the caller must do, and the coordinator's
    /// continuation if it must be resumed.
    mutating func stop(_ child: Int, isAbrupt: Bool = false) -> (answer: StopAnswer, waking: Waiter?) {
        guard children.isPresent(child) else { return (.isOver, nil) }
        if isEnding || children[child].isOver { return (.stops, nil) }
        children[child].isRetired = true
        if !hasBegun {
            children[child].phase = .retired
            return (.isStopped, nil)
        }
        children[child].mustStop = true
        let isImmediate = isAbrupt || !graceIsOfOwner && children[child].rules.grace <= .zero
        return (isImmediate && cancelRun(of: child) ? .cancels : .stops, wake())
    }

    /// Records that the caller cancels the run of a child.
    ///
    /// - Returns: `false` if the task of the run has not begun, and so does not call its operation, or if there is no run.
    private mutating func cancelRun(of child: Int) -> Bool {
        switch children[child].phase {
        case .starting, .ready:
            children[child].stop = Stop(deadline: .zero, isCancelled: true)
            return true
        default: return false
        }
    }

    /// Stops all children permanently, at once and without grace periods.
    ///
    /// - Returns: The children whose end the caller must publish, because no coordinator has begun; those whose runs
    ///   the caller must cancel; and the continuation of the coordinator if it must be resumed. A run whose task has
    ///   not begun does not call its operation.
    /// - Complexity: O(*n* log *n*).
    mutating func cancelAll() -> (ended: [Int], running: [Int], waking: Waiter?) {
        var (ended, running) = ([Int](), [Int]())
        if isEnding { return (ended, running, nil) }
        for child in children.numbers where !children[child].isOver {
            children[child].isRetired = true
            if !hasBegun {
                children[child].phase = .retired
                ended.append(child)
                continue
            }
            children[child].mustStop = true
            if cancelRun(of: child) { running.append(child) }
        }
        return (ended, running, hasBegun ? wake() : nil)
    }

    /// The number of children that have not ended and are not being stopped.
    ///
    /// - Complexity: O(*n* log *n*).
    var count: Int {
        if closing != nil { return 0 }
        return children.numbers.count { !children[$0].isOver && !children[$0].isRetired }
    }

    // MARK: Events of runs

    /// Records that the task of the run `run` of the child with the number `child` has begun. Returns whether the run
    /// must call its operation; and the continuation of the coordinator if it must be resumed.
    mutating func began(_ child: Int, run: Int) -> (mayRun: Bool, waking: Waiter?) {
        guard isRun(child, run), children[child].phase == .launching else { return (false, nil) }
        children[child].phase = .starting
        // A run that is skipped has been stopped, and has not returned.
        if children[child].mustStop { children[child].stop = Stop(deadline: .zero, isCancelled: true) }
        return (!children[child].mustStop, wake())
    }

    /// Records that the run `run` of the child with the number `child` is ready. Has no effect if that was recorded
    /// before, or if another run has begun since. Returns the continuation of the coordinator if it must be resumed.
    mutating func ready(_ child: Int, run: Int) -> Waiter? {
        guard isRun(child, run), children[child].phase == .starting else { return nil }
        children[child].phase = .ready
        children[child].isReadyNews = true
        return wake()
    }

    /// Records a report of the condition for which a child waits since the run `run` has failed; `nil` for the end of the
    /// reports. If the condition ends the delay, this also applies to the children that are restarted with the child.
    /// Returns the continuation of the coordinator if it must be resumed.
    mutating func report(_ child: Int, run: Int, _ isMet: Bool?) -> Waiter? {
        guard isRun(child, run), children[child].phase == .pending, children[child].condition != nil else { return nil }
        let time = children[child].notBefore
        if children[child].condition?.report(isMet) == true {
            for other in children.numbers where other == child || strategy.restarts(other, with: child) {
                if children[other].notBefore == time { children[other].notBefore = .zero }
            }
        }
        return wake()
    }

    mutating func ended(_ child: Int, run: Int, _ end: RunEnd) -> Waiter? {
        guard isRun(child, run), children[child].isActive else { return nil }
        children[child].phase = .ended(end)
        return wake()
    }

    /// Returns whether `child` is the number of a stored child, and `run` the number of its latest run.
    private func isRun(_ child: Int, _ run: Int) -> Bool { children.contains(child) && children[child].run == run }

    // MARK: The coordinator

    /// Returns the next action of the coordinator at the time `now`.
    ///
    /// - Complexity: O(log *n*) in the number of children, plus O(*m*) in the restarts that the ``RestartLimit``
    ///   allows if a failed child is restarted.
    mutating func next(at now: Duration) -> Action {
        isNews = false
        let action = action(at: now)
        if case .end = action { isEnding = true }
        return action
    }

    private mutating func action(at now: Duration) -> Action {
        recordRestarts(at: now)
        if let child = children.first(with: .isReadyNews) {
            children[child].publishReady(at: now)
            return .announceReady(child)
        }
        if let child = children.first(with: .hasEnded), case .ended(let end) = children[child].phase {
            return decide(child, end, at: now)
        }
        var time: Duration?
        // Children that `stop()` of their handles stops. Each is stopped independently, and delays no other child.
        if closing == nil {
            let isAbrupt = isAbrupt
            if let child = children.first(where: { $0.mustStopAlone(at: now, isAbrupt: isAbrupt) }) {
                return stop(child, at: now)
            }
            time = children.summary.earliestEndOfGrace
        }
        if let last = children.last(with: closing == nil ? .mustStopInGroup : .mustStop) {
            return waiting(stop(last, at: now), time)
        }
        if let closing { return .end(closing) }
        return waiting(start(at: now), time)
    }

    /// Returns `action`; if it is a wait, returns a wait until the earlier of its time and `time`.
    private func waiting(_ action: Action, _ time: Duration?) -> Action {
        guard case .wait(let other) = action else { return action }
        return .wait(until: earliest(time, other))
    }

    private mutating func decide(_ child: Int, _ end: RunEnd, at now: Duration) -> Action {
        if children[child].stop != nil || children[child].isRetired || closing != nil { return down(child) }
        if end == .returned, children[child].rules.restart != .always {
            children[child].mustStop = false
            children[child].phase = .completed
            return .completed(child)
        }
        // A sibling has failed first, and this child begins again with it.
        if children[child].mustStop { return down(child) }
        // The run was ready for `stableAfter`, so it was stable: earlier failures no longer count.
        if let since = children[child].readySince, now - since >= children[child].rules.stableAfter {
            children[child].failures = 0
        }
        children[child].failures += 1
        children[child].phase = .deciding
        return .failed(
            child,
            failures: children[child].failures,
            mayRestart: children[child].rules.restart != .never
        )
    }

    private func isFinal(_ child: Int) -> Bool { children[child].isRetired || closing != nil }

    private mutating func down(_ child: Int) -> Action {
        children[child].mustStop = false
        children[child].stop = nil
        let isFinal = isFinal(child) || (children[child].rules.restart == .never && children[child].run > 0)
        children[child].phase = isFinal ? .retired : .pending
        return .down(child, isFinal: isFinal)
    }

    private mutating func stop(_ child: Int, at now: Duration) -> Action {
        switch children[child].phase {
        case .launching: return .wait(until: nil)
        case .starting, .ready: break
        default: return down(child)
        }
        guard let stop = children[child].stop else {
            let deadline = graceIsOfOwner ? nil : now + children[child].rules.grace
            children[child].stop = Stop(deadline: deadline)
            return .requestStop(child)
        }
        if stop.isCancelled { return wait(forCancelled: child, at: now) }
        // If the owner decides about the grace period, it ends the period by cancelling the coordinator.
        if !isAbrupt, stop.deadline.map({ now < $0 }) ?? true { return .wait(until: stop.deadline) }
        children[child].stop?.isCancelled = true
        return .cancel(child, isFinal: isFinal(child))
    }

    /// Waits until a cancelled child has ended, or leaves it behind.
    private mutating func wait(forCancelled child: Int, at now: Duration) -> Action {
        guard closing != nil, let cancellationGrace else { return .wait(until: nil) }
        let deadline = children[child].stop?.leftAt ?? now + cancellationGrace
        children[child].stop?.leftAt = deadline
        if now < deadline { return .wait(until: deadline) }
        _ = down(child)
        return .leave(child)
    }

    private mutating func start(at now: Duration) -> Action {
        let summary = children.summary
        guard summary.traits.contains(.isUnfinished) else { return .end(.completed) }
        // The only child that may start in the order of the children: those before it are ready or have ended. With
        // ``Supervisor/Strategy/one``, it suffices that those were ready once, and a child that has run before waits
        // for no others.
        let isAlone = strategy == .one
        let inOrder = children.first(with: isAlone ? .delaysFirstRuns : .delaysOthers)
            .flatMap { children[$0].phase == .pending && !children[$0].mustStop ? $0 : nil }
        let isDue = inOrder.map { !children[$0].isHeld && children[$0].notBefore <= now } ?? false
        let restarting = isAlone ? children.first { $0.earliestRestart.map { $0 <= now } ?? false } : nil
        if let child = [isDue ? inOrder : nil, restarting].compactMap(\.self).min() { return start(child, at: now) }
        let time = inOrder.flatMap { children[$0].isHeld ? nil : children[$0].notBefore }
        return .wait(until: earliest(time, isAlone ? summary.earliestRestart : nil))
    }

    private mutating func start(_ child: Int, at now: Duration) -> Action {
        if children[child].isCounted, isFull(at: now, now: now) {
            children[child].phase = .deciding
            return .limitReached(child)
        }
        children[child].launch()
        return .start(child, run: children[child].run)
    }

    /// Records the restarts whose tasks have begun since the last call, for the ``RestartLimit``, at the time `now`. A
    /// restart counts from the beginning of its task: since its decision, the task may have waited for a thread.
    private mutating func recordRestarts(at now: Duration) {
        while let child = children.first(with: .isUnrecorded) {
            children[child].isUnrecorded = false
            window.record(at: now)
        }
    }

    /// Returns whether the limit forbids a restart at `time`, if all restarts whose tasks have not begun began `now`.
    private func isFull(at time: Duration, now: Duration) -> Bool {
        window.isFull(at: time, after: children.summary.unrecordedCount, at: now)
    }

    /// Plans the restart of a failed child, and of those that the strategy restarts with it, at the time `now` plus
    /// `delay`. Returns whether the ``RestartLimit`` allows that. If not, the caller must call ``fail(_:)``.
    mutating func restart(_ child: Int, after delay: Duration, at now: Duration) -> Bool {
        let time = now + delay
        if closing == nil, isFull(at: time, now: now) { return false }
        children[child].phase = .pending
        children[child].notBefore = time
        children[child].isCounted = true
        children[child].condition = children[child].rules.isConditional ? ConditionStateMachine() : nil
        for sibling in children.numbers where strategy.restarts(sibling, with: child) && !children[sibling].isOver {
            children[sibling].notBefore = max(children[sibling].notBefore, time)
            if children[sibling].phase != .pending { children[sibling].mustStop = true }
        }
        return true
    }

    /// Records that the child with the given number has failed permanently. Stops the others.
    mutating func fail(_ child: Int) {
        children[child].phase = .failed
        children[child].mustStop = false
        if closing == nil || closing == .stopped { close(.failed(child)) }
    }

    /// Records that the clock cannot sleep. Returns the number of a child that waits for its restart: the caller must
    /// let this child fail. If no child waits for a restart, returns `nil`, and the grace periods of all children end.
    mutating func clockFailed() -> Int? {
        let waiting = children.numbers.filter { children[$0].phase == .pending && children[$0].run > 0 }
        let child = waiting.min { children[$0].notBefore < children[$1].notBefore }
        if child == nil { isAbrupt = true }
        return child
    }

    // MARK: Escalation

    /// Records that the children for which a caller waits are escalated to the raw priority of the caller.
    ///
    /// - Returns: The numbers of the children that the caller must escalate.
    /// - Complexity: O(log *n*), plus O(log *n*) for each of these children. For the readiness of children, each child
    ///   is escalated at most once to each priority until it is ready.
    mutating func raise(_ awaited: Awaited, to priority: UInt8) -> [Int] {
        switch awaited {
        case .readiness(of: let last):
            var raised: [Int] = []
            while let child = children.first(where: { $0.leastRaised < priority }), child <= last {
                children[child].raisedTo = priority
                raised.append(child)
            }
            return raised
        case .end(of: let child):
            guard children.contains(child) else { return [] }
            children[child].raisedTo = max(children[child].raisedTo, priority)
            return [child]
        case .all:
            let all = children.numbers
            for child in all { children[child].raisedTo = max(children[child].raisedTo, priority) }
            return all
        }
    }

    /// Returns the raw priority to which waiting callers have escalated a child since it was last ready; 0 for none.
    func raisedTo(_ child: Int) -> UInt8 { children.contains(child) ? children[child].raisedTo : 0 }

    // MARK: Waiting

    /// Stores the continuation of the coordinator until an event happens. Returns `true` if the coordinator must continue at once instead,
    /// because an event has already happened.
    mutating func park(_ waiter: Waiter) -> Bool {
        if isNews { return true }
        coordinator = waiter
        return false
    }

    /// Records an event, after which the coordinator must call ``next(at:)`` again. Returns the continuation of the
    /// coordinator if it must be resumed.
    mutating func wake() -> Waiter? {
        isNews = true
        defer { coordinator = nil }
        return coordinator
    }

    /// Adds a caller that waits until a child is ready, unless the child is ready or has ended. Returns which is the
    /// case.
    mutating func enrollForReadiness(of child: Int) -> Enrollment {
        guard children.isPresent(child) else { return .ended }
        if children[child].phase == .ready, children[child].isReadyPublished, !children[child].mustStop {
            return .reached
        }
        return .waits(children[child].readiness.enroll())
    }

    mutating func parkForReadiness(of child: Int, _ id: Waiters.ID, _ waiter: Waiter) -> WaitOutcome? {
        defer { children.removeIfOver(child) }
        return children[child].readiness.park(id, waiter)
    }

    mutating func leaveReadiness(of child: Int, _ id: Waiters.ID) -> Waiter? {
        children.contains(child) ? children[child].readiness.leave(id, with: .left) : nil
    }

    /// Records that the coordinator has published that a child is ready. Returns the callers that wait for that, which
    /// must be resumed.
    mutating func wakeReady(_ child: Int) -> [Waiter] {
        children[child].isReadyPublished = true
        children[child].raisedTo = 0
        return children[child].readiness.wakeAll(with: .reached)
    }

    /// Records that the end of a child was published, and removes the child, at once or when its last waiter has
    /// parked. Returns the callers that wait for the child, which must be resumed.
    mutating func wakeEnded(_ child: Int) -> Woken {
        guard children.contains(child) else { return Woken() }
        defer { children.removeIfOver(child) }
        children[child].isEndPublished = true
        return Woken(
            reached: children[child].ends.wakeAll(with: .reached),
            ended: children[child].readiness.wakeAll(with: .ended)
        )
    }

    /// Returns whether a caller waits for a child to become ready or to end.
    func hasWaiters(_ child: Int) -> Bool {
        children.contains(child) && (children[child].readiness.hasWaiting || children[child].ends.hasWaiting)
    }

    /// Adds a caller that waits for the end of a child or, for `nil`, of all children. Returns the ID with which the
    /// caller must suspend, or `nil` if the end has already come.
    mutating func enrollForEnd(of child: Int?) -> Waiters.ID? {
        guard let child else { return hasEnded ? nil : groupEnds.enroll() }
        return children.isPresent(child) ? children[child].ends.enroll() : nil
    }

    mutating func parkForEnd(of child: Int?, _ id: Waiters.ID, _ waiter: Waiter) -> WaitOutcome? {
        guard let child else { return groupEnds.park(id, waiter) }
        defer { children.removeIfOver(child) }
        return children[child].ends.park(id, waiter)
    }

    mutating func leaveEnd(of child: Int?, _ id: Waiters.ID) -> Waiter? {
        guard let child else { return groupEnds.leave(id, with: .left) }
        return children.contains(child) ? children[child].ends.leave(id, with: .left) : nil
    }
}

extension SupervisionStateMachine {
    /// The settings of a child, which do not change: when it is restarted, and how long its runs may take to stop or to
    /// become stable.
    struct Rules: Sendable {
        var restart = RestartRule.onFailure
        /// The time for which a run may continue after it was asked to stop.
        var grace = Duration.zero
        /// The time for which a run must be ready. After such a run, earlier failures no longer count for the delays of
        /// restarts.
        var stableAfter = Duration.seconds(60)
        /// Whether the child waits for a condition before it is restarted: see ``SupervisionStateMachine/report(_:run:_:)``.
        var isConditional = false
    }

    /// The way in which a run has ended.
    enum RunEnd: Hashable, Sendable {
        case returned, threw
    }

    /// The way in which the supervision of all children has ended.
    enum End: Hashable, Sendable {
        /// Each child has completed, or was stopped by ``SupervisedWork/stop()``.
        case completed
        /// The supervision was stopped, and all children with it.
        case stopped
        /// The child with the given number has failed permanently, and the others were stopped.
        case failed(Int)
    }

    /// The next action that the coordinator (see ``SupervisionStateMachine``) must carry out.
    enum Action: Hashable {
        /// Publish that the child with the given number is ready.
        case announceReady(Int)
        /// Create the task of the next run of the child with the given number.
        ///
        /// - Parameter run: The number of this run, counted from 1.
        case start(Int, run: Int)
        /// Decide about the failed child with the given number: call ``restart(_:after:at:)`` or ``fail(_:)``.
        ///
        /// - Parameters:
        ///   - failures: The number of failures in a row, without a stable run between them.
        ///   - mayRestart: Whether the rule of the child allows a restart.
        case failed(Int, failures: Int, mayRestart: Bool)
        /// Call ``fail(_:)`` for the child with the given number, since its planned restart would exceed the limit.
        case limitReached(Int)
        /// Publish that the child with the given number has returned, and is not restarted.
        case completed(Int)
        /// Ask the current run of the child with the given number to stop.
        case requestStop(Int)
        /// Cancel the run of the child with the given number: permanently if `isFinal`, otherwise for a restart because
        /// of another child.
        case cancel(Int, isFinal: Bool)
        /// Publish that the child with the given number was stopped: permanently if `isFinal`, otherwise until it is
        /// restarted.
        case down(Int, isFinal: Bool)
        /// Publish that the child with the given number was stopped permanently, although its run has not ended.
        case leave(Int)
        /// Wait for an event, at most until the given time, measured from the beginning of the supervision; `nil` for
        /// no limit.
        case wait(until: Duration?)
        /// Publish the end of all children, and return.
        case end(End)
    }

    enum Phase: Hashable {
        case pending, launching, starting, ready
        case ended(RunEnd)
        /// The child has failed, and the coordinator is deciding whether it is restarted.
        case deciding
        case completed, retired, failed
    }

    struct Stop: Hashable {
        /// The time at which the run is cancelled, measured from the beginning of the supervision; `nil` if the owner
        /// of the coordinator's task decides when, by cancelling this task.
        let deadline: Duration?
        var isCancelled = false
        /// The time at which the child is left behind; `nil` before the coordinator has seen that it was cancelled.
        var leftAt: Duration?
    }

    /// The state of a child, from its addition to its removal.
    struct Child {
        let rules: Rules
        var phase = Phase.pending
        /// The number of the current or last run, counted from 1; 0 before the first.
        var run = 0
        var failures = 0
        var notBefore = Duration.zero
        /// The condition for which the next run waits; `nil` for none.
        var condition: ConditionStateMachine?
        /// Whether the next run is a restart that counts for the ``RestartLimit``.
        var isCounted = false
        /// Whether the current run is a restart that counts for the ``RestartLimit`` and is not yet in the
        /// ``RestartWindow``.
        var isUnrecorded = false
        /// Whether the current run has called `ready()`, and the coordinator must still publish that.
        var isReadyNews = false
        var hasBeenReady = false
        /// Whether the coordinator has published that the current run is ready, and callers of
        /// ``SupervisedWork/waitUntilReady()`` return.
        var isReadyPublished = false
        /// Whether the last state of the child was published.
        var isEndPublished = false
        var readySince: Duration?
        var mustStop = false
        /// Whether ``SupervisedWork/stop()`` was called for the child, after which the child never runs again.
        var isRetired = false
        var stop: Stop?
        /// The raw priority to which waiting callers have escalated the child since it was last ready; 0 for none.
        var raisedTo: UInt8 = 0
        var readiness = Waiters()
        var ends = Waiters()

        /// Records that the coordinator publishes at the time `now` that the current run is ready.
        mutating func publishReady(at now: Duration) {
            isReadyNews = false
            hasBeenReady = true
            readySince = now
        }

        /// Records that the coordinator creates the task of the next run.
        mutating func launch() {
            if isCounted { isUnrecorded = true }
            isCounted = false
            condition = nil
            readySince = nil
            isReadyPublished = false
            run += 1
            phase = .launching
        }

        var isActive: Bool {
            switch phase {
            case .launching, .starting, .ready: true
            default: false
            }
        }

        var isHeld: Bool { condition?.isHolding ?? false }

        var isForgettable: Bool { isEndPublished && readiness.count == 0 && ends.count == 0 }

        var isOver: Bool { phase == .completed || phase == .retired || phase == .failed }
    }

    enum StopAnswer: Hashable {
        case isOver
        /// The child was stopped, and the caller must publish its end, because no coordinator has begun.
        case isStopped
        /// The caller must cancel the run of the child, and wait until the child has ended.
        case cancels
        /// The coordinator will stop the child, and the caller must wait until it has ended.
        case stops
    }

    /// The event of children for which a caller waits: that a child becomes ready, which the children before it must be
    /// first, that a child ends, or that all children end.
    enum Awaited {
        case readiness(of: Int)
        case end(of: Int)
        case all
    }

    /// The waiters to resume, by the outcome with which they are resumed.
    struct Woken {
        var reached: [Waiter] = []
        var ended: [Waiter] = []

        mutating func append(_ other: Woken) {
            reached += other.reached
            ended += other.ended
        }
    }

    /// The answer to a caller that wants to wait until a child is ready: the child is ready (`reached`), it has ended,
    /// or the caller must wait (`waits`) and suspend with the given ID.
    enum Enrollment {
        case reached, ended
        case waits(Waiters.ID)
    }
}

extension Supervisor.Strategy {
    /// Returns whether the child with the number `sibling` is restarted when the child with the number `child` has
    /// failed. Children that were added later have greater numbers.
    func restarts(_ sibling: Int, with child: Int) -> Bool {
        switch self {
        case .one: false
        case .all: sibling != child
        case .rest: sibling > child
        }
    }
}
