#if !os(Linux) && !canImport(Darwin)
/// The simulation's features on platforms without simulation: none. The files for other platforms are in `Host`.
enum SimulationSupport {
    static var capabilities: SimulationCapabilities { [] }

    static var requirement: String { "It needs Linux." }

    static var current: Simulation? { nil }

    static func run(_ plan: SimulationPlan, _ body: @escaping SimulationPlan.Body) -> SimulationResult {
        preconditionFailure("The simulation was run where it is not supported.")
    }
}
#endif
