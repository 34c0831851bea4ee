import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// Callbacks, cancellations, handles and drops in every order: 10,000 schedules for each behavior, each of a program of its own.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct BridgingSimulationTests {
    @Test(arguments: [CancelledContinuationBehavior.throwImmediately, .waitForCallback])
    func bridgesAgreeWithTheModel(whenCancelled: CancelledContinuationBehavior) async throws {
        // So that nothing is printed of what is reported here on purpose.
        _ = Incidents.shared
        try await offThePool {
            try simulate(seeds: Schedules.seeds(10_000, inDebug: 100)) { sim in
                var random = sim.random
                let program = BridgeWorld.Program(&random)
                sim.note("\(program)")
                await BridgeWorld(sim, program, whenCancelled: whenCancelled).run()
            }
        }
    }
}
