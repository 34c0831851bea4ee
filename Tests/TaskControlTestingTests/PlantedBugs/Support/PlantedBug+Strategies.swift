import TaskControlTesting

/// The strategies by which the corpus is measured: the only place that names them.
extension PlantedBug {
    /// The default of `simulate`.
    static let standard = Simulation.Strategy.swarm

    static let withSlowness = Simulation.Strategy.swarm.withSlowness()
    static let withEarlyStart = Simulation.Strategy.swarm.withEarlyStarts()

    /// The columns of the table, and the strategies under which all twins must pass.
    static let compared: [Simulation.Strategy] = [
        .swarm, .guided, .random, .sticky, .partialOrder, .pct(depth: 2), .pct(depth: 3),
    ]

    /// The strategy that is expected to find the bug, if there is one.
    var strategy: Simulation.Strategy? {
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
        strategy: Simulation.Strategy
    ) throws -> Simulation.Failure? {
        do {
            try simulate(seeds: seeds, strategy: strategy) { try await body(World($0)) }
            return nil
        } catch let failure as Simulation.Failure {
            return failure
        }
    }
}
