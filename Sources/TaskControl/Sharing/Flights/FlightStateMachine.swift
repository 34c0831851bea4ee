/// The flights, and the callers that share them. Pure: no lock, task or foreign closure.
///
///     join ──▶ current ──forget──▶ forgotten          no caller joins it; its callers keep it
///                 │                    │
///                 ├── the last caller leaves, cancelAll ──▶ cancelled
///                 │                    │                        │
///                 └──────finish────────┴────────finish──────────┴──▶ (gone)      its callers are returned
///
/// A flight is there before its task is; `attach` brings the task's handle, and returns what it has missed. Callers are on the flight
/// from `join`, the step that shows them the flight, and may leave before they have parked.
///
/// Flights and callers are in two tables, and hold nothing that has to be retained: each call that ends one of them passes the key.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. An ID is a slot and a serial that is not used again before 2³⁸ others have been, so a late event finds nothing.
/// 2. A key leads to a flight that is current, and to each current flight leads one key.
/// 3. A cancelled flight is not current, and has no callers: no caller joins a cancelled flight.
/// 4. A flight without callers is cancelled, unless it runs to its completion or is kept.
/// 5. No flight waits for itself, whatever the number of flights in between.
struct FlightStateMachine<Key: Hashable, Payload, Waiter, Job> {
    typealias ID = Ticket

    /// A caller on a flight.
    struct Caller: Hashable, Sendable {
        fileprivate let id: ID
    }

    typealias Slot = SlotTable<Entry>.Index

    enum Phase: UInt8 {
        case current, forgotten, cancelled
    }

    struct Entry: Ticketed {
        let serial: UInt64
        var job: Job?
        var callers = Chain()
        var phase: Phase
        /// Whether the flight continues without callers.
        var isKept = false
        /// The priority that it has, or has been raised to for the sake of a caller.
        var level: UInt8
    }

    /// A caller is in the chain of its flight until it is settled.
    struct Wait: WaiterEntry {
        let serial: UInt64
        let flight: Slot
        var links = Links()
        var parking = Parking<Waiter, WaitOutcome>.expected
    }

    let runsToCompletion: Bool

    private(set) var flights = SlotTable<Entry>()
    private(set) var waits = SlotTable<Wait>()
    private var current: [Key: (slot: Slot, payload: Payload)] = [:]
    /// The waits of flights for each other, and the callers inside them that wait.
    private var nesting = FlightNesting<ID>()
    /// The causes of the flights that were cancelled before `attach`. Apart from the entries, since few flights are.
    private(set) var causes: [ID: CancellationCause] = [:]
    /// The number of flights in progress: those that have not ended, and are not cancelled.
    private(set) var count = 0
    /// The number of callers that wait for flights.
    private(set) var callerCount = 0
    private var nextSerial: UInt64 = 0

    init(runsToCompletion: Bool) {
        self.runsToCompletion = runsToCompletion
    }

    // MARK: Coming

    enum Joining {
        /// A new flight, for which the caller must create the task.
        case begun(Caller, ID)
        /// The present flight, which the caller has joined, with its priority.
        case joined(Caller, Payload, level: UInt8)
        /// The caller would wait for itself.
        case reentrant
        /// There is no flight to join, and no payload for a new one.
        case absent
    }

    /// Adds a caller that asks for the work of a key.
    ///
    /// - Parameters:
    ///   - key: The key; `nil` for work that no other caller joins.
    ///   - origins: The flights that the caller is inside of, the innermost last.
    ///   - level: The priority that the task of a new flight will have.
    ///   - payload: The payload of a new flight; `nil`: only a present flight is joined.
    /// - Complexity: O(1); with `origins`, O(*n*) in the number of flights that wait for each other.
    mutating func join(
        _ key: Key?,
        inside origins: [ID] = [],
        level: UInt8 = 0,
        _ payload: Payload?
    ) -> Joining {
        let origins = origins.isEmpty ? origins : origins.filter(isThere)
        if let key, let (slot, payload) = current[key] {
            let id = flights.ticket(at: slot)
            guard origins.isEmpty || !nesting.leads(from: id, to: origins) else { return .reentrant }
            return .joined(enter(id, from: origins.last), payload, level: flights[slot].level)
        }
        guard let payload else { return .absent }
        let phase: Phase = key == nil ? .forgotten : .current
        let id = ID(serial: nextSerial, slot: flights.insert(Entry(serial: nextSerial, phase: phase, level: level)))
        nextSerial += 1
        count += 1
        if let key { current[key] = (id.slot, payload) }
        return .begun(enter(id, from: origins.last), id)
    }

