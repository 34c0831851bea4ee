#if !os(Linux) && !canImport(Darwin)
/// Reports that there is no simulation. The other platforms have files of their own in `Host`.
enum SimulationSupport {
    static var capabilities: SimulationCapabilities { [] }

    static var requirement: String { "It needs Linux." }

    static var current: Simulation? { nil }

    static func run(_ plan: SimulationPlan, _ body: @escaping SimulationPlan.Body) -> SimulationResult {
        preconditionFailure("The simulation was run where it is not supported.")
    }
}
#endif
