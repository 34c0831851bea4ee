import Benchmark

extension Benchmark {
    /// Registers a benchmark that finds one row.
    ///
    /// One iteration of the library's is all turns of both sides, so that they alternate.
    static func row(_ name: String, _ find: @escaping @Sendable () async -> Row) {
        let output = Output()
        let configuration = Configuration(
            metrics: Row.metrics,
            warmupIterations: 0,
            maxDuration: .seconds(600),
            maxIterations: 1,
            // The library may silence what a benchmark prints while it runs; by now it has not.
            teardown: { output.write() }
        )
        Benchmark(name, configuration: configuration) { benchmark in
            let row = await find()
            row.report(to: benchmark)
            output.line = row.markdown
        }
    }

    /// Registers a comparison of tasks that run to their end, for each depth: how many are started before they are waited for.
    ///
    /// - Parameters:
    ///   - primitive: The name in the table.
    ///   - headline: The depth that the target is for, and at which allocations and memory are looked at.
    ///   - makeBaseline: Called again for each measurement, like the next one.
    static func runToTheEnd(
        _ name: String,
        primitive: String,
        headline: Int,
        target: Row.Target? = nil,
        liveBytesAtMost: Double? = nil,
        baseline: String = "`Task { }`",
        makeBaseline: @escaping @Sendable () -> Contender = { .bareTask },
        makePrimitive: @escaping @Sendable () -> Contender
    ) {
        for depth in [1, 100, Scale.tasks] {
            Benchmark.row("\(name), depth \(depth)") {
                let tasks = Scale.tasks
                let (before, after) = (makeBaseline(), makePrimitive())
                var row = await Contender.compare(
                    "\(primitive), depth \(depth.grouped)",
                    after,
                    to: baseline,
                    before,
                    depth: depth
                )
                guard depth == headline else { return row }
                row.target = target
                row.allocations = (
                    await Heap.allocations(of: before, tasks: tasks, depth: depth),
                    await Heap.allocations(of: after, tasks: tasks, depth: depth)
                )
                let bare = await Heap.weight(tasks: tasks, makeBaseline)
                let owned = await Heap.weight(tasks: tasks, makePrimitive)
                row.weight = Row.Weight(
                    live: owned.live - bare.live,
                    left: owned.left - bare.left,
                    liveAtMost: liveBytesAtMost
                )
                return row
            }
        }
    }
}

/// The output of a benchmark when it is over.
private final class Output: @unchecked Sendable {
    /// The line of the output, which the benchmark writes before the library reads it.
    var line: String?

    func write() {
        if let line { print("\n\(Row.mark)\(line)") }
    }
}
