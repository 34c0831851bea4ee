/// The same outage, met by each strategy.
struct Outage: Sendable {
    struct Result: Sendable {
        let strategy: Strategy
        let timeline: Timeline
        /// The time of the recovery in seconds after the outage; `nil` if the service did not recover while it was observed.
        let recovery: Int?
    }

    let scenario: Scenario
    let results: [Result]

    /// Plays the outage with each strategy.
    ///
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
