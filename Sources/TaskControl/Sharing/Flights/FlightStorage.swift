/// The engine under everything that is shared: locks, asks the state machine, unlocks, and only then acts.
///
/// The tasks of its flights hold it, so that they outlive its face.
@usableFromInline
final class FlightStorage: Sendable {
    typealias Waiter = UnsafeContinuation<WaitOutcome, Never>
    /// Who is in the air lives: a flight leaves the books before its task ends.
    typealias Job = TaskHandle.Unowned
    typealias Machine = FlightStateMachine<ErasedKey, Flight, Waiter, Job>
    typealias ID = Machine.ID

    private let state: Locked<Machine>
    /// Who reports what nobody received.
    let origin: TaskOrigin
    let source: EventSource

    /// Whether the end of work that everybody has left is reported.
    private let reportsAbandoned: Bool

    init(
        origin: TaskOrigin,
        name: String? = nil,
        runsToCompletion: Bool = false,
        reportsAbandoned: Bool = false,
        emitsLife: Bool = false
    ) {
        self.origin = origin
        source = EventSource(origin.primitive, name: name)
        self.reportsAbandoned = reportsAbandoned
        state = Locked(Machine(runsToCompletion: runsToCompletion))
        if emitsLife { Diagnostics.emit(source.event(.created)) }
    }

    // MARK: Sharing

    /// Joins the flight of a key, or begins it. What waits for the value is apart: a task that waits is to fit into the memory that every
    /// task has, and this is much.
    ///
    /// - Parameters:
    ///   - key: `nil`: for a flight that nobody else joins.
    ///   - name: Of the task, if one is made; `nil`: the caller's.
    ///   - reentrancy: Thrown to a caller that would wait for itself.
    @inlinable
    @inline(never)
    func board<Value: Sendable>(
        _ key: ErasedKey?,
        name: String? = nil,
        reentrancy: @autoclosure () -> SingleFlightError,
        operation: @escaping @Sendable @isolated(any) () async throws -> Value
    ) throws -> Passenger {
        try Task.checkCancellation()
        let held = Flight.held
        let boarding = board(key, name: name, inside: held) { TypedFlight<Value>(self, key, inside: held) }
        guard let passenger = boarding else { throw reentrancy() }
        if passenger.isFirst {
            let body = FlightBody(passenger.flight(to: Value.self), operation: operation)
            let name = name ?? passenger.name
            passenger.attach(spawn(name: name, priority: nil, isolatedTo: operation.isolation, body), name: name)
        }
        return passenger
    }

    /// - Parameters:
    ///   - held: The flights that the caller is inside of.
    ///   - makeFlight: Called under the lock.
    /// - Returns: `nil`: the caller would wait for itself.
    @usableFromInline
    func board(
        _ key: ErasedKey?,
        name: String?,
        inside held: [FlightPlace],
        makeFlight: () -> Flight
    ) -> Passenger? {
        let origins = held.isEmpty ? [] : held.filter { $0.flights === self }.map(\.id)
        let level = inheritedPriority.rawValue
        let (joining, moment) = state.withLock { machine in
            let joining = machine.join(key, inside: origins, level: level) { makeFlight().begin(as: $0) }
            if case .begun(_, let id, _) = joining { Diagnostics.open(subject(id)) }
            return (joining, Diagnostics.moment)
        }
        switch joining {
        case .begun(let caller, _, let flight):
            return Passenger(flight: flight, caller: caller, level: level, isFirst: true)
        case .joined(let caller, let flight, let level):
            emitJoined(flight.id, key, at: moment)
            return Passenger(flight: flight, caller: caller, level: level, isFirst: false)
        case .reentrant:
            return nil
        }
    }

    /// Whether the task of a flight may begin its work. The task's own flag does not suffice: a cancellation that came before the task's
    /// handle did reaches that later.
    func mayBegin(_ id: ID) -> Bool { state.withLock { $0.mayBegin(id) } }

    /// Brings the handle of the task that has been made for a flight.
    fileprivate func attach(_ id: ID, _ task: TaskHandle, level: UInt8) {
        let attachment = state.withLock { $0.attach(id, Job(task), level: level) }
        if attachment.isCancelled { task.cancel() }
        if attachment.level > 0 { TaskControl.raise([task], to: TaskPriority(rawValue: attachment.level)) }
    }

    // MARK: Waiting

    /// - Returns: With what the waiter is to be resumed at once.
    func park(_ caller: Machine.Caller, _ waiter: Waiter) -> WaitOutcome? {
        state.withLock { $0.park(caller, waiter) }
    }

    func raise(_ id: ID, to priority: TaskPriority) {
        // Owned under the lock: who is in the air lives, and may end as soon as the lock is free.
        let task = state.withLock { $0.raise(id, to: priority.rawValue)?.owned }
        if let task { TaskControl.raise([task], to: priority) }
    }

