// The engine of shared work, from the outside in:
//
//     SingleFlight, withSingleFlight          the faces; CachedFlight uses the engine, too
//     _FlightTable                            the lock; acts after unlocking
//       FlightStateMachine                    which flights run, by key, and the callers that wait for them
//     _Flight                                 one run of the work, to which its task and its callers refer
//       _FlightBody                           what its task runs: work, and settle all callers at once
//     _FlightCaller                           the place of one caller, which waits exactly once

/// The flights of one ``SingleFlight``, of all calls of ``withSingleFlight(key:operation:)``, or of another part of
/// this package. A flight is one run of an operation that several callers share.
///
/// Asks ``FlightStateMachine`` for each decision under a lock, and carries it out after unlocking.
///
/// The tasks of the flights retain the table: it exists until they have ended, even if the ``SingleFlight`` is
/// deallocated before.
@usableFromInline
package final class _FlightTable: PlaceOwner {
    typealias Machine = FlightStateMachine<_Flight>
    @usableFromInline package typealias ID = Ticket

    /// The identity of a caller of a flight in this table.
    @usableFromInline
    struct CallerPlace: Sendable {
        fileprivate let caller: Machine.Caller
        /// The caller's wait in the graph of waits, if the caller is inside the turn of a queue, or inside a flight.
        fileprivate let wait: _PlaceWaits.Wait
        /// The task of the caller.
        fileprivate let task: TaskAddress
    }

    let state: Locked<Machine>
    /// The API, such as `SingleFlight`, under whose name a result that no caller received is reported.
    let origin: TaskOrigin
    package let source: EventSource

    /// Whether each flight has a deadline: the latest of its callers' deadlines. `false` if flights can continue
    /// without callers.
    let hasDeadlines: Bool

    /// The rule for a result that no caller receives.
    package enum Unheard {
        /// An error is reported to diagnostics. A value is discarded.
        case errorIsReported
        /// The end of the work is reported to diagnostics, whether it has a value or an error.
        case endIsReported
        /// Nothing is reported: the code that created the table has handled the result inside the operation.
        case isHandled
    }

    private let unheard: Unheard

    package init(
        origin: TaskOrigin,
        name: String? = nil,
        runsToCompletion: Bool = false,
        unheard: Unheard = .errorIsReported,
        emitsLife: Bool = false
    ) {
        self.origin = origin
        source = EventSource(origin.primitive, name: name)
        hasDeadlines = !runsToCompletion && unheard != .isHandled
        self.unheard = unheard
        state = Locked(Machine(runsToCompletion: runsToCompletion))
        if emitsLife { source.emit(.created) }
    }

    // MARK: Joining

    /// Joins the flight of a key, or begins it.
    ///
    /// Neither inlined nor combined with the wait for the value: the frames of a waiting task must fit into the memory
    /// that the runtime allocates together with the task.
    ///
    /// - Parameters:
    ///   - key: The key of the flight; `nil` for a flight that no other caller joins.
    ///   - name: The name of the task, if one is created; `nil` for the name of the caller's task.
    ///   - limit: The time limit of the work: if it ends later, it has no result. `nil`: no limit.
    ///   - operation: The work of the flight. Not called if there is a flight to join.
    /// - Returns: The caller, which must then wait; `nil` if the current task is inside the flight of this key and
    ///   would wait for itself. Never `nil` if `key` is `nil`.
    /// - Throws: `CancellationError` if the current task was cancelled before the call; ``CancellationCause`` if the
    ///   table refuses new flights.
    @export(implementation)
    @inline(never)
    package func join<Value: Sendable>(
        _ key: _ErasedKey?,
        name: String? = nil,
        limit: StopwatchLimit? = nil,
        operation: @escaping @Sendable @isolated(any) () async throws -> Value
    ) throws -> _FlightCaller<Value>? {
        if _isTaskCancelled { throw CancellationError() }
        var key = key
        _ErasedKey.describe(&key)
        var joining = join(key) { _TypedFlight<Value>(self, key, nil, nil) }
        if case .limited = joining {
            // The deadline is read where the lock is free, since its clock may be one of the client.
            let limited = _TypedFlight<Value>(self, key, currentDeadline, nil)
            joining = join(key, isLimited: true) { limited }
        }
        switch joining {
        case .joined(let flight, let place): return _FlightCaller(downcast(flight), at: place)
        case .reentrant, .absent: return nil
        case .refused, .limited: throw refusal
        case .begun(let begun, let place):
            let flight: _TypedFlight<Value> = downcast(begun)
            let name = name ?? callersName
            let task = _withDeadline(of: flight.deadline, instead: flight.inheritsDeadline) {
                spawn(
                    name: name,
                    level: 0,
                    isolatedTo: operation.isolation,
                    _FlightBody(flight, limit: limit, operation: operation)
                )
            }
            started(flight, task, name: name)
            return _FlightCaller(flight, at: place)
        }
    }

    /// Casts a flight to the type of its value, without a check. All flights of one key have values of one type: the
    /// type is a part of the key, or the same for all keys of a table.
    @export(implementation)
    func downcast<Value: Sendable>(_ flight: _Flight) -> _TypedFlight<Value> {
        unsafeDowncast(flight, to: _TypedFlight<Value>.self)
    }

    @usableFromInline
    enum Joining {
        /// This flight has begun, with this caller as its first. Its task must be created.
        case begun(_Flight, CallerPlace)
        case joined(_Flight, CallerPlace)
        case reentrant
        case absent
        case refused
        /// There is no flight to join, and the flight to begin has a deadline, which must be read first.
        case limited
    }

    @usableFromInline var currentDeadline: _LatestDeadline? { _LatestDeadline.ofCurrentTask() }

    /// Adds a caller to the flight of a key, or begins a flight.
    ///
    /// - Parameters:
    ///   - key: The key of the flight; `nil` for a flight that no other caller joins.
    ///   - isLimited: Whether the flight that `make` returns has the deadline of the current task, if it has any.
    ///   - make: Creates the flight to begin if there is none to join, and does nothing else, since the lock is held.
    ///     Returns `nil` to begin none.
    @usableFromInline
    func join(_ key: _ErasedKey?, isLimited: Bool = false, _ make: () -> _Flight?) -> Joining {
        let places = _Places.heldByCaller
        let (joining, moment) = state.withLock { machine -> (Joining, EventMoment?) in
            var wait = _PlaceWaits.Wait.unrecorded
            // Before the caller joins, since a caller that would wait for itself must leave no trace.
            if !places.isEmpty, let id = machine.current(key) {
                guard let begun = _PlaceWaits.begin(for: .flight(Place(id, in: self)), inside: places) else {
                    return (.reentrant, nil)
                }
                wait = begun
            }
            // Most callers join, so a flight is created only when there is none.
            switch machine.join(key, nil) {
            case .joined(let caller, let flight):
                return (.joined(flight, CallerPlace(caller: caller, wait: wait, task: .running)), Diagnostics.moment)
            case .refused: return (.refused, nil)
            case .absent, .begun: break
            }
            let inheritsDeadline = Deadline.local != nil
            if inheritsDeadline, hasDeadlines, !isLimited { return (.limited, nil) }
            guard let flight = make() else { return (.absent, nil) }
            guard case .begun(let caller, let id) = machine.join(key, level: flight.level, flight) else {
                return (.refused, nil)
            }
            (flight.id, flight.inheritsDeadline) = (id, inheritsDeadline)
            Diagnostics.open(subject(id))
            if let begun = _PlaceWaits.begin(for: .flight(Place(id, in: self)), inside: places) { wait = begun }
            return (.begun(flight, CallerPlace(caller: caller, wait: wait, task: .running)), nil)
        }
        if case .joined(let flight, _) = joining {
            flight.deadline?.joinCurrentTask()
            emitJoined(flight.id, key, at: moment)
        }
        return joining
    }

    @usableFromInline var callersName: String? { Diagnostics.currentTaskName }

    /// The error of a caller that this table refuses, because it is closed.
    @usableFromInline var refusal: any Error {
        _isTaskCancelled ? CancellationError() : CancellationCause.shutdown(name: name)
    }

    /// Stores the task that was created for a flight until its first caller waits and attaches it, and emits the event
    /// that begins the flight.
    ///
    /// - Parameter name: The name of the task, for the event; `nil` if the task has none.
    @usableFromInline
    func started(_ flight: _Flight, _ task: _TaskHandle, name: String?) {
        flight.job = Word(task)
        emitBegun(flight, name)
    }

    // MARK: Waiting

    /// Waits for the end of a flight.
    ///
    /// Captures only the flight and the caller: the frames of a waiting task must fit into the memory that the runtime
    /// allocates together with the task.
    ///
    /// - Returns: Whether the flight has a result; `false` if the caller or the flight was cancelled before.
    @usableFromInline
    nonisolated(nonsending) static func wait(for flight: _Flight, at place: CallerPlace) async -> Bool {
        let outcome = await suspend {
            flight.table.park(flight, place.caller, Word($0))
        } onCancel: {
            flight.table.leave(flight, at: place)
        } raising: { priority in
            // Most callers need no lock: the priority of a flight is never below the one that it began with.
            if priority.rawValue > flight.level { flight.table.raise(flight.id, to: priority) }
        }
        place.wait.end()
        if outcome != .reached { await flight.table.completeLeaving(flight) }
        return outcome == .reached
    }

    /// Stores the continuation of a caller until its wait ends. The caller that has begun the flight also attaches its
    /// task, under the same lock: a task that has begun before has attached itself.
    ///
    /// - Returns: The outcome with which the continuation must be resumed at once; `nil` if the caller must wait.
    private func park(_ flight: _Flight, _ caller: Machine.Caller, _ waiter: Word) -> WaitOutcome? {
        guard caller.hasBegun(flight.id) else { return state.withLock { $0.park(caller, waiter) } }
        let (outcome, owed) = state.withLock { machine in
            (machine.park(caller, waiter), attach(flight, to: &machine))
        }
        owed?.raise()
        return outcome
    }

    /// A rise of a flight that its task must be notified of.
    private struct OwedRise {
        let task: _TaskHandle
        let level: UInt8

        func raise() { TaskControl.raise([task], to: TaskPriority(rawValue: level)) }
    }

    private func attach(_ flight: _Flight, to machine: inout Machine) -> OwedRise? {
        guard let job = flight.job else { return nil }
        let level = machine.attach(flight.id, job, level: flight.level)
        // Retained under the lock: the task of an unfinished flight is alive, and may end once the lock is free.
        return level > 0 ? OwedRise(task: job.task, level: level) : nil
    }

    package func raise(_ id: ID, to priority: TaskPriority) {
        // Retained under the lock: the task of an unfinished flight is alive, and may end once the lock is free.
        let task = state.withLock { $0.raise(id, to: priority.rawValue)?.task }
        if let task { TaskControl.raise([task], to: priority) }
    }

    /// Removes a caller that was cancelled, or whose time has ended. Called by the cancellation handler of the caller's
    /// task, so it resumes no other task.
    ///
    /// If no caller is left, the flight is cancelled, unless it may continue without callers. It is cancelled in the
    /// table at once, so work that has not begun does not begin. The task of the flight is cancelled by another thread:
    /// see `completeLeaving(_:)`.
    ///
    /// - Parameters:
    ///   - keepsFlight: Whether the flight continues without callers from now on.
    ///   - isLimit: Whether the caller leaves because its time has ended.
    /// - Returns: Whether the caller has left now; `false` if it had left before, or if the flight has ended.
    @discardableResult
    func leave(
        _ flight: _Flight,
        at place: CallerPlace,
        keepsFlight: Bool = false,
        isLimit: Bool = false
    ) -> Bool {
        place.wait.end()
        let (leaving, task, moment) = state.withLock { machine in
            let leaving = machine.leave(place.caller, keepsFlight: keepsFlight)
            let task = leaving.cancelling?.task
            // Under the lock: a flight leaves the table before its task ends, so the task has not ended.
            if let task {
                let isAtLimit = isLimit || CancellationCauses.cause(of: place.task)?.isLimit ?? false
                CancellationCauses.record(.lastCallerLeft(atLimit: isAtLimit), for: task.address)
            }
            return (leaving, task, Diagnostics.moment)
        }
        leaving.waiter?.resume(returning: .left)
        guard let cancelled = leaving.cancelled else { return leaving.hasLeft }
        performOutsideHandler { [self] in
            // A flight that has ended meanwhile has reported its end.
            let isNews = moment != nil && isHeld(cancelled)
            task?.cancel()
            if isNews {
                let cause = CancellationCause.lastCallerLeft.eventText
                source.emit(.cancelled, about: subject(cancelled), detail: cause, at: moment)
            }
            withExtendedLifetime(leaving.payload) {}
        }
        return true
    }

    /// Completes what the departure of the current task has caused: if it has cancelled the flight, waits until the task
    /// of the flight is cancelled, but not for its cancellation handlers. So the work of an abandoned flight is cancelled
    /// when the call of its last caller returns.
    ///
    /// A function of its own, whose frame exists only after the wait for the flight.
    @inline(never)
    private nonisolated(nonsending) func completeLeaving(_ flight: _Flight) async {
        emitLeft(flight.id)
        // A caller that was not cancelled was removed by `cancelAll(_:)`, whose own call cancels the task.
        if _isTaskCancelled { await completeCancellation(of: flight) }
    }

    /// Waits until the task of a flight that its last caller has cancelled is cancelled, but not for its cancellation handlers.
    nonisolated(nonsending) func completeCancellation(of flight: _Flight) async {
        // Retained under the lock: a flight leaves the table before its task ends.
        if let task = state.withLock({ $0.cancelledJob(of: flight.id)?.task }) { await cancelOutside(task) }
    }

    // MARK: The work

    /// Checks that the work of a flight may begin, and emits the event that the work runs. Called by the task of the
    /// flight.
    ///
    /// The flight is checked as well as the task: if the last caller has left, the task is cancelled only later. Attaches
    /// the task to the flight, so that a cancellation by the operation itself reaches the task at once.
    ///
    /// - Throws: `CancellationError` if the flight or its task was cancelled before the call.
    @usableFromInline
    func begin(_ flight: _Flight) throws {
        guard !_isTaskCancelled, let task = Word.running,
            let level = state.withLock({ $0.begin(flight.id, task, level: flight.level) })
        else { throw CancellationError() }
        if level > 0 { TaskControl.raise([task.task], to: TaskPriority(rawValue: level)) }
        emitRunning(flight)
    }

    /// Returns the task-local value for the operation of a flight. It holds no turn and no place of the caller that
    /// began the flight: the flight works for all of its callers.
    @usableFromInline
    func places(inside flight: _Flight) -> _Places { _Places(inFlight: flight.place) }

    /// Ends a flight whose result has been written.
    ///
    /// - Parameters:
    ///   - flight: The flight.
    ///   - failure: The error of the flight; `nil` if it has a value.
    ///   - hasBegun: Whether the operation was called.
    /// - Returns: `isHeard`: whether a caller receives the result. If not, the task of the flight must call
    ///   ``report(_:wasCancelled:)``. `wasCancelled`: whether the flight was cancelled. Its task may receive that
    ///   cancellation only later.
    @usableFromInline
    func finish(_ flight: _Flight, _ failure: (any Error)?, hasBegun: Bool) -> (isHeard: Bool, wasCancelled: Bool) {
        let moment = Diagnostics.moment
        let landing = state.withLock { $0.finish(flight.id) }
        CancellationCauses.forget(.running)
        _PlaceWaits.areOver(for: flight.place)
        flight.deadline?.end()
        landing.first?.resume(returning: .reached)
        for waiter in landing.others { waiter.resume(returning: .reached) }
        for waiter in landing.drained { waiter.resume(returning: .reached) }
        if let moment {
            emitEnd(flight.id, flight.key, failure, hasBegun: hasBegun, isCancelled: landing.wasCancelled, at: moment)
        }
        return (!landing.isUnheard, landing.wasCancelled)
    }

    /// Reports a result that no caller receives, in the way that the table's ``Unheard`` rule states.
    ///
    /// - Parameters:
    ///   - failure: The error of the flight; `nil` if it has a value.
    ///   - wasCancelled: Whether the flight was cancelled.
    @usableFromInline
    nonisolated(nonsending) func report(_ failure: (any Error)?, wasCancelled: Bool) async {
        switch unheard {
        case .endIsReported: reportAbandoned(failure)
        case .isHandled: break
        case .errorIsReported:
            guard let failure else { return }
            await settle(failure, in: origin, isCancelled: wasCancelled || Task.isCancelled, handler: nil)
        }
    }

    /// Reports the end of work that no caller awaits. An error other than an interruption is reported as a mistake
    /// of the program.
    ///
    /// - Parameter failure: The error of the work; `nil` if the work has returned a value.
    @inline(never)
    private func reportAbandoned(_ failure: (any Error)?) {
        func event() -> TaskEvent {
            TaskEvent(
                origin.primitive,
                .abandonedWorkEnded,
                taskName: Diagnostics.currentTaskName,
                error: failure
            )
        }
        guard let failure, !isInterruption(failure) else { return Diagnostics.emit(event()) }
        Diagnostics.report(
            event(),
            error: failure,
            advice: "\(origin.name): work that its caller has abandoned has ended"
        )
    }

    func forget(_ key: _ErasedKey) {
        let payload = state.withLock { $0.forget(key) }
        if payload != nil { source.emit(.forgotten, key: key.described().text) }
    }

    package func cancelAll(_ cause: CancellationCause) { _ = clear(cause) }

    /// Cancels all flights for a cause.
    ///
    /// - Returns: The flights that this call has cancelled.
    private func clear(_ cause: CancellationCause) -> Machine.Clearing {
        let (clearing, tasks, moment) = state.withLock { machine in
            let clearing = machine.cancelAll()
            // Under the lock: a caller that has not parked yet reads it after it has parked.
            for flight in clearing.payloads { flight?.cancellation = cause }
            for id in clearing.ids { _PlaceWaits.areOver(for: Place(id, in: self)) }
            let tasks = clearing.jobs.map(\.task)
            for task in tasks { CancellationCauses.record(.known(cause), for: task.address) }
            return (clearing, tasks, Diagnostics.moment)
        }
        for waiter in clearing.waiters { waiter.resume(returning: .left) }
        for task in tasks { task.cancel() }
        if let moment { emitCancelled(clearing.ids, because: cause, at: moment) }
        return clearing
    }

    // MARK: Closing

    /// Refuses new flights from now on. Callers can still join a flight in progress.
    ///
    /// - Parameter waiting: The rule for further attempts of `retry` and `poll` in the flights in progress.
    package func refuse(waiting: WaitingWorkBehavior = .run) {
        state.withLock { machine in
            machine.close()
            guard waiting == .cancel else { return }
            // Under the lock, because a flight leaves the table before its task ends.
            for job in machine.jobs { CancellationCauses.endAttempts(of: job.task.address) }
        }
    }

    /// Cancels the flights in progress for a cause at the end of the grace period of a shutdown, and waits until all flights
    /// have ended, also if the caller is cancelled.
    ///
    /// - Parameter limit: The limit on this wait.
    /// - Returns: A text for each flight that this call has cancelled: that of its key. If the limit has passed, also one
    ///   for all flights that are left, since a cancelled flight no longer has a key.
    package func cutOff(for cause: CancellationCause, within limit: CancellationLimit?) async -> ShutdownReport {
        let flights = clear(cause)
        let texts = flights.payloads.map { $0?.key?.text ?? "a task" }
        let hasEnded = await waitForCancelledTasks(within: limit) { (stays: Bool) throws(CancellationError) in
            try await self.drain(staysWhenCancelled: stays)
        }
        if hasEnded { return ShutdownReport(cancelled: texts) }
        let (left, count) = state.withLock { machine in
            (zip(flights.ids, texts).filter { machine.isThere($0.0) }.map(\.1), machine.unfinishedCount)
        }
        // Flights that were cancelled before the shutdown, when their last callers left.
        let others = Array(repeating: "a task", count: max(0, count - left.count))
        return ShutdownReport(cancelled: texts, leftBehind: (left + others).map { source.place(of: $0) })
    }

    /// Waits until all flights have ended: those present, those that begin meanwhile, and cancelled flights.
    ///
    /// - Parameter staysWhenCancelled: Whether a cancelled caller continues to wait.
    /// - Throws: `CancellationError` if the caller is cancelled, unless `staysWhenCancelled` is true.
    package func drain(staysWhenCancelled: Bool) async throws(CancellationError) {
        if !staysWhenCancelled, Task.isCancelled { throw CancellationError() }
        guard let drain = state.withLock({ $0.drain() }) else { return }
        let wait = source.emitDraining()
        let outcome = await suspend { waiter in
            state.withLock { $0.park(drain, Word(waiter)) }
        } onCancel: {
            if staysWhenCancelled { return }
            state.withLock { $0.leave(drain) }?.resume(returning: .left)
        } raising: { [self] priority in
            let tasks = state.withLock { $0.raiseAll(to: priority.rawValue).map(\.task) }
            if !tasks.isEmpty { TaskControl.raise(tasks, to: priority) }
        }
        source.emitDrained(wait, hasLeft: outcome == .left)
        if outcome == .left { throw CancellationError() }
    }

    // MARK: Looking

    package var count: Int { state.withLock { $0.count } }

    /// The number of flights that have not ended, including cancelled flights.
    var liveCount: Int { state.withLock { $0.flights.count } }

    /// The number of callers that wait for flights.
    var callerCount: Int { state.withLock { $0.callerCount } }

    func isHeld(_ id: ID) -> Bool { state.withLock { $0.isThere(id) } }

    /// The flight of this table whose operation the current task runs, directly or as a child task; `nil` if there is
    /// none.
    package var innermostID: ID? {
        guard let place = _Places.local.get().innermost, place.owner === self else { return nil }
        return place.id
    }
}

