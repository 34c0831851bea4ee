/// The numbers of tasks by the IDs of the runtime: a hash table with open addressing. Pure.
///
/// A simulation looks a number up several times per step, and each lookup in a `Dictionary` costs as much as the rest of the step in a debug build.
struct TaskNumbers: ~Copyable {
    private struct Entry {
        /// Zero: the entry is free. No task has this ID.
        let id: UInt64
        let number: Int
    }

    /// The number of entries is a power of two, and at least an eighth of them are free: IDs that are consecutive never collide.
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

    /// Returns the index of an ID, or of the free entry for it.
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
