/// The ready jobs of a schedule in the order of their ranks, the highest first. The strategy
/// ``Simulation/Strategy/pct(depth:steps:)`` (PCT) gives each task a rank; ``Simulation/Strategy/partialOrder`` gives
/// each job a rank. A value without side effects.
struct ScheduleRanks: ~Copyable {
    private struct Entry {
        var rank: UInt64
        let compactNumber: UInt32
        private let compactTask: CompactNumber

        @_transparent init(rank: UInt64, number: Int, task: Int?) {
            self.rank = rank
            compactNumber = UInt32(truncatingIfNeeded: number)
            compactTask = CompactNumber(task)
        }

        var number: Int { @_transparent get { Int(compactNumber) } }
        var task: Int? { @_transparent get { compactTask.value } }
    }

    /// Whether all jobs of a task have the same rank. Otherwise, each job has its own rank.
    private let ranksTasks: Bool
    /// The ranks of the tasks, indexed by the tasks' numbers; zero for tasks without a rank.
    private var ranks = FlatArray<UInt64>()
    /// The steps at which the task that would run next drops to the lowest rank, in no particular order; and the
    /// earliest of these steps that has not been handled yet, `Int.max` if there is none.
    private var changes = FlatArray<Int>()
    private var nextChange = Int.max
    private var steps = 0
    /// The ready jobs as a binary heap: no entry has a higher rank than the entry at (its index − 1) ÷ 2. If the rank of a task changes,
    /// its entry is moved only when it reaches the top.
    private var heap = FlatArray<Entry>()
    /// The rank of the task that was the last to drop to the lowest rank. This rank is lower than the ranks of all
    /// tasks that have dropped before, which are lower than all others.
    private var lowest = UInt64(UInt32.max)
    /// The rank of the task that was the last to be preferred because it had been ready for too long. This rank is
    /// higher than all other ranks.
    private var highest = UInt64.max - UInt64(UInt32.max)

    /// Creates an empty list for ``Simulation/Strategy/partialOrder``: each job has a random rank.
    init() { ranksTasks = false }

    /// Creates an empty list for ``Simulation/Strategy/pct(depth:steps:)``: each task has a random rank, and at
    /// `depth - 1` steps the task that would run next drops to the lowest rank.
    ///
    /// - Parameter steps: The expected number of steps of the schedule. The steps of the drops are drawn from 1 to this
    ///   number. If it is `nil`, they are drawn so that each order of magnitude up to 2¹⁵ has the same probability.
    init(depth: Int, steps: Int?, using generator: inout SeededGenerator) {
        ranksTasks = true
        // A bug needs a few drops. The limit keeps a depth that was computed wrongly from using up the memory.
        while changes.count < min(depth - 1, 1 << 16) { changes.append(Self.change(steps, using: &generator)) }
        nextChange = change(after: 0)
    }

    /// Draws the number of a step at which the task that would run next drops to the lowest rank.
    ///
    /// - Parameter steps: The expected number of steps of the schedule; `nil` if it is unknown.
    private static func change(_ steps: Int?, using generator: inout SeededGenerator) -> Int {
        if let steps { return 1 + Int(generator.next() % UInt64(max(steps, 1))) }
        let magnitude = UInt64(1) << (generator.next() % 15)
        return Int(magnitude + generator.next() % magnitude)
    }

    /// Returns the lowest element of ``changes`` that is greater than the given step: the next step at which a task
    /// drops to the lowest rank. `Int.max` if there is none.
    private func change(after step: Int) -> Int {
        var (first, index) = (Int.max, 0)
        while index < changes.count {
            if changes[index] > step, changes[index] < first { first = changes[index] }
            index += 1
        }
        return first
    }

    /// Adds a ready job, and draws a rank for the job or its task, unless the task already has a rank.
    ///
    /// - Parameters:
    ///   - number: The number of the job.
    ///   - task: The number of the task that the job belongs to; `nil` if it belongs to no task, so that the job gets
    ///     its own rank.
    ///
    /// - Complexity: O(log *n*) in the number of ready jobs.
    mutating func add(_ number: Int, of task: Int?, using generator: inout SeededGenerator) {
        var rank: UInt64 = 0
        if let task { rank = self.rank(of: task) }
        if rank == 0 {
            rank = (generator.next() | 1 << 63) & ~(1 << 62)
            if let task { setRank(rank, of: task) }
        }
        push(Entry(rank: rank, number: number, task: task))
    }