/// Flights that are kept: they continue without callers, until they are released.
extension _FlightTable {
    /// Begins the flight of a key without a caller. If the key has a flight already, keeps that flight. A kept flight
    /// continues without callers until ``release(_:because:)`` is called.
    @export(implementation)
    package func launch<Value: Sendable>(
        _ key: _ErasedKey,
        operation: @escaping @Sendable @isolated(any) () async throws -> Value
    ) {
        var key: _ErasedKey? = key
        _ErasedKey.describe(&key)
        let flight = _TypedFlight<Value>(self, key, nil, nil)
        guard launch(flight) else { return }
        let name = callersName
        let task = _withDeadline(of: nil, instead: flight.inheritsDeadline) {
            spawn(
                name: name,
                level: 0,
                isolatedTo: operation.isolation,
                _FlightBody(flight, operation: operation)
            )
        }
        started(flight, task, name: name)
        launched(flight)
    }

    /// Begins a flight without a caller. If its key has a flight already, keeps that flight instead.
    ///
    /// - Returns: Whether the new flight has begun; `false` if the key had a flight.
    @usableFromInline
    func launch(_ flight: _Flight) -> Bool {
        guard let key = flight.key else { return false }
        return state.withLock { machine in
            guard let id = machine.launch(key, level: flight.level, flight) else { return false }
            (flight.id, flight.inheritsDeadline) = (id, Deadline.local != nil)
            Diagnostics.open(subject(id))
            return true
        }
    }

