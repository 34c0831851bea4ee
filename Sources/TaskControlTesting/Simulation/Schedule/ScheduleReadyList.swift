/// The ready jobs of a schedule, sorted by their numbers. Jobs are numbered in the order in which they become ready.
/// Removing a job moves eight bytes for each later job.
struct ScheduleReadyList: ~Copyable {
    typealias Item = ScheduleStateMachine.Item

    private struct Place {
        let number: UInt32
        let slot: UInt32
    }

    private var places = FlatArray<Place>()
    /// The items of the jobs, in any order: each element of ``places`` contains the index of its item. An index in
    /// ``free`` refers to the item of a job that was removed.
    private var slots = FlatArray<Item>()
    private var free = FlatArray<UInt32>()
    /// The number of the first job whose task has not given up its turn with `Task.yield()`; `nil` if there is none.
    /// The number only increases, since jobs are appended by increasing number.
    private var firstEager: Int?

    var isEmpty: Bool { @_transparent get { places.isEmpty } }
    var count: Int { @_transparent get { places.count } }

    subscript(index: Int) -> Item {
        @_transparent unsafeAddress { UnsafePointer(slots.address(of: Int(places[index].slot))) }
    }

    @_transparent func number(at index: Int) -> Int { Int(places[index].number) }

    /// Returns whether the job at an index belongs to the given task, and the task has not given up its turn with
    /// `Task.yield()`.
    @_transparent func isEager(_ index: Int, of task: Int) -> Bool {
        let slot = Int(places[index].slot)
        return slots[slot].isPart(of: task) && !slots[slot].hasYielded
    }

    /// Appends an item to the list.
    ///
    /// - Parameter number: A number that is higher than those of all items in the list.
    mutating func append(_ item: Item, number: Int) {
        let slot: UInt32
        if free.isEmpty {
            slot = UInt32(truncatingIfNeeded: slots.count)
            slots.append(item)
        } else {
            slot = free.removeLast()
            slots[Int(slot)] = item
        }
        places.append(Place(number: UInt32(truncatingIfNeeded: number), slot: slot))
        if !item.hasYielded, firstEager == nil { firstEager = number }
    }

    /// Removes the job at an index, and returns it.
    ///
    /// - Complexity: O(*n*) in the number of later jobs.
    mutating func remove(at index: Int) -> Item {
        if firstEager == number(at: index) { firstEager = eagerNumber(after: index) }
        let slot = index == count - 1 ? places.removeLast().slot : places.remove(at: index).slot
        free.append(slot)
        return slots[Int(slot)]
    }

    private func eagerNumber(after index: Int) -> Int? {
        var next = index + 1
        while next < count {
            if !self[next].hasYielded { return number(at: next) }
            next += 1
        }
        return nil
    }

    /// The index of the first job whose task has not given up its turn with `Task.yield()`; `nil` if there is none.
    ///
    /// - Complexity: O(log *n*) in the number of jobs.
    var firstEagerIndex: Int? {
        guard let firstEager else { return nil }
        return index(of: firstEager)
    }

    /// Returns the index of the job with the given number. The job must be in the list.
    ///
    /// - Complexity: O(log *n*) in the number of jobs.
    func index(of number: Int) -> Int {
        var (low, high) = (0, count)
        guard high > 0 else { return 0 }
        // Places are read through the address of the first one: in a debug build, each access through the array would
        // be a call.
        let places = places.address(of: 0)
        let wanted = UInt32(truncatingIfNeeded: number)
        while low < high {
            let middle = (low &+ high) &>> 1
            if places[middle].number < wanted { low = middle &+ 1 } else { high = middle }
        }
        return low
    }
}