    /// Removes the job that runs next, and returns its number. There must be a job.
    ///
    /// - Parameter starving: The number of a job that must run next because it has been ready for too long, and the
    ///   number of its task (`nil` if the job belongs to no task); `nil` if there is no such job.
    /// - Complexity: O(log *n*) in the number of ready jobs, amortized; O(*n*) if a job is starving.
    mutating func next(starving: (number: Int, task: Int?)?) -> Int {
        steps += 1
        if let starving {
            highest += 1
            if let task = starving.task { setRank(highest, of: task) }
            let index = index(of: starving.number)!
            heap[index].rank = highest
            return remove(at: index).number
        }
        update()
        if isChange, let task = heap[0].task {
            lowest -= 1
            setRank(lowest, of: task)
            update()
        }
        return remove(at: 0).number
    }

    private var isChange: Bool {
        mutating get {
            guard steps >= nextChange else { return false }
            nextChange = change(after: steps)
            return change(after: steps - 1) == steps
        }
    }

    /// Removes the job with the given number, which runs without a choice, for example because no other job is ready.
    ///
    /// - Complexity: O(*n*) in the number of ready jobs; O(1) if there is only one.
    mutating func remove(_ number: Int) {
        steps += 1
        takeBack(number)
    }

    /// Removes the job with the given number, which is no longer ready, although it has not run.
    mutating func takeBack(_ number: Int) {
        if let index = index(of: number) { _ = remove(at: index) }
    }

    private func index(of number: Int) -> Int? {
        let count = heap.count
        guard count > 0 else { return nil }
        // Entries are read through the address of the first one: in a debug build, each access through the array would
        // be a call.
        let entries = heap.address(of: 0)
        let wanted = UInt32(truncatingIfNeeded: number)
        var index = 0
        while index < count {
            if entries[index].compactNumber == wanted { return index }
            index = index &+ 1
        }
        return nil
    }

    // MARK: Ranks

    /// Returns the rank of a task; zero if it has none.
    private func rank(of task: Int) -> UInt64 { task < ranks.count ? ranks[task] : 0 }

    private mutating func setRank(_ rank: UInt64, of task: Int) {
        guard ranksTasks else { return }
        while ranks.count <= task { ranks.append(0) }
        ranks[task] = rank
    }

    // MARK: The heap

    /// Moves the first entry of the heap down if the rank of its task has dropped since the entry was added, until the
    /// first entry has the current rank of its task.
    private mutating func update() {
        while !heap.isEmpty, let task = heap[0].task {
            let rank = rank(of: task)
            if rank == 0 || rank == heap[0].rank { return }
            heap[0].rank = rank
            siftDown(0)
        }
    }

    private mutating func push(_ entry: Entry) {
        heap.append(entry)
        siftUp(heap.count - 1)
    }

    private mutating func remove(at index: Int) -> Entry {
        heap.swapAt(index, heap.count - 1)
        let entry = heap.removeLast()
        if index < heap.count {
            siftDown(index)
            siftUp(index)
        }
        return entry
    }

    private mutating func siftUp(_ index: Int) {
        var index = index
        let entry = heap[index]
        while index > 0, isBefore(entry, heap[(index - 1) / 2]) {
            heap[index] = heap[(index - 1) / 2]
            index = (index - 1) / 2
        }
        heap[index] = entry
    }

    private mutating func siftDown(_ index: Int) {
        var index = index
        let entry = heap[index]
        var child = 2 * index + 1
        while child < heap.count {
            if child + 1 < heap.count, isBefore(heap[child + 1], heap[child]) { child += 1 }
            if !isBefore(heap[child], entry) { break }
            heap[index] = heap[child]
            index = child
            child = 2 * index + 1
        }
        heap[index] = entry
    }

    @_transparent private func isBefore(_ one: Entry, _ other: Entry) -> Bool {
        one.rank != other.rank ? one.rank > other.rank : one.number < other.number
    }
}
