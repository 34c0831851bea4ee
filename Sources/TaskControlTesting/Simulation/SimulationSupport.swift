#if !os(Linux) && !canImport(Darwin)
/// The implementation of simulations for a platform that does not support them: it has no capabilities, and runs
/// nothing. The folder `Host` contains the implementations for other platforms.
enum SimulationSupport {
    static var capabilities: SimulationCapabilities { [] }

    static var requirement: String { "It needs Linux." }

    static var current: Simulation? { nil }

    static func run(_ plan: SimulationPlan, _ body: @escaping SimulationPlan.Body) -> SimulationResult {
        preconditionFailure("The simulation was run where it is not supported.")
    }
}
#endif
