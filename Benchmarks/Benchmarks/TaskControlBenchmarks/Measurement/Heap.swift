import HeapCounter

/// Measures the heap of the process.
enum Heap {
    static var isCounted: Bool { heap_counter_is_available() }

    static func start() { heap_counter_start() }

    /// The bytes that have been allocated since `start`, and not freed.
    static var bytes: Int { Int(heap_counter_bytes()) }

    /// Returns the bytes that have been allocated since `start`, and not freed.
    static func stop() -> Int {
        defer { heap_counter_stop() }
        return Int(heap_counter_bytes())
    }

    /// Allocations a task, started and run to its end.
    @concurrent static func allocations(of contender: Contender, tasks: Int, depth: Int) async -> Double {
        await allocations(tasks) { await contender.run(tasks: tasks, depth: depth) }
    }

    /// Allocations an operation.
    ///
    /// - Parameter run: Does the given number of operations; called once to warm up, and once more.
    @concurrent static func allocations(_ operations: Int, _ run: @Sendable () async -> Void) async -> Double {
        await run()
        heap_counter_start()
        await run()
        let count = heap_counter_allocations()
        heap_counter_stop()
        return Double(count) / Double(operations)
    }

    /// Measures the heap bytes per task of tasks that are parked, and the bytes per task that remain when all tasks have ended.
    ///
    /// The result is the lowest of three measurements: the memory of tasks is in each of them, and memory that the runtime allocates once, for a
    /// thread or a cache, is not.
    ///
    /// - Parameter makeContender: Creates a contender that has not owned any task yet, so that the memory that it keeps for later use is measured too.
    @concurrent static func weight(
        tasks: Int,
        _ makeContender: @Sendable () -> Contender
    ) async -> (live: Double, left: Double) {
        var least = (live: Int.max, left: Int.max)
        for _ in 0..<3 {
            let weight = await weighed(makeContender(), tasks: tasks)
            least = (min(least.live, weight.live), min(least.left, weight.left))
        }
        return (Double(least.live) / Double(tasks), Double(least.left) / Double(tasks))
    }

    private static func weighed(_ contender: Contender, tasks: Int) async -> (live: Int, left: Int) {
        let lot = ParkingLot(tasks)
        heap_counter_start()
        for index in 0..<tasks { contender.park(index, lot) }
        await lot.waitUntilFull()
        let live = await settledBytes()
        lot.letAllGo()
        await lot.waitUntilEmpty()
        let left = await settledBytes()
        heap_counter_stop()
        // Until here the owner lives, with all that it kept.
        withExtendedLifetime(contender) {}
        return (live, left)
    }

    /// Returns the number of bytes when it no longer changes. A task frees its memory some time after the last line of its body, and nothing reports
    /// when.
    static func settledBytes() async -> Int {
        var last = heap_counter_bytes()
        var unchanged = 0
        while unchanged < 3 {
            try? await Task.sleep(for: .milliseconds(5))
            let now = heap_counter_bytes()
            // The sleep itself allocates a little.
            unchanged = abs(now - last) < 4096 ? unchanged + 1 : 0
            last = now
        }
        return last
    }
}