    /// Attaches the task of a flight that has no first caller, and emits that it has none.
    @usableFromInline
    func launched(_ flight: _Flight) {
        state.withLock { attach(flight, to: &$0) }?.raise()
        // Observers assume that the task that begins a flight waits for it. This event corrects that.
        source.emit(.left, about: subject(flight.id), detail: "goes on without a caller")
    }

    /// Joins the flight of a key, if there is one.
    ///
    /// - Returns: The caller, which must then wait; `nil` if the key has no flight, or if the current task is inside
    ///   that flight and would wait for itself.
    /// - Throws: `CancellationError` if the current task was cancelled before the call.
    @export(implementation)
    package func joinIfPresent<Value: Sendable>(
        _ key: _ErasedKey,
        of type: Value.Type
    ) throws -> _FlightCaller<Value>? {
        try Task.checkCancellation()
        guard case .joined(let flight, let place) = join(key, { nil }) else { return nil }
        return _FlightCaller(downcast(flight), at: place)
    }

    /// Ends the keeping of a flight that ``launch(_:operation:)`` has begun or kept: a flight without callers is
    /// cancelled now, and any other flight when its last caller leaves. Has no effect on a flight that callers can no
    /// longer join.
    ///
    /// - Parameters:
    ///   - id: The flight.
    ///   - cause: The cause of the cancellation if the flight has no callers.
    package func release(_ id: ID, because cause: CancellationCause) {
        let (leaving, task, moment) = state.withLock { machine in
            let leaving = machine.release(id)
            let task = leaving.cancelling?.task
            // Under the lock: a flight leaves the table before its task ends, so the task has not ended.
            if let task { CancellationCauses.record(.known(cause), for: task.address) }
            return (leaving, task, Diagnostics.moment)
        }
        guard let id = leaving.cancelled else { return }
        task?.cancel()
        source.emit(.cancelled, about: subject(id), detail: cause.eventText, at: moment)
        withExtendedLifetime(leaving.payload) {}
    }

