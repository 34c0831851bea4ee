#if os(Linux)
import CTaskControlTesting

/// Whether there is a simulation: it is tried once, on programs whose end is known.
enum SimulationSupport {
    static let isSupported = tc_isAvailable() && timeIsVirtual() && statesAreRead()

    @discardableResult
    static func run(_ plan: SimulationPlan, _ body: @escaping SimulationPlan.Body) throws -> SimulationRun {
        try SimulationEngine.run(plan, body)
    }

    private static let trial = SimulationPlan(
        seed: 0,
        strategy: .random,
        maxSteps: 100,
        fileID: #fileID,
        line: #line,
        grace: .zero
    )

    private static func timeIsVirtual() -> Bool {
        let run = try? run(trial) { _ in
            try await Task.detached { try await Task.sleep(for: .seconds(3_600)) }.value
        }
        return run?.elapsed == .seconds(3_600)
    }

    /// The layout of a task is not ABI: a body that waits for one that has lost its continuation must be seen to do
    /// just that.
    private static func statesAreRead() -> Bool {
        do {
            try run(trial) { _ in
                let lost = Task(name: "lost") {
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
                await lost.value
            }
        } catch let failure as SimulationFailure {
            guard case .deadlock = failure.reason else { return false }
            return failure.schedule.contains("#0 body waits for #1 lost\n")
                && failure.schedule.contains("#1 lost (made by #0 body) waits for a continuation")
        } catch {}
        return false
    }
}
#else
/// Where the runtime's hooks are not in the SDK.
enum SimulationSupport {
    static var isSupported: Bool { false }

    static func run(_ plan: SimulationPlan, _ body: @escaping SimulationPlan.Body) throws -> SimulationRun {
        throw SimulationUnsupportedError()
    }
}
#endif
