/// The state of flights and their callers. A flight is one run of an operation that several callers share. A pure
/// value: no lock, task or foreign closure. Generic over the payload, the object of a flight, which it owns while callers
/// can join the flight.
///
///     join ──▶ current ──forget──▶ forgotten          no caller joins it; its callers keep it
///                 │                    │
///                 ├── the last caller leaves, cancelAll ──▶ cancelled
///                 │                    │                        │
///                 └──────finish────────┴────────finish──────────┴──▶ (gone)      its callers are returned
///
/// A flight is in the machine before its task exists. The task brings its handle when it begins, unless `attach` has
/// added it before; both return the escalation that came before. A flight that is cancelled without a handle needs
/// none: its task has not begun, and may not begin any more.
///
/// A caller belongs to its flight from `join` on. It is *parked* when its continuation is stored, and may leave before
/// that. Most flights have one caller, so the wait of the first caller is in the entry of the flight, and has its ID.
/// Those of the others are in a table of their own.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. An ID is a slot and a serial number that is not used again before 2³⁸ others were, so an event that comes after
///    the end of its flight or caller finds nothing.
/// 2. Each element of `current` leads to a flight in the phase `current`, and each such flight leads to its element.
/// 3. A cancelled flight is not in `current`, and has no callers: no caller joins a cancelled flight.
/// 4. A flight without callers is cancelled, unless `runsToCompletion` is true, or it is kept (`isKept`): `launch` was
///    called for it, or a caller has left it with `keepsFlight`.
struct FlightStateMachine<Payload> {
    typealias Key = _ErasedKey
    /// The continuation of a caller that waits.
    typealias Waiter = Word
    /// The handle of a flight's task, which the machine does not retain.
    typealias Job = Word
    typealias ID = Ticket

    /// The identity of a caller that waits for a flight: the ID of the flight for the caller that has begun it. No
    /// other caller has the serial number of a flight.
    struct Caller: Hashable, Sendable {
        fileprivate let id: ID

        /// Returns whether this caller has begun a flight.
        func hasBegun(_ flight: ID) -> Bool { id == flight }
    }

    typealias Slot = SlotTable<Entry>.Index

    enum Phase: UInt8 {
        case current, forgotten, cancelled
    }

    struct Entry: Ticketed {
        let serial: UInt64
        var job: Job?
        /// The wait of the caller that has begun the flight; settled with `reached` if there is nothing to tell it any
        /// more, or if there was no such caller.
        var first: Parking = .settled(.reached)
        /// The callers that have joined the flight.
        var others = Chain()
        var phase: Phase
        /// The index in `current` while the phase is `current`.
        var link = Chain.none
        /// Whether the flight continues without callers, because `launch` was called for it, or a caller has left it with
        /// `keepsFlight`.
        var isKept = false
        /// The raw priority of the flight: the one that it began with, or the higher one of a caller.
        var level: UInt8

        var hasCallers: Bool { !others.isEmpty || first.isWaiting }
    }

    /// A flight that callers can join.
    struct Current: Keyed {
        let key: Key
        let slot: Slot
        let payload: Payload
        var nextInBucket = Chain.none
    }

    /// A caller that has joined a flight. It is in the flight's chain of callers until its wait has an outcome.
    struct Wait: WaiterEntry {
        let serial: UInt64
        let flight: Slot
        var links = Links()
        var parking = Parking.expected
    }

    let runsToCompletion: Bool

    private(set) var flights = SlotTable<Entry>()
    private(set) var waits = SlotTable<Wait>()
    private(set) var current = KeyTable<Current>()
    /// The payloads of the flights that callers could join by a key, and no longer can, until these flights have ended.
    private var forgotten = RareDictionary<Slot, Payload>()
    /// The outcomes of the first callers that have left, and have not parked before the end of their flight.
    private(set) var departed = RareDictionary<ID, WaitOutcome>()
    /// The number of flights in progress: those that have not ended, and are not cancelled.
    private(set) var count = 0
    /// The number of callers that wait for flights.
    private(set) var callerCount = 0
    private var nextSerial: UInt64 = 0
    /// Whether new flights are refused. Callers can still join a flight in progress.
    private var isClosed = false
    /// The waiters for the end of all flights, including cancelled flights.
    private var drains = WaiterTable()

