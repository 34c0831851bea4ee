/// Who has permits, and who is to have them next. Pure: no lock, task or closure.
///
///     acquire ──▶ granted                                     there are enough, and nobody waits
///        │
///        └──▶ enrolled ──park──▶ parked ──grant──▶ granted    the waiter is handed out
///                 │                 │
///                 │                 └──leave──▶ (gone)        the waiter is handed out
///                 ├──grant──▶ park says so
///                 └──leave──▶ park says so
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. The permits that are available and those that are not are as many as there are.
/// 2. Whoever waits is served in the order of the calls: who is first in line, and wants more than there is, is waited for.
/// 3. Nobody waits for what is there: the first in line wants more than is available.
struct PermitStateMachine<Waiter> {
    struct ID: Hashable, Sendable {
        fileprivate let place: Ticket
        fileprivate let waiter: WaiterTable<Waiter, WaitOutcome>.ID
    }

    private struct Request {
        let weight: Int
        let waiter: WaiterTable<Waiter, WaitOutcome>.ID
    }

    let size: Int
    private(set) var available: Int
    private var line = Line<Request>()
    private var waiters = WaiterTable<Waiter, WaitOutcome>()

    init(size: Int) {
        self.size = size
        available = size
    }

    /// How many wait.
    var waiterCount: Int { line.count }

    /// Takes permits if they are there, and nobody is in line for them.
    ///
    /// - Complexity: O(1).
    @inline(__always)
    mutating func tryAcquire(_ weight: Int) -> Bool {
        guard weight <= available, line.isEmpty else { return false }
        available -= weight
        return true
    }

    /// - Returns: `nil`: the permits are taken. Otherwise the caller is to park.
    /// - Complexity: O(1).
    @inline(__always)
    mutating func acquire(_ weight: Int) -> ID? {
        tryAcquire(weight) ? nil : enroll(weight)
    }

    private mutating func enroll(_ weight: Int) -> ID {
        let waiter = waiters.enroll()
        return ID(place: line.append(Request(weight: weight, waiter: waiter)), waiter: waiter)
    }

    /// - Returns: With what the waiter is to be resumed at once.
    mutating func park(_ id: ID, _ waiter: Waiter) -> WaitOutcome? {
        waiters.park(id.waiter, waiter)
    }

    /// Gives permits back.
    ///
    /// - Returns: Who has got theirs; `nil`: more is given back than was taken.
    /// - Complexity: O(*n*) in the number of those who get theirs.
    @inline(__always)
    mutating func release(_ weight: Int) -> [Waiter]? {
        guard weight <= size - available else { return nil }
        available += weight
        return line.isEmpty ? [] : grant()
    }

    struct Leaving {
        /// The one that has left, if it was parked.
        var waiter: Waiter?
        /// Who was only behind it, and has got theirs.
        var granted: [Waiter] = []
    }

    /// Leaves the line; too late for one that has been granted its permits.
    ///
    /// - Complexity: O(1), and O(*n*) in the number of those who get theirs.
    mutating func leave(_ id: ID) -> Leaving {
        guard line.remove(id.place) != nil else { return Leaving() }
        return Leaving(waiter: waiters.leave(id.waiter, with: .left), granted: grant())
    }

    private mutating func grant() -> [Waiter] {
        var granted: [Waiter] = []
        while let (place, request) = line.first, request.weight <= available {
            available -= request.weight
            line.remove(place)
            if let waiter = waiters.leave(request.waiter, with: .reached) { granted.append(waiter) }
        }
        return granted
    }
}

extension PermitStateMachine {
    /// Traps if an invariant does not hold.
    func checkInvariants() {
        precondition((0...size).contains(available), "there are as many permits as there are")
        if let first = line.first { precondition(first.element.weight > available, "nobody waits for what is there") }
        precondition(waiters.count >= line.count, "who is in line is a waiter")
    }
}
