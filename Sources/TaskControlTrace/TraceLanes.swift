@_spi(Observers) internal import TaskControl
internal import _TaskControlShared

/// Assigns lanes (rows of the drawing) to bars, so that bars that overlap in time are in different lanes.
enum TraceLanes {
    /// Assigns to each of the given bars the first lane that is free when the bar begins. The number of lanes is the
    /// greatest number of these bars that exist at the same time.
    ///
    /// - Parameter range: The indices of bars that are sorted by their beginnings.
    /// - Returns: The number of lanes.
    /// - Complexity: O(*n* log *n*) in the number of bars.
    static func assign(_ bars: inout [TraceModel.Bar], _ range: Range<Int>) -> Int {
        var busy = Heap()
        var free = Heap()
        var count = 0
        for index in range {
            while let first = busy.least, first.key <= bars[index].begin {
                busy.removeLeast()
                free.insert(Heap.Entry(key: Int64(first.lane), lane: first.lane))
            }
            let lane = free.least?.lane ?? count
            if free.least == nil { count += 1 } else { free.removeLeast() }
            bars[index].lane = lane
            busy.insert(Heap.Entry(key: bars[index].end, lane: lane))
        }
        return count
    }

    /// A binary heap of lanes, each with a key. The first entry has the smallest key.
    private struct Heap {
        struct Entry {
            var key: Int64
            var lane: Int
        }

        private var entries: [Entry] = []

        var least: Entry? { entries.first }

        mutating func insert(_ entry: Entry) {
            var index = entries.count
            entries.append(entry)
            while index > 0, entries[(index - 1) / 2].key > entry.key {
                entries[index] = entries[(index - 1) / 2]
                index = (index - 1) / 2
            }
            entries[index] = entry
        }

        mutating func removeLeast() {
            let entry = entries.removeLast()
            guard !entries.isEmpty else { return }
            var index = 0
            while true {
                var child = index * 2 + 1
                guard child < entries.count else { break }
                if child + 1 < entries.count, entries[child + 1].key < entries[child].key { child += 1 }
                guard entries[child].key < entry.key else { break }
                entries[index] = entries[child]
                index = child
            }
            entries[index] = entry
        }
    }
}
