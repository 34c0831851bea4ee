import TaskControlTesting
import TestSupport
import Testing

/// The simulation finds the mistakes of known clients.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct PlantedLeaseBugTests {
    /// Looks for a violation in random programs, 10 schedules each.
    ///
    /// - Returns: The number of programs until then, and the failure.
    private static func failure(
        of bug: PlantedLeaseBug,
        isPlanted: Bool,
        programs: Range<UInt64>
    ) throws -> (program: UInt64, Simulation.Failure)? {
        for number in programs {
            var random = SeededGenerator(seed: number)
            let program = bug.program(&random)
            do {
                try simulate(seeds: 0..<fullSize(10, inDebug: isPlanted ? 10 : 2)) { sim in
                    sim.note("program \(number): \(program)")
                    let world = isPlanted ? FleetWorld(sim, program, wrap: bug.plant) : FleetWorld(sim, program)
                    try await world.run()
                }
            } catch let failure as Simulation.Failure {
                return (number, failure)
            }
        }
        return nil
    }

    /// Takes minutes, so only where all schedules run.
    @Test(.enabled(if: Schedules.areAll), arguments: PlantedLeaseBug.all) func isFoundWithin2000Schedules(
        _ bug: PlantedLeaseBug
    ) async throws {
        let found = try await offThePool { try Self.failure(of: bug, isPlanted: true, programs: 0..<200) }
        let (program, failure) = try #require(found)
        guard case .expectation(let message, _) = failure.reason else { throw failure }
        #expect(message.hasPrefix("one lease is valid at a time"), "program \(program): \(message)")
    }

    @Test(arguments: PlantedLeaseBug.all) func itsTwinPasses(_ bug: PlantedLeaseBug) async throws {
        let failure = try await offThePool {
            try Self.failure(of: bug, isPlanted: false, programs: Schedules.seeds(50, inDebug: 2))
        }
        #expect(failure == nil)
    }
}