    /// Begins the flight of a key without a caller, or keeps the present flight: it continues without callers.
    ///
    /// - Returns: The new flight, for which the caller must create the task; `nil` if there is one.
    /// - Complexity: O(1).
    mutating func launch(_ key: Key, level: UInt8 = 0, _ payload: Payload) -> ID? {
        if let slot = current[key]?.slot {
            flights[slot].isKept = true
            return nil
        }
        let entry = Entry(serial: nextSerial, phase: .current, isKept: true, level: level)
        let id = ID(serial: nextSerial, slot: flights.insert(entry))
        nextSerial += 1
        count += 1
        current[key] = (id.slot, payload)
        return id
    }

    private mutating func enter(_ id: ID, from origin: ID?) -> Caller {
        let slot = waits.insert(Wait(serial: nextSerial, flight: id.slot))
        flights[id.slot].callers.append(slot, in: &waits)
        callerCount += 1
        let caller = Caller(id: ID(serial: nextSerial, slot: slot))
        nextSerial += 1
        if let origin { nesting.insert(from: origin, to: id, by: caller.id) }
        return caller
    }

    struct Attachment {
        /// The cause of the flight's cancellation, if it was cancelled before its task was there.
        var cause: CancellationCause?
        /// The priority to raise the task to; 0: none.
        var level: UInt8 = 0

        var isCancelled: Bool { cause != nil }
    }

    /// Attaches the handle of the task that has been created for a flight, or does nothing if the flight has ended already.
    ///
    /// - Parameter level: The priority of the task.
    mutating func attach(_ id: ID, _ job: Job, level: UInt8) -> Attachment {
        guard isThere(id) else { return Attachment() }
        flights[id.slot].job = job
        let owed = flights[id.slot].level
        return Attachment(cause: takeCause(of: id), level: owed > level ? owed : 0)
    }

    /// Returns whether the work of a flight whose task has begun may begin: not if the flight was cancelled.
    func mayBegin(_ id: ID) -> Bool { isThere(id) && flights[id.slot].phase != .cancelled }

    // MARK: Waiting

    /// Parks the waiter of a caller, or returns the result with which the waiter must be resumed at once.
    mutating func park(_ caller: Caller, _ waiter: Waiter) -> WaitOutcome? {
        waits.park(caller.id, waiter)
    }

    struct Leaving {
        /// The waiter of the caller that has left, if it was parked.
        var waiter: Waiter?
        /// The flight that was cancelled, since the caller was the last.
        var cancelled: ID?
        var cancelling: Job?
        /// The payload of the flight, to be released outside the lock.
        var payload: Payload?
    }

    /// Removes a caller. The last caller that leaves cancels the flight. A second report, or a late report, has no effect.
    ///
    /// - Parameter key: The key of the flight.
    /// - Complexity: O(1).
    mutating func leave(_ caller: Caller, of key: Key?) -> Leaving {
        guard waits.isWaiting(caller.id) else { return Leaving() }
        let id = flights.ticket(at: waits[caller.id.slot].flight)
        if !nesting.isEmpty { nesting.remove(to: id, by: caller.id) }
        var leaving = Leaving(waiter: settle(caller.id.slot, of: id, with: .left))
        if flights[id.slot].callers.isEmpty, !runsToCompletion, !flights[id.slot].isKept {
            leaving.payload = unlink(id, key)
            leaving.cancelled = id
            leaving.cancelling = cancel(id, because: .lastCallerLeft)
        }
        return leaving
    }