    /// A caller leaves. Called by its cancellation handler, so only the caller is resumed here.
    ///
    /// The last one cancels the flight: in the books at once, so that work that has not begun does not begin; its task soon after.
    func leave(_ caller: Machine.Caller, of key: ErasedKey?) {
        let (leaving, task, moment) = state.withLock { machine in
            let leaving = machine.leave(caller, of: key)
            return (leaving, leaving.cancelling?.owned, Diagnostics.moment)
        }
        leaving.waiter?.resume(returning: .left)
        guard let cancelled = leaving.cancelled else { return }
        performOutsideHandler { [self] in
            // A flight that has ended meanwhile has reported its end.
            let isNews = moment != nil && isInTheAir(cancelled)
            task?.cancel()
            if isNews { Diagnostics.emit(at: moment, source.event(.cancelled, about: subject(cancelled))) }
            withExtendedLifetime(leaving.payload) {}
        }
    }

    // MARK: Ending

    /// The work of a flight has ended, and its result is there.
    ///
    /// - Returns: Whether a caller was there to receive it, and whether the flight had been cancelled, of which its task may hear later.
    func finish(_ id: ID, _ key: ErasedKey?) -> (isHeard: Bool, wasCancelled: Bool) {
        let landing = state.withLock { $0.finish(id, of: key) }
        landing.first?.resume(returning: .reached)
        for waiter in landing.others { waiter.resume(returning: .reached) }
        return (!landing.isUnheard, landing.wasCancelled)
    }

    /// - Parameters:
    ///   - failure: What a flight failed with that nobody was there to hear of.
    ///   - wasCancelled: Whether the flight had been cancelled.
    nonisolated(nonsending) func report(_ failure: (any Error)?, wasCancelled: Bool) async {
        if reportsAbandoned {
            reportAbandoned(failure)
        } else if let failure {
            await settle(failure, in: origin, isCancelled: wasCancelled || Task.isCancelled, handler: nil)
        }
    }

    /// Work that failed for another reason than its cancellation is a mistake.
    private func reportAbandoned(_ failure: (any Error)?) {
        func event() -> TaskEvent {
            TaskEvent(
                origin.primitive,
                .abandonedWorkEnded,
                taskName: Diagnostics.currentTaskName,
                error: failure
            )
        }
        guard let failure, !(failure is CancellationError) else { return Diagnostics.emit(event()) }
        Diagnostics.report(
            event(),
            error: failure,
            advice: "\(origin.name): work that was abandoned at its time limit has ended"
        )
    }

    func forget(_ key: ErasedKey) {
        let payload = state.withLock { $0.forget(key) }
        if payload != nil { Diagnostics.emit(source.event(.forgotten, key: key.text)) }
    }

    func cancelAll() {
        let (clearing, tasks, moment) = state.withLock { machine in
            let clearing = machine.cancelAll()
            return (clearing, clearing.jobs.map(\.owned), Diagnostics.moment)
        }
        for waiter in clearing.waiters { waiter.resume(returning: .left) }
        for task in tasks { task.cancel() }
        if let moment { emitCancelled(clearing.ids, at: moment) }
    }

    // MARK: Looking

    var count: Int { state.withLock { $0.count } }

    /// How many have not ended, cancelled ones included.
    var liveCount: Int { state.withLock { $0.flights.count } }

    /// How many wait for flights.
    var callerCount: Int { state.withLock { $0.callerCount } }

    func isInTheAir(_ id: ID) -> Bool { state.withLock { $0.isThere(id) } }
}

/// Somebody on a flight: the one who began it, or one who joined it.
@usableFromInline
struct Passenger: Sendable {
    @usableFromInline let flight: Flight
    let caller: FlightStorage.Machine.Caller
    /// The priority that the flight has; if this one is to make its task, the one that the task will have.
    let level: UInt8
    @usableFromInline let isFirst: Bool

    /// The name of the caller.
    @usableFromInline var name: String? { Diagnostics.currentTaskName }

    /// Whoever finds a flight by its key knows the type of its value: it is a part of the key, or there is one for all keys.
    @inlinable
    func flight<Value: Sendable>(to value: Value.Type) -> TypedFlight<Value> {
        unsafeDowncast(flight, to: TypedFlight<Value>.self)
    }

    @usableFromInline
    func attach(_ task: TaskHandle, name: String?) {
        flight.flights.attach(flight.id, task, level: level)
        flight.flights.emitBegun(flight.id, flight.key, name)
    }

    /// Waits for the value.
    ///
    /// - Throws: What the flight throws; `CancellationError` if the caller was cancelled, or the flight.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) func value<Value: Sendable>(of type: Value.Type) async throws -> Value {
        guard await wait(), let result = flight(to: type).result else { throw CancellationError() }
        do {
            return try result.get()
        } catch {
            // A cancelled caller receives CancellationError, whatever was thrown.
            try Task.checkCancellation()
            throw error
        }
    }

    /// Waits for the result, which may be an error that a caller who is cancelled is not to see.
    ///
    /// - Returns: `nil`: the caller was cancelled, or the flight.
    @inlinable
    nonisolated(nonsending) func result<Value: Sendable>(of type: Value.Type) async -> Result<Value, any Error>? {
        await wait() ? flight(to: type).result : nil
    }

    /// - Returns: Whether the result is there. If not, the caller was cancelled, or the flight.
    @usableFromInline
    nonisolated(nonsending) func wait() async -> Bool {
        let hasArrived = await flight.wait(caller)
        if !hasArrived { flight.flights.emitLeft(flight.id) }
        return hasArrived
    }
}
