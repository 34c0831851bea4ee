#if canImport(Darwin)
/// The features of the simulation that this process has: none, unless `TASKCONTROL_SIMULATION=experimental` is set.
///
/// This code compiles, and has not been run yet.
enum SimulationSupport {
    static let capabilities: SimulationCapabilities = {
        guard System.environment("TASKCONTROL_SIMULATION") == "experimental" else { return [] }
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return [] }
        return SimulationTrials.capabilities([])
    }()

    /// A sentence that states the requirements of the simulation, for an error message.
    static var requirement: String {
        "It needs Linux, or, as an experiment that has not been run yet, macOS 15, iOS 18, tvOS 18, watchOS 11 or visionOS 2 with "
            + "TASKCONTROL_SIMULATION=experimental in the environment."
    }

    static var current: Simulation? {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return nil }
        return SimulationEngine.current?.simulation
    }

    static func run(_ plan: SimulationPlan, _ body: @escaping SimulationPlan.Body) -> SimulationResult {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
            preconditionFailure("The simulation was run where it is not supported.")
        }
        return SimulationEngine.run(plan, body)
    }
}

/// The protocol of an executor on which tasks can sleep. On this platform, a sleep calls the runtime, which the simulation intercepts.
typealias SleepingExecutor = Executor
#endif