    init(runsToCompletion: Bool) {
        self.runsToCompletion = runsToCompletion
    }

    // MARK: Coming

    enum Joining {
        /// A new flight: its first caller, and its ID. Its task must be created by the code that called `join`.
        case begun(Caller, ID)
        /// The caller has joined the flight of the key, which has this payload.
        case joined(Caller, Payload)
        /// The key has no flight, and there is no payload for a new one.
        case absent
        /// The key has no flight, and new flights are refused.
        case refused
    }

    /// Adds a caller to the flight of a key. If the key has no flight, begins one.
    ///
    /// - Parameters:
    ///   - key: The key; `nil` for work that no other caller joins.
    ///   - level: The raw priority that the task of a new flight will have.
    ///   - payload: The payload of a new flight; `nil` if the caller may join a flight and begin none.
    /// - Complexity: O(1).
    mutating func join(_ key: Key?, level: UInt8 = 0, _ payload: Payload?) -> Joining {
        if let key, let index = current.index(of: key) {
            return .joined(enter(current[index].slot), current[index].payload)
        }
        if isClosed { return .refused }
        guard let payload else { return .absent }
        let phase: Phase = key == nil ? .forgotten : .current
        let id = add(Entry(serial: nextSerial, first: .expected, phase: phase, level: level), key, payload)
        callerCount += 1
        return .begun(Caller(id: id), id)
    }

    /// Adds a flight, for which the key must lead to no other; `nil` for a flight without a key.
    private mutating func add(_ entry: consuming Entry, _ key: Key?, _ payload: Payload) -> ID {
        let slot = flights.insert(entry)
        let id = ID(serial: nextSerial, slot: slot)
        nextSerial += 1
        count += 1
        if let key { flights[slot].link = current.insert(Current(key: key, slot: slot, payload: payload)) }
        return id
    }

    /// Returns the flight that callers of a key join; `nil` if there is none.
    func current(_ key: Key?) -> ID? {
        key.flatMap { current.index(of: $0) }.map { flights.ticket(at: current[$0].slot) }
    }

    /// Begins the flight of a key without a caller. If the key has a flight already, keeps that flight. A kept flight
    /// continues without callers.
    ///
    /// - Parameters: `key`: the key; `level` and `payload`: the raw priority and the payload of a new flight.
    /// - Returns: The new flight, whose task must then be created; `nil` if the key had a flight, or if new flights are
    ///   refused.
    /// - Complexity: O(1).
    mutating func launch(_ key: Key, level: UInt8 = 0, _ payload: Payload) -> ID? {
        if let index = current.index(of: key) {
            flights[current[index].slot].isKept = true
            return nil
        }
        if isClosed { return nil }
        return add(Entry(serial: nextSerial, phase: .current, isKept: true, level: level), key, payload)
    }

    private mutating func enter(_ flight: Slot) -> Caller {
        let slot = waits.insert(Wait(serial: nextSerial, flight: flight))
        flights[flight].others.append(slot, in: &waits)
        callerCount += 1
        defer { nextSerial += 1 }
        return Caller(id: ID(serial: nextSerial, slot: slot))
    }

    /// Attaches the handle of the task that was created for a flight. Has no effect if the task has begun, and has
    /// attached itself, or if the flight has ended already.
    ///
    /// - Parameter level: The raw priority of the task.
    /// - Returns: The raw priority to which the task must be raised, because its flight was raised before this call; 0
    ///   if it has that priority already.
    mutating func attach(_ id: ID, _ job: Job, level: UInt8) -> UInt8 {
        guard isThere(id), flights[id.slot].job == nil else { return 0 }
        flights[id.slot].job = job
        let owed = flights[id.slot].level
        return owed > level ? owed : 0
    }

