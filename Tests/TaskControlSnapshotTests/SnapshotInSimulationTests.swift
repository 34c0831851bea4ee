import TaskControl
import TaskControlSnapshot
import TaskControlTesting
import Testing

/// Each seed of a simulation is a process of its own.
@Suite(.timeLimit(.minutes(5)), .enabled(if: Simulation.isSupported))
struct SnapshotInSimulationTests {
    @Test func eachSeedTracksItsOwnTasks() throws {
        try simulate(seeds: 0..<5) { sim in
            TaskSnapshot.startTracking()
            let lifetime = AsyncLifetime(name: "screen \(sim.seed)")
            lifetime.addTask { try? await Task.sleep(for: .seconds(1)) }
            await Task.yield()
            let names = TaskSnapshot.current().owners.compactMap(\.name)
            sim.expect(names, equals: ["screen \(sim.seed)"])
            try await lifetime.drain()
        }
    }
}
