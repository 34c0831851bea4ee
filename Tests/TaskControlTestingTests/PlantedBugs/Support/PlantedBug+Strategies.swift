import TaskControlTesting

/// The strategies by which the corpus is measured: the only place that names them.
extension PlantedBug {
    /// The default of `simulate`.
    static let standard = SimulationStrategy.swarm

    static let withSlowness = SimulationStrategy.swarm.withSlowness()
    static let withEarlyStart = SimulationStrategy.swarm.withEarlyStarts()

    /// The columns of the table, and the strategies under which all twins must pass.
    static let compared: [SimulationStrategy] = [
        .swarm, .guided, .random, .sticky, .partialOrder, .pct(depth: 2), .pct(depth: 3),
    ]

    /// The strategy that is expected to find the bug, if there is one.
    var strategy: SimulationStrategy? {
        switch foundBy {
        case .schedules: Self.standard
        case .slowness: Self.withSlowness
        case .earlyStart: Self.withEarlyStart
        case .never: nil
        }
    }

    /// The first seed that fails.
    static func failure(
        of body: @escaping Body,
        seeds: Range<UInt64>,
        strategy: SimulationStrategy
    ) throws -> SimulationFailure? {
        do {
            try simulate(seeds: seeds, strategy: strategy) { try await body(World($0)) }
            return nil
        } catch let failure as SimulationFailure {
            return failure
        }
    }
}