    /// Decides whether the task of a flight may run the operation: not if the flight was cancelled. Attaches the handle
    /// of the task, so that a cancellation by the operation itself reaches the task at once.
    ///
    /// - Parameters: `job`: the handle of the task; `level`: its raw priority.
    /// - Returns: The raw priority to which the task must be raised, as `attach` does; `nil` if the operation must not
    ///   run.
    mutating func begin(_ id: ID, _ job: Job, level: UInt8) -> UInt8? {
        guard isThere(id), flights[id.slot].phase != .cancelled else { return nil }
        return attach(id, job, level: level)
    }

    /// Returns whether a flight has the handle of its task.
    func hasJob(_ id: ID) -> Bool { isThere(id) && flights[id.slot].job != nil }

    // MARK: Waiting

    /// Stores the continuation of a caller until its wait ends. Returns the outcome with which the continuation must be
    /// resumed at once; `nil` if it was stored.
    mutating func park(_ caller: Caller, _ waiter: Waiter) -> WaitOutcome? {
        let id = caller.id
        if isThere(id) {
            let outcome = flights[id.slot].first.park(waiter)
            if outcome != nil { flights[id.slot].first = .settled(.reached) }
            return outcome
        }
        if waits.contains(id) { return waits.park(id, waiter) }
        // The flight has ended before its first caller has parked.
        if departed.isEmpty { return .reached }
        defer { departed.shrinkIfMostlyEmpty() }
        return departed.removeValue(forKey: id) ?? .reached
    }

    struct Leaving {
        /// Whether the caller has left now, and had not left before.
        var hasLeft = false
        /// The continuation of the caller that has left, to be resumed; `nil` if the caller has not parked.
        var waiter: Waiter?
        /// The flight that was cancelled, because it has no callers any more; `nil` if none was cancelled.
        var cancelled: ID?
        var cancelling: Job?
        /// The payload of the flight, to be released outside the lock.
        var payload: Payload?
    }

    /// Removes a caller. The last caller that leaves cancels the flight, unless the flight may continue without
    /// callers. Has no effect if the caller has left before, or if its flight has ended.
    ///
    /// - Parameter keepsFlight: Whether the flight continues without callers from now on, as after `launch`.
    /// - Complexity: O(1).
    mutating func leave(_ caller: Caller, keepsFlight: Bool = false) -> Leaving {
        var (leaving, flight) = (Leaving(), caller.id)
        if isThere(flight) {
            guard flights[flight.slot].first.isWaiting else { return leaving }
            leaving.waiter = settleFirst(of: flight.slot, with: .left)
        } else {
            guard waits.isWaiting(flight) else { return leaving }
            flight = flights.ticket(at: waits[flight.slot].flight)
            leaving.waiter = settle(caller.id.slot, of: flight.slot, with: .left)
        }
        leaving.hasLeft = true
        if keepsFlight { flights[flight.slot].isKept = true }
        if !flights[flight.slot].hasCallers, !runsToCompletion, !flights[flight.slot].isKept {
            cancel(flight, &leaving)
        }
        return leaving
    }

    /// Ends the keeping of a flight that `launch` has begun or kept: a flight without callers is cancelled now, and any
    /// other flight when its last caller leaves. Has no effect on a flight that callers can no longer join.
    ///
    /// - Complexity: O(1).
    mutating func release(_ id: ID) -> Leaving {
        var leaving = Leaving()
        guard isThere(id), flights[id.slot].phase == .current else { return leaving }
        flights[id.slot].isKept = false
        if !flights[id.slot].hasCallers, !runsToCompletion { cancel(id, &leaving) }
        return leaving
    }

