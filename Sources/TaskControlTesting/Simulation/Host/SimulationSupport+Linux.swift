#if os(Linux)
@_spi(ExperimentalScheduling) import _Concurrency

/// What this process has of the simulation.
enum SimulationSupport {
    static let capabilities = SimulationTrials.capabilities(.interposed)

    /// What the simulation needs, as a sentence.
    static var requirement: String {
        "It needs the concurrency runtime of Swift 6.3 on Linux, linked dynamically."
    }

    static var current: Simulation? { SimulationEngine.current?.simulation }

    static func run(_ plan: SimulationPlan, _ body: @escaping SimulationPlan.Body) -> SimulationResult {
        SimulationEngine.run(plan, body)
    }
}

/// A task that sleeps asks its executor.
typealias SleepingExecutor = SchedulingExecutor
#endif