    /// Makes later callers of the key begin a new flight instead of joining this flight. Called by the work of the
    /// flight when its result will soon be available.
    package func retire(_ id: ID) {
        let payload = state.withLock { $0.retire(id) }
        withExtendedLifetime(payload) {}
    }

    /// Records that the current code waits for another flight without being one of its callers, so that flights that
    /// wait for each other are detected.
    ///
    /// - Returns: The wait, which must be ended; `nil` if the other flight already waits for the current code, directly
    ///   or through other flights and turns. Nothing is recorded then.
    package func wait(behind other: ID) -> _PlaceWaits.Wait? {
        let places = _Places.heldByCaller
        // Under the lock: a flight that has ended keeps no code waiting.
        return state.withLock {
            $0.isThere(other) ? _PlaceWaits.begin(for: .flight(Place(other, in: self)), inside: places) : .unrecorded
        }
    }
}

/// The events of flights.
extension _FlightTable {
    var name: String? { source.name }

    func subject(_ id: ID) -> TaskEvent.Identity { TaskEvent.Identity(id.number, of: source.number) }

    /// Emits the event that begins a flight. Called in the task of the first caller, which has created the task of the
    /// flight.
    ///
    /// - Parameters:
    ///   - flight: The flight. Its key is read only for an observer.
    ///   - taskName: The name of the flight's task; `nil` if it has none.
    func emitBegun(_ flight: _Flight, _ taskName: String?) {
        source.emitBeginning(
            .started,
            .waiting,
            of: subject(flight.id),
            taskName: taskName,
            key: flight.key?.text,
            isInside: true
        )
    }