    private mutating func cancel(_ id: ID, _ leaving: inout Leaving) {
        leaving.payload = unlink(id)
        leaving.cancelled = id
        leaving.cancelling = cancel(id)
    }

    /// Removes the caller at an index of `waits` from its flight, and gives its wait an outcome.
    ///
    /// - Returns: The continuation to resume; `nil` if the caller has not parked: it receives the outcome when it
    ///   parks.
    private mutating func settle(_ slot: Slot, of flight: Slot, with outcome: WaitOutcome) -> Waiter? {
        callerCount -= 1
        return waits.settle(slot, of: &flights[flight].others, with: outcome)
    }

    /// Gives the wait of a flight's first caller an outcome, unless it has one.
    ///
    /// - Returns: The continuation to resume; `nil` if the caller has not parked: it receives the outcome when it
    ///   parks.
    private mutating func settleFirst(of flight: Slot, with outcome: WaitOutcome) -> Waiter? {
        guard flights[flight].first.isWaiting else { return nil }
        callerCount -= 1
        let waiter = flights[flight].first.settle(with: outcome)
        if waiter != nil { flights[flight].first = .settled(.reached) }
        return waiter
    }

    /// Raises a flight to the raw priority of one of its callers.
    ///
    /// - Returns: The task that must be raised; `nil` if the flight has that priority already, has ended, or has no
    ///   task yet. In the last case, `attach` returns the priority.
    mutating func raise(_ id: ID, to level: UInt8) -> Job? {
        guard isThere(id), flights[id.slot].level < level else { return nil }
        flights[id.slot].level = level
        return flights[id.slot].job
    }

    /// Raises all flights that have not ended to the raw priority of a caller that waits for their end.
    ///
    /// - Returns: The tasks that must be raised. To flights without a task, `attach` returns the priority.
    /// - Complexity: O(*n*) in the number of flights.
    mutating func raiseAll(to level: UInt8) -> [Job] {
        (0..<flights.extent).filter { flights.isOccupied($0) }.compactMap { raise(flights.ticket(at: $0), to: level) }
    }

    // MARK: Ending

    struct Landing {
        /// The continuation of the first caller that has parked, in the order of joining; `nil` if none has. Separate
        /// from `others`, since most flights have one caller.
        let first: Waiter?
        let others: [Waiter]
        /// Whether the flight had no callers, so that no caller receives the result.
        let isUnheard: Bool
        let wasCancelled: Bool
        /// The payload of the flight, to be released outside the lock.
        let payload: Payload?
        /// The continuations of those that waited for the end of all flights, if this was the last one.
        let drained: [Waiter]
    }

    /// Ends a flight whose work has ended. Traps if the flight has ended before.
    ///
    /// - Complexity: O(*n*) in the number of the flight's callers.
    mutating func finish(_ id: ID) -> Landing {
        guard isThere(id) else { preconditionFailure("A flight ends once.") }
        let payload = unlink(id)
        let wasCancelled = flights[id.slot].phase == .cancelled
        if !wasCancelled { count -= 1 }
        let isUnheard = !flights[id.slot].hasCallers
        // Of a first caller that has not parked, only that it has left must be kept: see `park(_:_:)`.
        if case .settled(.left) = flights[id.slot].first { departed[id] = .left }
        let (first, others) = settleAll(of: id.slot, with: .reached)
        flights.discard(id.slot)
        if !forgotten.isEmpty, forgotten.removeValue(forKey: id.slot) != nil { forgotten.shrinkIfMostlyEmpty() }
        return Landing(
            first: first,
            others: others,
            isUnheard: isUnheard,
            wasCancelled: wasCancelled,
            payload: payload,
            drained: flights.count == 0 && drains.hasWaiting ? drains.wakeAll(with: .reached) : []
        )
    }

