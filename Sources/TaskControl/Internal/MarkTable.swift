/// Waiters, each with a mark, by mark and then in the order of enrolling. Pure, as the table below it.
package struct MarkTable<Mark: Comparable, Waiter> {
    package typealias ID = WaiterTable<Waiter, WaitOutcome>.ID

    private var waiters = WaiterTable<Waiter, WaitOutcome>()
    private var marks: [(mark: Mark, id: ID)] = []

    package init() {}

    /// How many wait: parked or about to.
    package var count: Int { marks.count }

    package var lowest: Mark? { marks.first?.mark }

    /// - Complexity: O(*n*) in the number of waiters; O(1) for a mark that is not below any other.
    package mutating func enroll(for mark: Mark) -> ID {
        let id = waiters.enroll()
        let index = marks.lastIndex { $0.mark <= mark }.map { $0 + 1 } ?? 0
        marks.insert((mark, id), at: index)
        return id
    }

    package mutating func park(_ id: ID, _ waiter: Waiter) -> WaitOutcome? {
        waiters.park(id, waiter)
    }

    /// - Complexity: O(*n*) in the number of waiters.
    package mutating func leave(_ id: ID) -> Waiter? {
        // It is not there any more if it was woken: the first word counts.
        guard let index = marks.firstIndex(where: { $0.id == id }) else { return nil }
        marks.remove(at: index)
        return waiters.leave(id, with: .left)
    }

    /// - Complexity: O(*n*) in the number of waiters.
    package mutating func wakeFirst() -> Waiter? {
        waiters.leave(marks.removeFirst().id, with: .reached)
    }

    /// - Complexity: O(*n*) in the number of waiters.
    package mutating func wake(upTo value: Mark) -> [Waiter] {
        let end = marks.firstIndex { $0.mark > value } ?? marks.count
        let woken = marks[..<end].compactMap { waiters.leave($0.id, with: .reached) }
        marks.removeSubrange(..<end)
        return woken
    }
}