    func emitJoined(_ id: ID, _ key: _ErasedKey?, at moment: EventMoment?) {
        source.emit(.joined, about: subject(id), key: key?.text, at: moment, isInside: true)
    }

    func emitRunning(_ flight: _Flight) {
        source.emit(.running, .entered(.running), about: subject(flight.id), key: flight.key?.text, isInside: true)
    }

    func emitLeft(_ id: ID) {
        source.emit(.left, about: subject(id), isInside: true)
    }

    /// Emits the end of a flight.
    ///
    /// - Parameters:
    ///   - id: The flight.
    ///   - key: The key of the flight; `nil` if it has none.
    ///   - failure: The error of the flight; `nil` if the flight has a value.
    ///   - hasBegun: Whether the operation was called. If not, the flight was cancelled before, and counts as skipped.
    ///   - isCancelled: Whether the flight was cancelled. Its task may receive that cancellation a moment later.
    ///   - moment: The moment at which the flight ended.
    @inline(never)
    func emitEnd(
        _ id: ID,
        _ key: _ErasedKey?,
        _ failure: (any Error)?,
        hasBegun: Bool,
        isCancelled: Bool,
        at moment: EventMoment
    ) {
        let (kind, outcome): (TaskEvent.Kind, TaskEvent.Outcome) =
            failure == nil ? (.completed, .completed) : hasBegun ? (.failed, .failed) : (.skipped, .skipped)
        source.emit(
            kind,
            .ended(outcome),
            about: subject(id),
            key: key?.text,
            error: hasBegun ? failure : nil,
            isCancelled: isCancelled,
            at: moment,
            isInside: true
        )
    }

    func emitCancelled(_ ids: [ID], because cause: CancellationCause, at moment: EventMoment) {
        source.emit(.cancelledAll, count: ids.count, at: moment)
        for id in ids {
            source.emit(.cancelled, about: subject(id), detail: cause.eventText, at: moment)
        }
    }
}