    /// Removes all callers of a flight, gives their waits an outcome, and returns the continuations of those that have
    /// parked, in the order of joining: the first one, and the others.
    private mutating func settleAll(of flight: Slot, with outcome: WaitOutcome) -> (first: Waiter?, others: [Waiter]) {
        var (first, others): (Waiter?, [Waiter]) = (settleFirst(of: flight, with: outcome), [])
        while !flights[flight].others.isEmpty {
            guard let waiter = settle(flights[flight].others.first, of: flight, with: outcome) else { continue }
            if first == nil { first = waiter } else { others.append(waiter) }
        }
        return (first, others)
    }

    /// Makes the next caller of a key begin a new flight. Callers of the old flight still receive its result.
    ///
    /// - Returns: The payload of the old flight, to be released outside the lock; `nil` if no flight has changed.
    mutating func forget(_ key: Key) -> Payload? {
        guard let index = current.index(of: key) else { return nil }
        return retire(flights.ticket(at: current[index].slot))
    }

    /// Makes the next caller of a key begin a new flight, because the result of the given flight will soon be
    /// available.
    ///
    /// - Returns: The payload of the old flight, to be released outside the lock; `nil` if no flight has changed.
    mutating func retire(_ id: ID) -> Payload? {
        guard isThere(id), let payload = unlink(id) else { return nil }
        flights[id.slot].phase = .forgotten
        forgotten[id.slot] = payload
        return payload
    }

    // MARK: Closing

    /// Refuses new flights from now on.
    mutating func close() { isClosed = true }

    typealias Drain = WaiterTable.ID

    /// Adds a waiter for the end of all flights, including cancelled flights and those that begin meanwhile.
    /// `park(_:_:)` must then be called with the returned ID.
    ///
    /// - Returns: The waiter; `nil` if there are no flights.
    mutating func drain() -> Drain? { flights.count == 0 ? nil : drains.enroll() }

    /// Stores the continuation of a waiter for the end of all flights. Returns the outcome with which the continuation
    /// must be resumed at once; `nil` if it was stored.
    mutating func park(_ drain: Drain, _ waiter: Waiter) -> WaitOutcome? { drains.park(drain, waiter) }

    /// Ends the wait of a waiter for the end of all flights, because it was cancelled.
    ///
    /// - Returns: The continuation, to be resumed; `nil` if the waiter has not parked, or waits no longer.
    mutating func leave(_ drain: Drain) -> Waiter? { drains.leave(drain, with: .left) }

    struct Clearing {
        var ids: [ID] = []
        var jobs: [Job] = []
        var waiters: [Waiter] = []
        /// The payloads of the flights in `ids`; `nil` for those without keys. The storage tells each the reason before it
        /// resumes the callers.
        var payloads: [Payload?] = []
        /// The flights that callers could still join, to be released outside the lock.
        var remains = KeyTable<Current>()
    }

    /// Cancels all flights, and ends the waits of their callers.
    ///
    /// - Complexity: O(*n*) in the number of flights and callers.
    mutating func cancelAll() -> Clearing {
        var clearing = Clearing()
        swap(&clearing.remains, &current)
        for slot in 0..<flights.extent where flights.isOccupied(slot) && flights[slot].phase != .cancelled {
            let id = flights.ticket(at: slot)
            let (first, others) = settleAll(of: slot, with: .left)
            if let first { clearing.waiters.append(first) }
            clearing.waiters += others
            clearing.ids.append(id)
            let isCurrent = flights[slot].phase == .current
            let payload = isCurrent ? clearing.remains[flights[slot].link].payload : forgotten[slot]
            clearing.payloads.append(payload)
            if let job = cancel(id) { clearing.jobs.append(job) }
        }
        return clearing
    }

    /// The tasks of the flights that were not cancelled, except those that are being created.
    ///
    /// - Complexity: O(*n*) in the number of flights.
    var jobs: [Job] {
        (0..<flights.extent).compactMap {
            flights.isOccupied($0) && flights[$0].phase != .cancelled ? flights[$0].job : nil
        }
    }

