#if os(Linux)
import CTaskControlTesting

/// Runs simulations, and determines whether they work: once, by programs with a known result.
enum SimulationSupport {
    static let isSupported = tc_isAvailable() && timeIsVirtual() && statesAreRead()

    static var current: Simulation? { SimulationEngine.current?.simulation }

    static func run(_ plan: SimulationPlan, _ body: @escaping SimulationPlan.Body) -> SimulationResult {
        SimulationEngine.run(plan, body)
    }

    private static let trial = SimulationPlan(
        seed: 0,
        strategy: .inOrder,
        call: SimulationCall(maxSteps: 100, fileID: #fileID, filePath: #filePath, line: #line),
        grace: .zero
    )

    private static func timeIsVirtual() -> Bool {
        let result = run(trial) { _ in
            try await Task.detached { try await Task.sleep(for: .seconds(3_600)) }.value
        }
        return result.reason == nil && result.run.elapsed == .seconds(3_600)
    }

    /// Whether the states of tasks are read correctly. The layout of a task is not ABI, so this runs a body that waits for a task that has lost
    /// its continuation, and compares.
    private static func statesAreRead() -> Bool {
        let result = run(trial) { _ in
            let lost = Task(name: "lost") {
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
            await lost.value
        }
        guard case .deadlock = result.reason else { return false }
        let body = SimulationTask(number: 0, name: "body", creator: nil)
        let lost = SimulationTask(number: 1, name: "lost", creator: 0)
        return result.unfinished == [
            SimulationUnfinishedTask(task: body, creator: nil, state: .awaitingTask(lost)),
            SimulationUnfinishedTask(task: lost, creator: body, state: .awaitingContinuation),
        ]
    }
}
#else
/// Reports that there is no simulation: the SDK of this platform does not have the hooks of the runtime.
enum SimulationSupport {
    static var isSupported: Bool { false }

    static var current: Simulation? { nil }

    static func run(_ plan: SimulationPlan, _ body: @escaping SimulationPlan.Body) -> SimulationResult {
        preconditionFailure("The simulation was run where it is not supported.")
    }
}
#endif
