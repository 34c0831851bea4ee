import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct QueueSimulationTests {
    /// A random program: three tasks that do three operations each to one queue.
    private struct Program: Sendable {
        enum Operation: Sendable {
            case send(mayFail: Bool, QueueWorld.Work)
            case run(QueueWorld.Work)
            case cancelNewest, cancelAll, drain, sleep
        }

        let tasks: [[Operation]]

        init(seed: UInt64, for face: QueueFace) {
            var random = SeededGenerator(seed: seed)
            tasks = (0..<3).map { _ in (0..<3).map { _ in Self.operation(for: face, &random) } }
        }

        private static func operation(for face: QueueFace, _ random: inout SeededGenerator) -> Operation {
            let work = QueueWorld.Work.allCases.randomElement(using: &random)!
            switch Int.random(in: 0..<14, using: &random) {
            case 0...1: return .cancelNewest
            case 2...3 where face.canCancelAll: return .cancelAll
            case 4 where face.canRun: return .drain
            case 5...6 where face.canRun: return .run(work)
            case 7: return .sleep
            default: return .send(mayFail: Bool.random(using: &random), work)
            }
        }

        func run(_ sim: Simulation, _ face: QueueFace) async throws {
            let world = QueueWorld(sim, face)
            await withTaskGroup { group in
                for operations in tasks {
                    group.addTask {
                        var ends: [@Sendable () async -> Void] = []
                        for operation in operations {
                            switch operation {
                            case .send(let mayFail, let work): ends.append(world.send(mayFail: mayFail, work))
                            case .run(let work): ends.append(world.run(work))
                            case .cancelNewest: world.cancelNewest()
                            case .cancelAll: world.cancelAll()
                            case .drain: await world.drain()
                            case .sleep: try? await Task.sleep(for: .milliseconds(1))
                            }
                            await Task.yield()
                        }
                        for end in ends { await end() }
                    }
                }
            }
            // A caller that awaits a task may be resumed before its place is free.
            try await Task.sleep(for: .seconds(1))
            world.expectAllIsOver()
        }
    }

    /// 100 programs under 1,000 schedules each.
    @Test(arguments: QueueFace.allCases)
    func randomProgramsAgreeWithTheModel(face: QueueFace) async throws {
        try await offThePool {
            for number in 0..<100 as Range<UInt64> {
                let program = Program(seed: number, for: face)
                try simulate(seeds: Schedules.seeds(1_000, inDebug: 3)) { sim in
                    sim.note("program \(number) for \(face)")
                    try await program.run(sim, face)
                }
            }
        }
    }
}
