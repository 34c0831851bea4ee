#if os(Linux)
@_spi(ExperimentalScheduling) import _Concurrency

/// The features of the simulation that this process has.
enum SimulationSupport {
    static let capabilities = SimulationTrials.capabilities(.interposed)

    /// A sentence that states the requirements of the simulation, for an error.
    static var requirement: String {
        "It needs the concurrency runtime of Swift 6.3 on Linux, linked dynamically."
    }

    static var current: Simulation? { SimulationEngine.current?.simulation }

    static func run(_ plan: SimulationPlan, _ body: @escaping SimulationPlan.Body) -> SimulationResult {
        SimulationEngine.run(plan, body)
    }
}

/// The protocol of an executor on which tasks can sleep. On this platform, a sleep calls the executor.
typealias SleepingExecutor = SchedulingExecutor
#endif
