/// Who shares which work. Pure: no lock, task or closure of others.
///
///     join ──▶ current ──forget──▶ forgotten          nobody new joins it; who is there keeps it
///                 │                    │
///                 ├── the last caller leaves, cancelAll ──▶ cancelled
///                 │                    │                        │
///                 └──────finish────────┴────────finish──────────┴──▶ (gone)      its callers are handed out
///
/// A flight is there before its task is (law 2); `attach` brings the task's handle, and is told what was missed. Its callers enroll with
/// `join`, in the step that shows them the flight, and may leave before they have parked.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. An ID is a slot and a serial that is never used again, so a late event finds nothing (law 3).
/// 2. The flight that a key leads to has that key, and is current; a current flight is the one that its key leads to.
/// 3. A cancelled flight is not current, and has no callers: nobody joins a flight that is dying (law 7).
/// 4. A flight without callers is cancelled, unless it is to run to its completion.
/// 5. No flight waits for itself, whatever the number of flights in between.
struct FlightStateMachine<Key: Hashable, Payload, Waiter, Job> {
    typealias Slot = SlotTable<Flight>.Index

    struct ID: Hashable, Sendable {
        let serial: UInt64
        let slot: Slot
    }

    struct Caller: Hashable, Sendable {
        let flight: ID
        fileprivate let waiter: WaiterTable<Waiter, WaitOutcome>.ID
        /// The flight inside which it asked.
        fileprivate let origin: ID?
    }

    enum Phase: UInt8 {
        case current, forgotten, cancelled
    }

    struct Flight {
        let serial: UInt64
        /// `nil`: it is not shared.
        let key: Key?
        /// Where its result will be.
        let payload: Payload
        var job: Job?
        var callers = WaiterTable<Waiter, WaitOutcome>()
        var callerCount = 0
        var phase: Phase
        /// The priority that it has, or has been raised to for the sake of a caller.
        var level: UInt8
        /// The flights that callers inside this one wait for.
        var waitsFor: [ID] = []
        /// Where those callers asked who were inside a flight.
        var awaitedBy: [ID] = []
    }

    let runsToCompletion: Bool

    private(set) var flights = SlotTable<Flight>()
    private var current: [Key: Slot] = [:]
    /// How many are in the air: have not ended, and are not cancelled.
    private(set) var count = 0
    private var nextSerial: UInt64 = 0

    init(runsToCompletion: Bool) {
        self.runsToCompletion = runsToCompletion
    }

    // MARK: Coming

    enum Joining {
        /// There is a new flight. The caller goes on to make its task.
        case begun(Caller, Payload)
        case joined(Caller, Payload)
        /// It would wait for itself.
        case reentrant
    }

    /// Somebody asks for a key's work.
    ///
    /// - Parameters:
    ///   - key: `nil`: for work of its own.
    ///   - origins: The flights that the caller is inside of, the innermost last.
    ///   - level: The priority that the task of a new flight will have.
    ///   - payload: For a new flight.
    /// - Complexity: O(1); with `origins`, O(*n*) in the number of flights that wait for each other.
    mutating func join(_ key: Key?, inside origins: [ID] = [], level: UInt8 = 0, _ payload: () -> Payload) -> Joining {
        let origins = origins.filter(isThere)
        if let key, let slot = current[key] {
            let id = ID(serial: flights[slot].serial, slot: slot)
            guard !waits(id, for: origins) else { return .reentrant }
            return .joined(enroll(in: id, from: origins.last), flights[slot].payload)
        }
        let payload = payload()
        let phase: Phase = key == nil ? .forgotten : .current
        let flight = Flight(serial: nextSerial, key: key, payload: payload, phase: phase, level: level)
        let slot = flights.insert(flight)
        let id = ID(serial: nextSerial, slot: slot)
        nextSerial += 1
        count += 1
        if let key { current[key] = slot }
        return .begun(enroll(in: id, from: origins.last), payload)
    }

    private mutating func enroll(in id: ID, from origin: ID?) -> Caller {
        flights[id.slot].callerCount += 1
        if let origin {
            flights[origin.slot].waitsFor.append(id)
            flights[id.slot].awaitedBy.append(origin)
        }
        return Caller(flight: id, waiter: flights[id.slot].callers.enroll(), origin: origin)
    }

    private func waits(_ id: ID, for origins: [ID]) -> Bool {
        guard !origins.isEmpty else { return false }
        var (seen, open): (Set<ID>, [ID]) = ([], [id])
        while let next = open.popLast() {
            if origins.contains(next) { return true }
            if isThere(next), seen.insert(next).inserted { open += flights[next.slot].waitsFor }
        }
        return false
    }

    struct Attachment {
        /// It was cancelled before its task was there.
        var isCancelled = false
        /// What it is to be raised to; 0: nothing.
        var level: UInt8 = 0
    }

    /// Brings the handle of the task that has been made for a flight, or does nothing if that has ended already.
    mutating func attach(_ id: ID, _ job: Job) -> Attachment {
        guard isThere(id) else { return Attachment() }
        flights[id.slot].job = job
        return Attachment(isCancelled: flights[id.slot].phase == .cancelled, level: flights[id.slot].level)
    }

    // MARK: Waiting

    /// - Returns: With what the waiter is to be resumed at once.
    mutating func park(_ caller: Caller, _ waiter: Waiter) -> WaitOutcome? {
        // What has ended has its result: that counts, also for one who was about to leave.
        guard isThere(caller.flight) else { return .reached }
        return flights[caller.flight.slot].callers.park(caller.waiter, waiter)
    }

