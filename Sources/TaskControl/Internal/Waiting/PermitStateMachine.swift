/// The state of a semaphore: the number of available permits, and the line of callers that wait for permits. A pure
/// value, without a lock, task or closure.
///
/// The diagram shows the states of a request. A request is *enrolled* when it must wait, and *parked* when the
/// continuation of its caller, the waiter, is stored.
///
///     acquire ──▶ granted                                     there are enough, and no caller waits
///        │
///        └──▶ enrolled ──park──▶ parked ──grant──▶ granted    the waiter is returned
///                 │                 │
///                 │                 └──leave──▶ left          the waiter is returned
///                 ├──grant──▶ granted                         park returns the outcome
///                 └──leave──▶ left                            park returns the outcome
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. The available permits and the taken ones add up to the size. After `resize(to:)`, the number of available permits
///    may be negative.
/// 2. Callers are served in the order of their calls: if the first in line wants more permits than are available, the
///    others wait for it.
/// 3. No caller waits for available permits: the first in line wants more than are available.
package struct PermitStateMachine {
    /// The continuation of a caller that waits.
    package typealias Waiter = Word

    package struct ID: Hashable, Sendable {
        fileprivate let ticket: Ticket
    }

    private struct Request: WaiterEntry {
        let serial: UInt64
        let weight: Int
        var links = Links()
        var parking = Parking.expected
    }

    /// The number of permits, available or taken.
    package private(set) var size: Int
    /// The number of available permits. Negative if `resize(to:)` has made the number of permits smaller than the
    /// number of taken ones.
    package private(set) var available: Int
    private var requests = SlotTable<Request>()
    /// The waiting requests, which are neither granted nor cancelled, in the order of the calls.
    private var line = Chain()
    /// The number of waiting requests.
    package private(set) var waiterCount = 0
    private var nextSerial: UInt64 = 0

    package init(size: Int) {
        self.size = size
        available = size
    }

    /// Sets the number of available permits, after callers have taken and released permits through ``PermitStorage``
    /// without this machine. Must be called only while no caller waits.
    ///
    /// - Parameter available: The number of permits that are available now.
    mutating func takeBack(_ available: Int) {
        precondition(line.isEmpty, "The permits are lent only while no caller waits.")
        self.available = available
    }

    /// Takes permits if they are available and no caller waits.
    ///
    /// - Parameter weight: The number of permits to take.
    /// - Returns: Whether this call has taken the permits.
    /// - Complexity: O(1).
    @inline(__always)
    package mutating func tryAcquire(_ weight: Int) -> Bool {
        guard weight <= available, line.isEmpty else { return false }
        available -= weight
        return true
    }

    /// Takes permits if they are available and no caller waits, and otherwise appends a request to the line.
    ///
    /// - Parameter weight: The number of permits to take.
    /// - Returns: The ID of the waiting request, for which the caller must then call `park(_:_:)`; `nil` if this call
    ///   has taken the permits.
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

    /// Stores the continuation of a waiting request.
    ///
    /// - Returns: The outcome with which the continuation must be resumed at once, because the request was granted or
    ///   cancelled before; `nil` if the caller must wait.
    package mutating func park(_ id: ID, _ waiter: Waiter) -> WaitOutcome? {
        requests.park(id.ticket, waiter)
    }

    package enum ReleaseAction: Sendable {
        case done
        /// The permits were released. The given waiters, which waited for permits, now have them, and must be resumed.
        case granted([Waiter])
        /// The permits were not released, because more are released than were taken.
        case refuse
    }

    /// Releases permits, and grants them to waiting callers.
    ///
    /// - Parameter weight: The number of permits to release.
    /// - Complexity: O(*n*) in the number of callers that receive permits.
    @inline(__always)
    package mutating func release(_ weight: Int) -> ReleaseAction {
        guard weight <= size - available else { return .refuse }
        available += weight
        return line.isEmpty ? .done : .granted(grant())
    }

    package struct Leaving {
        /// The continuation of the removed request, which must be resumed; `nil` if it has not been stored, or if no
        /// request was removed.
        package var waiter: Waiter?
        /// The continuations of the requests that were granted because of the removal. They must be resumed.
        package var granted: [Waiter] = []
    }

    /// Removes a waiting request from the line, because its caller was cancelled. Has no effect for a request that has
    /// been granted.
    ///
    /// - Returns: The continuations that must be resumed.
    /// - Complexity: O(1), and O(*n*) in the number of callers that receive permits.
    package mutating func leave(_ id: ID) -> Leaving {
        guard requests.isWaiting(id.ticket) else { return Leaving() }
        return Leaving(waiter: settle(id.ticket.slot, with: .left), granted: grant())
    }

    /// Changes the number of permits. If more permits are taken than the new number, no caller receives permits until
    /// enough of them are released.
    ///
    /// - Returns: The waiters that now have their permits, and must be resumed.
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
    /// Traps if one of the invariants in the documentation of the type does not hold.
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
