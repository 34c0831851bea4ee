import Benchmark

/// The results of one benchmark: a row of the table that `scripts/benchmark` prints, and metrics of the benchmark library.
struct Row: Sendable {
    /// The bound that must hold; missing it is shown, and fails nothing: the time on a shared machine proves no mistake.
    enum Target {
        case ratio(atMost: Double)
        case nanoseconds(atMost: Double)
        /// A limit of the nanoseconds beyond those of the baseline, without an allocation.
        case nanosecondsBeyond(atMost: Double)
        case growth(atMost: Double)
    }

    /// The memory of live tasks, and the memory that is left when they have ended; in bytes per task, beyond the baseline.
    struct Weight {
        var live: Double
        var left: Double
        var liveAtMost: Double?
    }

    var primitive: String
    var baseline: String
    var turns: Turns
    var target: Target?
    /// Allocations an operation, of the baseline and of the primitive.
    var allocations: (baseline: Double, primitive: Double)?
    var weight: Weight?

    /// The text before each row in the output, which distinguishes rows from the other lines that building and running a benchmark prints.
    static let mark = "benchmark-row: "

    var markdown: String {
        let ratio = turns.ratio
        return [
            "\(primitive): \(Spread(turns.primitive).median.formatted(places: 0)) ns",
            "\(baseline): \(Spread(turns.baseline).median.formatted(places: 0)) ns",
            "\(ratio.median.formatted(places: 2)) "
                + "(\(ratio.min.formatted(places: 2))–\(ratio.max.formatted(places: 2)))",
            targetCell,
            allocationsCell,
            weightCell,
        ].reduce("|") { "\($0) \($1) |" }
    }

    private var targetCell: String {
        switch target {
        case .ratio(let limit):
            "≤ \(limit.formatted(places: 2)): \(verdict(turns.ratio.median <= limit))"
        case .growth(let limit):
            "linear (≤ \(limit.formatted(places: 1))): \(verdict(turns.ratio.median <= limit))"
        case .nanoseconds(let limit):
            "≤ \(limit.formatted(places: 0)) ns: \(verdict(Spread(turns.primitive).median <= limit))"
        case .nanosecondsBeyond(let limit):
            "≤ \(limit.formatted(places: 0)) ns more (\(turns.excess.median.formatted(places: 0))), "
                + "no allocation: \(verdict(turns.excess.median <= limit && !allocates))"
        case nil:
            "–"
        }
    }

    /// A thread or a cache of the runtime may allocate once; so less than one in a hundred operations is none.
    private var allocates: Bool {
        guard Heap.isCounted, let allocations else { return false }
        return allocations.primitive - allocations.baseline >= 0.01
    }

    private var allocationsCell: String {
        guard let allocations else { return "–" }
        guard Heap.isCounted else { return "not counted" }
        return "\((allocations.primitive - allocations.baseline).formatted(places: 2))"
    }

    private var weightCell: String {
        guard let weight else { return "–" }
        guard Heap.isCounted else { return "not counted" }
        let live = "\(weight.live.formatted(places: 0)) B live"
        let left = "\(weight.left.formatted(places: 1)) B after the end"
        guard let limit = weight.liveAtMost else { return "\(live), \(left)" }
        // One byte per task, of the tens that a forgotten entry would leave, is the noise of a running process.
        let liveVerdict = "≤ \(limit.formatted(places: 0)): \(verdict(weight.live <= limit))"
        return "\(live) (\(liveVerdict)), \(left) (0: \(verdict(weight.left < 1)))"
    }

    private func verdict(_ holds: Bool) -> String {
        holds ? "met" : "**missed**"
    }
}

extension Row {
    private static let ratio = BenchmarkMetric.custom("ratio ×1000")
    private static let primitiveTime = BenchmarkMetric.custom("primitive, ns an operation")
    private static let baselineTime = BenchmarkMetric.custom("baseline, ns an operation")
    private static let allocationCount = BenchmarkMetric.custom("allocations beyond the baseline ×100")
    private static let liveBytes = BenchmarkMetric.custom("bytes a live task beyond the baseline")
    private static let leftBytes = BenchmarkMetric.custom("bytes a task after the end ×10")

    static let metrics = [ratio, primitiveTime, baselineTime, allocationCount, liveBytes, leftBytes]

    func report(to benchmark: Benchmark) {
        for (primitive, baseline) in zip(turns.primitive, turns.baseline) {
            benchmark.measurement(Self.ratio, Int(primitive / baseline * 1000))
            benchmark.measurement(Self.primitiveTime, Int(primitive))
            benchmark.measurement(Self.baselineTime, Int(baseline))
        }
        guard Heap.isCounted else { return }
        // The library's histograms hold no negative numbers.
        if let allocations {
            let beyond = allocations.primitive - allocations.baseline
            benchmark.measurement(Self.allocationCount, max(0, Int((beyond * 100).rounded())))
        }
        if let weight {
            benchmark.measurement(Self.liveBytes, max(0, Int(weight.live)))
            benchmark.measurement(Self.leftBytes, max(0, Int(weight.left * 10)))
        }
    }
}

extension Row {
    /// Compares calls that must not allocate with calls that do less.
    ///
    /// - Parameter nanoseconds: The most that a call may take longer.
    static func withoutAllocation(
        atMost nanoseconds: Double,
        _ name: String,
        _ primitive: @Sendable () async -> Duration,
        beyond baselineName: String,
        _ baseline: @Sendable () async -> Duration,
        operations: Int
    ) async -> Row {
        var row = Row(
            primitive: name,
            baseline: baselineName,
            turns: await Turns.take(operations: operations, baseline: baseline, primitive: primitive)
        )
        row.target = .nanosecondsBeyond(atMost: nanoseconds)
        row.allocations = (
            await Heap.allocations(operations) { _ = await baseline() },
            await Heap.allocations(operations) { _ = await primitive() }
        )
        return row
    }
}