    /// Marks a flight as cancelled.
    ///
    /// - Returns: The handle of the flight's task, which must be cancelled outside the lock; `nil` if the task is not
    ///   attached yet: then it has not begun, and will not run the operation.
    private mutating func cancel(_ id: ID) -> Job? {
        flights[id.slot].phase = .cancelled
        count -= 1
        return flights[id.slot].job
    }

    /// Returns the task of a flight that was cancelled and has not ended; `nil` if there is none, or no task yet.
    func cancelledJob(of id: ID) -> Job? {
        isThere(id) && flights[id.slot].phase == .cancelled ? flights[id.slot].job : nil
    }

    /// Makes a flight one that callers cannot join.
    ///
    /// - Returns: Its payload, to be released outside the lock; `nil` if callers could not join it.
    private mutating func unlink(_ id: ID) -> Payload? {
        flights[id.slot].phase == .current ? current.remove(flights[id.slot].link).payload : nil
    }

    // MARK: Looking

    /// The capacity of the largest table or dictionary, as a measure of the memory that is allocated.
    var capacity: Int {
        max(flights.capacity, waits.capacity, current.capacity, forgotten.capacity, departed.capacity, drains.capacity)
    }

    /// Whether a caller waits for the end of all flights.
    var hasDrains: Bool { drains.hasWaiting }

    /// Returns whether a flight is in the machine: `true` until its work has ended, even after a cancellation.
    func isThere(_ id: ID) -> Bool { flights.contains(id) }

    /// The number of flights whose work has not ended, also of those that were cancelled.
    var unfinishedCount: Int { flights.count }
}

extension FlightStateMachine.Leaving: Sendable where Payload: Sendable {}

/// Functions for the tests of the state machine.
extension FlightStateMachine {
    /// Traps if an invariant does not hold.
    ///
    /// - Complexity: O(*n*²) in the number of flights and callers.
    func checkInvariants() {
        var (inTheAir, linked, callers) = (0, 0, 0)
        for slot in 0..<flights.extent where flights.isOccupied(slot) {
            let flight = flights[slot]
            if flight.phase != .cancelled { inTheAir += 1 }
            if flight.phase == .current { linked += 1 }
            precondition(!flight.hasCallers || flight.phase != .cancelled, "a cancelled flight has no callers")
            precondition(
                flight.hasCallers || flight.phase == .cancelled || runsToCompletion || flight.isKept,
                "a flight without callers is cancelled"
            )
            if flight.first.isWaiting { callers += 1 }
            flight.others.checkLinks(in: waits)
            for wait in flight.others.slots(in: waits) {
                precondition(waits[wait].flight == slot, "a caller is in the chain of its flight")
                precondition(waits[wait].parking.isWaiting, "a caller in the chain has not been settled")
                callers += 1
            }
        }
        for index in 0..<current.extent where current.isOccupied(index) {
            let flight = flights[current[index].slot]
            precondition(flight.phase == .current && flight.link == index, "a key leads to a current flight, and back")
            precondition(current.index(of: current[index].key) == index, "a flight is found by its key")
        }
        precondition(current.count == linked, "to each current flight leads one key")
        precondition(forgotten.keys.allSatisfy { flights.isOccupied($0) && flights[$0].phase != .current })
        precondition(count == inTheAir && callerCount == callers, "flights in progress and their callers are counted")
        precondition(flights.count > 0 || !hasDrains, "the end of the last flight ends the wait for it")
        precondition(departed.keys.allSatisfy { !isThere($0) }, "a flight has the waits of its callers until it ends")
    }
    /// The number of waits in the machine: those that have not ended, and those whose callers have not parked.
    var waitCount: Int {
        let firsts = (0..<flights.extent).count { slot in
            guard flights.isOccupied(slot) else { return false }
            if case .settled(.reached) = flights[slot].first { return false }
            return true
        }
        return waits.count + departed.count + firsts
    }
}