    struct Leaving {
        /// The one that has left, if it was parked.
        var waiter: Waiter?
        /// It was the last.
        var cancelling: Job?
    }

    /// A caller leaves. The last one takes the flight along. A second report, or a late one, finds nothing.
    ///
    /// - Complexity: O(1), and O(*n*) in the number of flights that its own flight waits for.
    mutating func leave(_ caller: Caller) -> Leaving {
        let id = caller.flight
        guard isThere(id), flights[id.slot].callers.isWaiting(caller.waiter) else { return Leaving() }
        var leaving = Leaving(waiter: flights[id.slot].callers.leave(caller.waiter, with: .left))
        flights[id.slot].callerCount -= 1
        if let origin = caller.origin {
            Self.removeOne(origin, from: &flights[id.slot].awaitedBy)
            if isThere(origin) { Self.removeOne(id, from: &flights[origin.slot].waitsFor) }
        }
        if flights[id.slot].callerCount == 0, !runsToCompletion { leaving.cancelling = cancel(id) }
        return leaving
    }

    // Static: a copy of the machine, kept for the call, would make the change copy what is in it.
    private static func removeOne(_ id: ID, from ids: inout [ID]) {
        if let index = ids.firstIndex(of: id) { ids.remove(at: index) }
    }

    /// A caller has been raised. So is its flight.
    ///
    /// - Returns: What is to be raised to that.
    mutating func raise(_ id: ID, to level: UInt8) -> Job? {
        guard isThere(id), flights[id.slot].level < level else { return nil }
        flights[id.slot].level = level
        return flights[id.slot].job
    }

    // MARK: Ending

    struct Landing {
        let waiters: [Waiter]
        /// Nobody was there to receive its result.
        let isUnheard: Bool
        /// What the table had of it, to be let go outside.
        let remains: Flight
    }

    /// The work of a flight has ended.
    ///
    /// - Complexity: O(*n*) in the number of its callers.
    mutating func finish(_ id: ID) -> Landing {
        guard isThere(id) else { preconditionFailure("A flight ends once.") }
        unlink(id)
        if flights[id.slot].phase != .cancelled { count -= 1 }
        var flight = flights.remove(id.slot)
        let waiters = flight.callers.wakeAll(with: .reached)
        for origin in flight.awaitedBy where isThere(origin) {
            Self.removeOne(id, from: &flights[origin.slot].waitsFor)
        }
        return Landing(waiters: waiters, isUnheard: flight.callerCount == 0, remains: flight)
    }

    /// Lets the next caller of a key begin a flight of its own. Who is there keeps the old one.
    mutating func forget(_ key: Key) {
        guard let slot = current[key] else { return }
        unlink(ID(serial: flights[slot].serial, slot: slot))
        flights[slot].phase = .forgotten
    }

    /// Cancels everything. The callers leave.
    ///
    /// - Complexity: O(*n*) in the number of flights and callers.
    mutating func cancelAll() -> (jobs: [Job], waiters: [Waiter]) {
        var (jobs, waiters): ([Job], [Waiter]) = ([], [])
        for slot in 0..<flights.extent where flights.isOccupied(slot) && flights[slot].phase != .cancelled {
            let id = ID(serial: flights[slot].serial, slot: slot)
            waiters += flights[slot].callers.wakeAll(with: .left)
            for origin in flights[slot].awaitedBy where isThere(origin) {
                Self.removeOne(id, from: &flights[origin.slot].waitsFor)
            }
            flights[slot].awaitedBy = []
            flights[slot].callerCount = 0
            if let job = cancel(id) { jobs.append(job) }
        }
        return (jobs, waiters)
    }

    private mutating func cancel(_ id: ID) -> Job? {
        unlink(id)
        flights[id.slot].phase = .cancelled
        count -= 1
        return flights[id.slot].job
    }

    private mutating func unlink(_ id: ID) {
        guard flights[id.slot].phase == .current, let key = flights[id.slot].key else { return }
        current[key] = nil
    }

    // MARK: Looking

    /// How many wait for flights.
    ///
    /// - Complexity: O(*n*) in the number of flights.
    var callerCount: Int {
        (0..<flights.extent).reduce(0) { $0 + (flights.isOccupied($1) ? flights[$1].callerCount : 0) }
    }

    /// Whether it has not ended.
    func isThere(_ id: ID) -> Bool {
        flights.isOccupied(id.slot) && flights[id.slot].serial == id.serial
    }
}

extension FlightStateMachine {
    /// Traps if an invariant does not hold. O(*n*²).
    func checkInvariants() {
        var (inTheAir, linked) = (0, 0)
        for slot in 0..<flights.extent where flights.isOccupied(slot) {
            let flight = flights[slot]
            let id = ID(serial: flight.serial, slot: slot)
            if flight.phase != .cancelled { inTheAir += 1 }
            if flight.phase == .current {
                linked += 1
                precondition(flight.key.map { current[$0] == slot } ?? false, "a current flight is found by its key")
            }
            if flight.phase == .cancelled { precondition(flight.callerCount == 0, "nobody is on a cancelled flight") }
            precondition(
                flight.callerCount > 0 || flight.phase == .cancelled || runsToCompletion,
                "a flight that nobody waits for is cancelled"
            )
            precondition(!flight.waitsFor.contains { waits($0, for: [id]) }, "no flight waits for itself")
            for other in flight.waitsFor where isThere(other) {
                precondition(flights[other.slot].awaitedBy.contains(id), "both sides know who waits for whom")
            }
        }
        precondition(count == inTheAir, "what is in the air is counted")
        precondition(current.count == linked, "a key leads to a current flight")
    }
}
