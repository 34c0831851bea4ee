#if !os(Linux) && !canImport(Darwin)
/// The features of the simulation on a platform that does not support simulations: none. The folder `Host` contains the
/// files for platforms that support them.
enum SimulationSupport {
    static var capabilities: SimulationCapabilities { [] }

    static var requirement: String { "It needs Linux." }

    static var current: Simulation? { nil }

    static func run(_ plan: SimulationPlan, _ body: @escaping SimulationPlan.Body) -> SimulationResult {
        preconditionFailure("The simulation was run where it is not supported.")
    }
}
#endif