    /// Ends the keeping of a flight: without callers, the flight is cancelled. Has no effect on a flight that no caller can join.
    ///
    /// - Parameter key: The key of the flight.
    /// - Complexity: O(1).
    mutating func release(_ id: ID, of key: Key, because cause: CancellationCause) -> Leaving {
        guard isThere(id), flights[id.slot].phase == .current else { return Leaving() }
        flights[id.slot].isKept = false
        guard flights[id.slot].callers.isEmpty, !runsToCompletion else { return Leaving() }
        var leaving = Leaving(cancelled: id, payload: unlink(id, key))
        leaving.cancelling = cancel(id, because: cause)
        return leaving
    }

    // MARK: Waiting for another flight

    /// Adds a wait of the work of a flight for another flight, without making it one of the callers of the other flight.
    ///
    /// - Returns: Whether the work may wait: not if the other flight waits for this flight.
    mutating func wait(_ id: ID, behind other: ID) -> Bool {
        guard isThere(id), isThere(other) else { return true }
        if nesting.leads(from: other, to: [id]) { return false }
        nesting.insert(from: id, to: other, by: id)
        return true
    }

    /// Removes a wait of the work of a flight for another flight.
    mutating func stopWaiting(_ id: ID, behind other: ID) {
        if !nesting.isEmpty { nesting.remove(to: other, by: id) }
    }

    /// Takes a caller off its flight.
    ///
    /// - Returns: The waiter, if it is parked.
    private mutating func settle(_ slot: Slot, of id: ID, with outcome: WaitOutcome) -> Waiter? {
        callerCount -= 1
        return waits.settle(slot, of: &flights[id.slot].callers, with: outcome)
    }

    /// Raises the flight of a caller that has been raised, and returns the task that must be raised to that priority.
    mutating func raise(_ id: ID, to level: UInt8) -> Job? {
        guard isThere(id), flights[id.slot].level < level else { return nil }
        flights[id.slot].level = level
        return flights[id.slot].job
    }

    // MARK: Ending

    struct Landing {
        /// The parked callers of the flight, in the order of joining; the first by itself, since most often there is no other.
        let first: Waiter?
        let others: [Waiter]
        /// Whether no caller was there to receive its result.
        let isUnheard: Bool
        let wasCancelled: Bool
        /// The payload of the flight, to be released outside the lock.
        let payload: Payload?
    }

    /// Ends a flight whose work has ended.
    ///
    /// - Parameter key: The key of the flight.
    /// - Complexity: O(*n*) in the number of the flight's callers.
    mutating func finish(_ id: ID, of key: Key?) -> Landing {
        guard isThere(id) else { preconditionFailure("A flight ends once.") }
        let payload = unlink(id, key)
        let wasCancelled = flights[id.slot].phase == .cancelled
        if !wasCancelled { count -= 1 }
        let isUnheard = flights[id.slot].callers.isEmpty
        let (first, others) = settleAll(of: id, with: .reached)
        if !nesting.isEmpty { nesting.removeAll(of: id) }
        _ = takeCause(of: id)
        flights.discard(id.slot)
        return Landing(
            first: first,
            others: others,
            isUnheard: isUnheard,
            wasCancelled: wasCancelled,
            payload: payload
        )
    }

    /// Removes all callers of a flight, and returns the parked callers in the order of joining.
    private mutating func settleAll(of id: ID, with outcome: WaitOutcome) -> (first: Waiter?, others: [Waiter]) {
        var (first, others): (Waiter?, [Waiter]) = (nil, [])
        while !flights[id.slot].callers.isEmpty {
            guard let waiter = settle(flights[id.slot].callers.first, of: id, with: outcome) else { continue }
            if first == nil { first = waiter } else { others.append(waiter) }
        }
        return (first, others)
    }

    /// Lets the next caller of a key begin a new flight. Callers on the old flight stay on it.
    ///
    /// - Returns: The payload of the flight, to be released outside the lock.
    mutating func forget(_ key: Key) -> Payload? {
        guard let (slot, payload) = current.removeValue(forKey: key) else { return nil }
        flights[slot].phase = .forgotten
        current.shrinkIfMostlyEmpty()
        return payload
    }

    /// Lets the next caller of a key begin a new flight, since the result of the present flight will soon be available.
    ///
    /// - Returns: The payload of the flight, to be released outside the lock.
    mutating func retire(_ id: ID, of key: Key) -> Payload? {
        guard isThere(id), let payload = unlink(id, key) else { return nil }
        flights[id.slot].phase = .forgotten
        return payload
    }

