/// The results of two sides that took turns, in nanoseconds per operation.
///
/// The machine may be shared and its speed may change from second to second. Changes that affect both sides of one turn cancel out in their
/// ratio; so the ratio is taken turn by turn, and the median is taken of the ratios.
struct Turns: Sendable {
    private(set) var baseline: [Double] = []
    private(set) var primitive: [Double] = []

    var ratio: Spread { Spread(zip(primitive, baseline).map { $0 / $1 }) }

    /// The time that the primitive takes beyond the baseline: for primitives that are added to work that is there anyway.
    var excess: Spread { Spread(zip(primitive, baseline).map { $0 - $1 }) }

    /// Measures the two sides of a comparison in turns.
    ///
    /// - Parameters:
    ///   - operations: The number of operations of one call of a side.
    ///   - baseline: Runs the baseline, and returns the duration.
    ///   - primitive: Runs the primitive, and returns the duration.
    @concurrent static func take(
        operations: Int,
        baseline: @Sendable () async -> Duration,
        primitive: @Sendable () async -> Duration
    ) async -> Turns {
        // The first turn warms up the allocator, the thread pool and the caches, for both.
        _ = await baseline()
        _ = await primitive()
        var turns = Turns()
        for _ in 0..<Scale.rounds {
            turns.baseline.append(await baseline().nanoseconds / Double(operations))
            turns.primitive.append(await primitive().nanoseconds / Double(operations))
        }
        return turns
    }
}
