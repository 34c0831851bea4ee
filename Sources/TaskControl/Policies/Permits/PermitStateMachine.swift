/// The permits that are taken, and the line of callers that wait for permits. Pure: no lock, task or closure.
///
///     acquire ──▶ granted                                     there are enough, and no caller waits
///        │
///        └──▶ enrolled ──park──▶ parked ──grant──▶ granted    the waiter is returned
///                 │                 │
///                 │                 └──leave──▶ (gone)        the waiter is returned
///                 ├──grant──▶ park says so
///                 └──leave──▶ park says so
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. The available permits and the taken ones add up to the size. After `resize`, less than none may be available.
/// 2. Callers are served in the order of their calls: if the first in line wants more permits than are available, the others wait for it.
/// 3. No caller waits for available permits: the first in line wants more than are available.
package struct PermitStateMachine<Waiter> {
    package struct ID: Hashable, Sendable {
        fileprivate let ticket: Ticket
    }

    private struct Request: WaiterEntry {
        let serial: UInt64
        let weight: Int
        var links = Links()
        var parking = Parking<Waiter, WaitOutcome>.expected
    }

    /// The number of permits.
    package private(set) var size: Int
    /// The number of available permits. Negative if more are taken than there are, after `resize`.
    package private(set) var available: Int
    private var requests = SlotTable<Request>()
    /// The requests that have neither been granted nor left, in the order of the calls.
    private var line = Chain()
    /// The number of waiting requests.
    package private(set) var waiterCount = 0
    private var nextSerial: UInt64 = 0

    package init(size: Int) {
        self.size = size
        available = size
    }

    /// The permits were lent to callers that take and return them without the machine. Only while no caller waits.
    ///
    /// - Parameter available: The number of permits that are left.
    mutating func takeBack(_ available: Int) {
        precondition(line.isEmpty, "The permits are lent only while no caller waits.")
        self.available = available
    }

    /// Takes permits if they are available, and no caller is in line for them.
    ///
    /// - Complexity: O(1).
    @inline(__always)
    package mutating func tryAcquire(_ weight: Int) -> Bool {
        guard weight <= available, line.isEmpty else { return false }
        available -= weight
        return true
    }

    /// - Returns: `nil`: the permits are taken. Otherwise the caller must park.
    /// - Complexity: O(1).
    @inline(__always)
    package mutating func acquire(_ weight: Int) -> ID? {
        tryAcquire(weight) ? nil : enroll(weight)
    }

    private mutating func enroll(_ weight: Int) -> ID {
        let slot = requests.insert(Request(serial: nextSerial, weight: weight))
        nextSerial += 1
        line.append(slot, in: &requests)
        waiterCount += 1
        return ID(ticket: requests.ticket(at: slot))
    }

    /// - Returns: The result with which the waiter must be resumed at once.
    package mutating func park(_ id: ID, _ waiter: Waiter) -> WaitOutcome? {
        requests.park(id.ticket, waiter)
    }

    package enum ReleaseAction {
        case done
        /// Callers in line have their permits now.
        case granted([Waiter])
        /// More permits are released than were taken.
        case refuse
    }

    /// Releases permits.
    ///
    /// - Complexity: O(*n*) in the number of callers that receive permits.
    @inline(__always)
    package mutating func release(_ weight: Int) -> ReleaseAction {
        guard weight <= size - available else { return .refuse }
        available += weight
        return line.isEmpty ? .done : .granted(grant())
    }

    package struct Leaving {
        /// The waiter that has left, if it was parked.
        package var waiter: Waiter?
        /// The callers that waited only behind the one that left, and now have their permits.
        package var granted: [Waiter] = []
    }

    /// Leaves the line; has no effect for a request that has been granted.
    ///
    /// - Complexity: O(1), and O(*n*) in the number of callers that receive permits.
    package mutating func leave(_ id: ID) -> Leaving {
        guard requests.isWaiting(id.ticket) else { return Leaving() }
        return Leaving(waiter: settle(id.ticket.slot, with: .left), granted: grant())
    }

    /// Changes the number of permits. If more are taken, callers receive permits when enough of them are released.
    ///
    /// - Returns: The waiters that have their permits now.
    /// - Complexity: O(*n*) in the number of these waiters.
    package mutating func resize(to size: Int) -> [Waiter] {
        available += size - self.size
        self.size = size
        return line.isEmpty ? [] : grant()
    }

    private mutating func settle(_ slot: Chain.Slot, with outcome: WaitOutcome) -> Waiter? {
        waiterCount -= 1
        return requests.settle(slot, of: &line, with: outcome)
    }

    private mutating func grant() -> [Waiter] {
        var granted: [Waiter] = []
        while !line.isEmpty, requests[line.first].weight <= available {
            available -= requests[line.first].weight
            if let waiter = settle(line.first, with: .reached) { granted.append(waiter) }
        }
        return granted
    }
}

extension PermitStateMachine {
    /// Traps if an invariant does not hold.
    package func checkInvariants() {
        precondition(available <= size, "no more permits are available than there are")
        line.checkLinks(in: requests)
        let waiting = line.slots(in: requests)
        if let first = waiting.first {
            precondition(requests[first].weight > available, "no request waits for permits that are available")
        }
        precondition(waiting.count == waiterCount, "the requests in line are counted")
        precondition(waiting.allSatisfy { requests[$0].parking.isWaiting }, "a request in line has not been settled")
    }
}

extension PermitStateMachine.ReleaseAction: Sendable where Waiter: Sendable {}
