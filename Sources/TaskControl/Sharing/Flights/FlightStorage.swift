/// The engine under everything that is shared: locks, asks the state machine, unlocks, and only then acts (law 1).
///
/// The tasks of its flights hold it, so that they outlive its face.
@usableFromInline
final class FlightStorage: Sendable {
    typealias Waiter = UnsafeContinuation<WaitOutcome, Never>
    /// Who is in the air lives: a flight leaves the books before its task ends.
    typealias Job = TaskHandle.Unowned
    typealias Machine = FlightStateMachine<ErasedKey, FlightResult, Waiter, Job>
    typealias ID = Machine.ID

    private let state: Locked<Machine>
    /// Who reports what nobody received.
    private let origin: StaticString

    /// Whether the end of work that everybody has left is worth a word.
    private let reportsAbandoned: Bool

    init(origin: StaticString, runsToCompletion: Bool = false, reportsAbandoned: Bool = false) {
        self.origin = origin
        self.reportsAbandoned = reportsAbandoned
        state = Locked(Machine(runsToCompletion: runsToCompletion))
    }

    // MARK: Sharing

    /// Gets a value from the flight of a key: joins it, or begins it.
    ///
    /// - Parameters:
    ///   - key: `nil`: for a flight that nobody else joins.
    ///   - name: Of the task, if one is made; `nil`: the caller's.
    ///   - reentrancy: Thrown to a caller that would wait for itself.
    @inlinable
    nonisolated(nonsending) func run<Value: Sendable>(
        _ key: ErasedKey?,
        name: String? = nil,
        reentrancy: @autoclosure () -> SingleFlightError,
        operation: @escaping @Sendable @isolated(any) () async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        guard let passenger = board(key, makeResult: { TypedFlightResult<Value>() }) else { throw reentrancy() }
        // Whoever finds a flight by its key knows the type of its value: it is a part of the key, or there is one for all keys.
        let result = unsafeDowncast(passenger.result, to: TypedFlightResult<Value>.self)
        if passenger.isFirst {
            let body = FlightBody(passenger.flight, result, operation: operation)
            let name = name ?? passenger.callersName
            passenger.attach(spawn(name: name, priority: nil, isolatedTo: operation.isolation, body))
        }
        guard await passenger.wait(), let result = result.result else { throw CancellationError() }
        do {
            return try result.get()
        } catch {
            // One cancellation error (law 10).
            try Task.checkCancellation()
            throw error
        }
    }

    /// - Parameter makeResult: Makes what a new flight brings its result in. Called under the lock.
    /// - Returns: `nil`: the caller would wait for itself.
    @usableFromInline
    func board(_ key: ErasedKey?, makeResult: () -> FlightResult) -> Passenger? {
        let origins = HeldFlight.innermost.map { $0.all.filter { $0.flights === self }.map(\.id) } ?? []
        let level = inheritedPriority.rawValue
        return switch state.withLock({ $0.join(key, inside: origins, level: level, makeResult) }) {
        case .begun(let caller, let result):
            Passenger(flights: self, key: key, caller: caller, result: result, levelOfTask: level)
        case .joined(let caller, let result):
            Passenger(flights: self, key: key, caller: caller, result: result, levelOfTask: nil)
        case .reentrant: nil
        }
    }

    /// Brings the handle of the task that has been made for a flight.
    fileprivate func attach(_ id: ID, _ task: TaskHandle, level: UInt8) {
        let attachment = state.withLock { $0.attach(id, Job(task), level: level) }
        if attachment.isCancelled { task.cancel() }
        if attachment.level > 0 { TaskControl.raise([task], to: TaskPriority(rawValue: attachment.level)) }
    }

    // MARK: Waiting

    fileprivate nonisolated(nonsending) func wait(_ passenger: Passenger) async -> WaitOutcome {
        await withTaskCancellationHandler {
            await raising {
                await withUnsafeContinuation { (waiter: Waiter) in
                    let outcome = state.withLock { $0.park(passenger.caller, waiter) }
                    if let outcome { waiter.resume(returning: outcome) }
                }
            } with: { [self, id = passenger.caller.flight] priority in
                raise(id, to: priority)
            }
        } onCancel: {
            // May come before the waiter has parked, and more than once.
            leave(passenger)
        }
    }

    private func raise(_ id: ID, to priority: TaskPriority) {
        let task = state.withLock { $0.raise(id, to: priority.rawValue)?.owned }
        if let task { TaskControl.raise([task], to: priority) }
    }

    private func leave(_ passenger: Passenger) {
        // Owned under the lock: who is in the air lives, and may end as soon as the lock is free.
        let (leaving, task) = state.withLock { machine in
            let leaving = machine.leave(passenger.caller, of: passenger.key)
            return (leaving, leaving.cancelling?.owned)
        }
        leaving.waiter?.resume(returning: .left)
        task?.cancel()
    }

    // MARK: Ending

    /// The work of a flight has ended, and its result is there.
    ///
    /// - Returns: Whether somebody was there to receive it.
    fileprivate func finish(_ id: ID, _ key: ErasedKey?) -> Bool {
        let landing = state.withLock { $0.finish(id, of: key) }
        for waiter in landing.waiters { waiter.resume(returning: .reached) }
        return !landing.isUnheard
    }

    /// - Parameter failure: What a flight failed with that nobody was there to hear of.
    fileprivate nonisolated(nonsending) func report(_ failure: (any Error)?) async {
        if reportsAbandoned {
            Diagnostics.report(.abandonedWorkEnded(failure, in: origin), taskName: Diagnostics.currentTaskName)
        } else if let failure {
            await settle(failure, in: origin, handler: nil)
        }
    }

    func forget(_ key: ErasedKey) {
        _ = state.withLock { $0.forget(key) }
    }

    func cancelAll() {
        let (clearing, tasks) = state.withLock { machine in
            let clearing = machine.cancelAll()
            return (clearing, clearing.jobs.map(\.owned))
        }
        for waiter in clearing.waiters { waiter.resume(returning: .left) }
        for task in tasks { task.cancel() }
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
    let flights: FlightStorage
    let key: ErasedKey?
    let caller: FlightStorage.Machine.Caller
    @usableFromInline let result: FlightResult
    /// The priority of the flight's task, if this one is to make it.
    let levelOfTask: UInt8?

    @usableFromInline var isFirst: Bool { levelOfTask != nil }

    @usableFromInline var flight: HeldFlight { HeldFlight(flights: flights, id: caller.flight, key: key) }

    @usableFromInline var callersName: String? { Diagnostics.currentTaskName }

    @usableFromInline
    func attach(_ task: TaskHandle) { flights.attach(caller.flight, task, level: levelOfTask ?? 0) }

    /// Waits for the result.
    ///
    /// - Returns: Whether it is there. If not, the caller was cancelled, or the flight.
    @usableFromInline
    nonisolated(nonsending) func wait() async -> Bool { await flights.wait(self) == .reached }
}

extension HeldFlight {
    /// Reports the end of its work, whose result is there.
    ///
    /// - Returns: Whether somebody was there to receive it. If not, the caller goes on with `report`.
    @usableFromInline
    func finish() -> Bool { flights.finish(id, key) }

    @usableFromInline
    nonisolated(nonsending) func report(_ failure: (any Error)?) async { await flights.report(failure) }
}
