/// The numbers of a simulation's tasks, by the IDs that the runtime has given to the tasks. A hash table with open
/// addressing, and a value without side effects.
///
/// A simulation looks up a number several times per step. In a debug build, one lookup in a `Dictionary` takes as long as the rest of the
/// step.
struct TaskNumbers: ~Copyable {
    private struct Entry {
        /// The runtime's ID of the task; zero for a free entry. No task has the ID zero.
        let id: UInt64
        let number: Int
    }

    /// The entries of the table. Their number is a power of two, and at least an eighth of them are free. Consecutive IDs never collide.
    private var entries = FlatArray<Entry>(zeros: 32)
    private var count = 0

    subscript(id: UInt64) -> Int? {
        @_transparent get {
            let index = index(of: id)
            return entries[index].id == id ? entries[index].number : nil
        }
    }

    mutating func insert(_ number: Int, for id: UInt64) {
        let index = index(of: id)
        if entries[index].id == 0 { count += 1 }
        entries[index] = Entry(id: id, number: number)
        if 8 * count > 7 * entries.count { grow() }
    }

    /// Returns the index of the entry with the given ID; if there is no such entry, the index of the free entry to
    /// which the ID must be added.
    @_transparent private func index(of id: UInt64) -> Int {
        // The IDs of a simulation are consecutive, or nearly so.
        let mask = entries.count - 1
        var index = Int(bitPattern: UInt(truncatingIfNeeded: id)) & mask
        while true {
            let found = entries[index].id
            if found == id || found == 0 { return index }
            index = (index + 1) & mask
        }
    }

    private mutating func grow() {
        var old = FlatArray<Entry>(zeros: 2 * entries.count)
        swap(&old, &entries)
        for index in 0..<old.count where old[index].id != 0 { entries[self.index(of: old[index].id)] = old[index] }
    }
}
