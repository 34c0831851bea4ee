#if os(Linux)
@_spi(ExperimentalScheduling) import _Concurrency

/// The parts of the simulation that this process has.
enum SimulationSupport {
    static let capabilities = SimulationTrials.capabilities(.interposed)

    /// A sentence that states what the simulation needs.
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