    struct Clearing {
        var ids: [ID] = []
        var jobs: [Job] = []
        var waiters: [Waiter] = []
        /// The payloads of the flights, to be released outside the lock.
        var remains: [Key: (slot: Slot, payload: Payload)] = [:]
    }

    /// Cancels all flights. Their callers leave.
    ///
    /// - Complexity: O(*n*) in the number of flights and callers.
    mutating func cancelAll(because cause: CancellationCause) -> Clearing {
        var clearing = Clearing()
        swap(&clearing.remains, &current)
        for slot in 0..<flights.extent where flights.isOccupied(slot) && flights[slot].phase != .cancelled {
            let id = flights.ticket(at: slot)
            let (first, others) = settleAll(of: id, with: .left)
            if let first { clearing.waiters.append(first) }
            clearing.waiters += others
            nesting.removeAll(to: id)
            clearing.ids.append(id)
            if let job = cancel(id, because: cause) { clearing.jobs.append(job) }
        }
        return clearing
    }

    /// Marks a flight as cancelled, and returns its job, which the storage cancels; `nil`: `attach` returns the cause.
    private mutating func cancel(_ id: ID, because cause: CancellationCause) -> Job? {
        flights[id.slot].phase = .cancelled
        count -= 1
        guard let job = flights[id.slot].job else {
            causes[id] = cause
            return nil
        }
        return job
    }

    private mutating func takeCause(of id: ID) -> CancellationCause? {
        if causes.isEmpty { return nil }
        defer { causes.shrinkIfMostlyEmpty() }
        return causes.removeValue(forKey: id)
    }

    private mutating func unlink(_ id: ID, _ key: Key?) -> Payload? {
        guard let key, flights[id.slot].phase == .current else { return nil }
        defer { current.shrinkIfMostlyEmpty() }
        return current.removeValue(forKey: key)?.payload
    }

    // MARK: Looking

    /// The number of flights, callers or keys for which memory is allocated.
    var capacity: Int { max(flights.capacity, waits.capacity, current.capacity, nesting.capacity, causes.capacity) }

    /// Returns whether a flight has not ended.
    func isThere(_ id: ID) -> Bool { flights.contains(id) }
}

extension FlightStateMachine.Leaving: Sendable where Key: Sendable, Payload: Sendable, Waiter: Sendable, Job: Sendable {
}

extension FlightStateMachine {
    /// Traps if an invariant does not hold. O(*n*²).
    func checkInvariants() {
        var (inTheAir, linked, callers) = (0, 0, 0)
        for slot in 0..<flights.extent where flights.isOccupied(slot) {
            let flight = flights[slot]
            if flight.phase != .cancelled { inTheAir += 1 }
            if flight.phase == .current { linked += 1 }
            precondition(flight.callers.isEmpty || flight.phase != .cancelled, "a cancelled flight has no callers")
            precondition(
                !flight.callers.isEmpty || flight.phase == .cancelled || runsToCompletion || flight.isKept,
                "a flight without callers is cancelled"
            )
            flight.callers.checkLinks(in: waits)
            for wait in flight.callers.slots(in: waits) {
                precondition(waits[wait].flight == slot, "a caller is in the chain of its flight")
                precondition(waits[wait].parking.isWaiting, "a caller in the chain has not been settled")
                callers += 1
            }
        }
        let areCurrent = current.values.allSatisfy { flights[$0.slot].phase == .current }
        precondition(areCurrent, "a key leads to a current flight")
        precondition(current.count == linked, "to each current flight leads one key")
        precondition(count == inTheAir && callerCount == callers, "flights in progress and their callers are counted")
        let areMissing = causes.keys.allSatisfy { isThere($0) && flights[$0.slot].phase == .cancelled }
        precondition(areMissing, "a cause is of a cancelled flight that has not ended")
        precondition(causes.keys.allSatisfy { flights[$0.slot].job == nil }, "a flight with a task has its cause")
        precondition(!nesting.isCircular, "no flight waits for itself")
        precondition(nesting.flights.allSatisfy(isThere), "a flight that has ended neither waits nor is waited for")
    }
}
