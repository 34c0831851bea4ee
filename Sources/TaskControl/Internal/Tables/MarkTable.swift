/// A table of waiters, each of which waits for a value, its mark, to be reached. Waiters are resumed in the order of their marks, and those with
/// equal marks in the order in which they enrolled. No lock, task or closure.
///
/// A binary heap, ordered by mark and then by the order of enrolling. A waiter that stops waiting stays in the heap until it is the first element, or
/// until more than half of the elements have stopped waiting.
package struct MarkTable<Mark: Comparable, Waiter> {
    package typealias ID = WaiterTable<Waiter, WaitOutcome>.ID

    private struct Place {
        let mark: Mark
        let order: UInt64
        let id: ID

        func isBefore(_ other: Place) -> Bool {
            mark == other.mark ? order < other.order : mark < other.mark
        }
    }

    private var waiters = WaiterTable<Waiter, WaitOutcome>()
    private var heap: ContiguousArray<Place> = []
    private var nextOrder: UInt64 = 0
    /// The number of elements of the heap whose waiters have stopped waiting.
    private var staleCount = 0

    package init() {}

    /// The number of waiters: those that are parked, and those that have enrolled and are about to park.
    package var count: Int { heap.count - staleCount }

    /// The number of elements for which memory is allocated.
    package var capacity: Int { max(heap.capacity, waiters.capacity) }

    package var lowest: Mark? { heap.first?.mark }

    /// Adds a waiter for a mark, which must then park.
    ///
    /// - Complexity: O(log *n*); O(1) for a mark that is not below any other.
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
    /// - Returns: The waiter to resume, if it had parked and was not woken before.
    /// - Complexity: O(log *n*), amortized.
    package mutating func leave(_ id: ID) -> Waiter? {
        // The first event counts: a waiter that was woken no longer waits.
        guard waiters.isWaiting(id) else { return nil }
        let waiter = waiters.leave(id, with: .left)
        staleCount += 1
        tidy()
        return waiter
    }

    /// Removes the first waiter. There must be one.
    ///
    /// - Returns: The waiter to resume; `nil` if it has not parked yet: it then does not wait.
    /// - Complexity: O(log *n*), amortized.
    package mutating func wakeFirst() -> Waiter? {
        let waiter = waiters.leave(removeFirst().id, with: .reached)
        tidy()
        return waiter
    }

    /// Removes all waiters whose mark is at most a value.
    ///
    /// - Returns: The waiters to resume, in order, except those that have not parked yet: these then do not wait.
    /// - Complexity: O(*m* log *n*) for *m* removed waiters, amortized.
    package mutating func wake(upTo value: Mark) -> [Waiter] {
        var woken: [Waiter] = []
        while let first = heap.first, first.mark <= value {
            let id = removeFirst().id
            // Tidied after each: the first has not left.
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
        while staleCount > 0, let first = heap.first, !waiters.isWaiting(first.id) {
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
