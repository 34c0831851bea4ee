/// The same outage, met by each strategy.
struct Outage: Sendable {
    struct Result: Sendable {
        let strategy: Strategy
        let timeline: Timeline
        /// In seconds after the outage; `nil`: not while it was watched.
        let recovery: Int?
    }

    let scenario: Scenario
    let results: [Result]

    /// - Parameter begins: Receives each strategy before it is played.
    init(_ scenario: Scenario, begins: (Strategy) -> Void = { _ in }) throws {
        self.scenario = scenario
        results = try Strategy.allCases.map { strategy in
            begins(strategy)
            let timeline = try World.play(scenario, strategy)
            return Result(
                strategy: strategy,
                timeline: timeline,
                recovery: timeline.recovery(after: scenario.outage)
            )
        }
    }

    /// The most requests in one second that any strategy came to.
    var peak: Int { results.map(\.timeline.peak).max() ?? 0 }
}
