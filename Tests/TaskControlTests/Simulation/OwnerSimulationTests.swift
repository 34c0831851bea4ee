import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct OwnerSimulationTests {
    private static let faces: [@Sendable () -> OwnerFace] = [
        { .lifetime() }, { .bag() }, { .identifiableBag() }, { .store() }, { .store(limit: 1) }, { .store(limit: 2) },
    ]

    /// 100 programs under 1,000 schedules each.
    @Test(arguments: 0..<6)
    func randomProgramsAgreeWithTheModel(face: Int) async throws {
        let make = Self.faces[face]
        try await offThePool { try Self.play(make) }
    }

    private static func play(_ make: @Sendable @escaping () -> OwnerFace) throws {
        for number in 0..<100 as Range<UInt64> {
            let program = OwnerProgram(seed: number, for: make())
            do {
                try simulate(seeds: Schedules.seeds(1_000, inDebug: 3)) { sim in
                    try await program.run(sim, make(), isTold: false)
                }
            } catch let failure as Simulation.Failure {
                // Once more, with words.
                try simulate(seed: failure.seed, strategy: failure.strategy) { sim in
                    sim.note("program \(number) for \(make())")
                    try await program.run(sim, make(), isTold: true)
                }
            }
        }
    }
}
