/// A table of waiters, each of which waits until a value, which the owner of the table observes, has reached the
/// waiter's mark. Waiters are resumed in the order of their marks, and waiters with equal marks in the order in which
/// they were added. A pure value, without a lock, task or closure.
///
/// A waiter is added with `enroll(for:)`, and then parks: it stores its continuation with `park(_:_:)`.
///
/// The table is a binary heap, ordered by mark and then by the order of adding. A waiter that stops waiting stays in
/// the heap until it is the first element, or until more than half of the elements have stopped waiting.
package struct MarkTable<Mark: Comparable> {
    package typealias ID = WaiterTable.ID
    package typealias Waiter = Word

    private struct Place {
        let mark: Mark
        let order: UInt64
        let id: ID

        func isBefore(_ other: Place) -> Bool {
            mark == other.mark ? order < other.order : mark < other.mark
        }
    }

    private var waiters = WaiterTable()
    private var heap: ContiguousArray<Place> = []
    private var nextOrder: UInt64 = 0
    /// The number of elements of the heap whose waiters have stopped waiting.
    private var staleCount = 0

    package init() {}

    /// The number of waiters that wait, including those that have not called `park(_:_:)` yet.
    package var count: Int { heap.count - staleCount }

    /// The number of elements for which memory is allocated.
    package var capacity: Int { max(heap.capacity, waiters.capacity) }

    package var lowest: Mark? { heap.first?.mark }

    /// Adds a waiter for a mark. `park(_:_:)` must then be called with the returned ID.
    ///
    /// - Complexity: O(log *n*); O(1) for a mark that is not less than any other.
    package mutating func enroll(for mark: Mark) -> ID {
        let id = waiters.enroll()
        heap.append(Place(mark: mark, order: nextOrder, id: id))
        nextOrder += 1
        siftUp(from: heap.count - 1)
        return id
    }

    package mutating func park(_ id: ID, _ waiter: Waiter) -> WaitOutcome? {
        waiters.park(id, waiter)
    }

    /// Removes a waiter that no longer waits, for example because its task was cancelled.
    ///
    /// - Returns: The waiter, which must be resumed; `nil` if it has not parked yet, or no longer waits.
    /// - Complexity: O(log *n*), amortized.
    package mutating func leave(_ id: ID) -> Waiter? {
        // The first event counts: a waiter that was woken no longer waits.
        guard waiters.isWaiting(id) else { return nil }
        let waiter = waiters.leave(id, with: .left)
        staleCount += 1
        tidy()
        return waiter
    }

    /// Removes the waiter with the lowest mark, which has been reached. Traps if there is no waiter.
    ///
    /// - Returns: The waiter, which must be resumed; `nil` if it has not parked yet: `park(_:_:)` then returns the
    ///   outcome.
    /// - Complexity: O(log *n*), amortized.
    package mutating func wakeFirst() -> Waiter? {
        let waiter = waiters.leave(removeFirst().id, with: .reached)
        tidy()
        return waiter
    }

    /// Removes all waiters whose mark is at most a value, because the value has been reached.
    ///
    /// - Returns: The waiters, in order, which must be resumed. Not those that have not parked yet: `park(_:_:)`
    ///   returns the outcome to them.
    /// - Complexity: O(*m* log *n*) for *m* removed waiters, amortized.
    package mutating func wake(upTo value: Mark) -> [Waiter] {
        var woken: [Waiter] = []
        while let first = heap.first, first.mark <= value {
            let id = removeFirst().id
            // Tidied after each removal, so that the first element of the heap still waits.
            if let waiter = waiters.leave(id, with: .reached) { woken.append(waiter) }
            tidy()
        }
        return woken
    }

    // MARK: The heap

    /// Removes elements whose waiters have stopped waiting, until the first element has a waiter and at most half of the elements have none.
    private mutating func tidy() {
        if staleCount > heap.count / 2 {
            heap.removeAll { !waiters.isWaiting($0.id) }
            staleCount = 0
            for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(from: index) }
        }
        while let first = heap.first, !waiters.isWaiting(first.id) {
            _ = removeFirst()
            staleCount -= 1
        }
        heap.shrinkIfMostlyEmpty(keeping: 16)
    }

    private mutating func removeFirst() -> Place {
        heap.swapAt(0, heap.count - 1)
        let first = heap.removeLast()
        siftDown(from: 0)
        return first
    }

    private mutating func siftUp(from index: Int) {
        var index = index
        while index > 0, heap[index].isBefore(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func siftDown(from index: Int) {
        var index = index
        while true {
            var first = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].isBefore(heap[first]) {
                first = child
            }
            if first == index { return }
            heap.swapAt(index, first)
            index = first
        }
    }
}
