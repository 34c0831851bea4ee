import TaskControl
import TaskControlTesting

/// A random program: three tasks that do three operations each to one owner.
struct OwnerProgram: Sendable {
    enum Operation: Sendable {
        case add(String?, TaskStoreDuplicateKeyBehavior, OwnerWorld.Work)
        case adopt(String?, OwnerWorld.Work)
        case cancelKey(String)
        case cancelAll
        case cancelNewest
        case close
        case drain
        case sleep
    }

    private let tasks: [[Operation]]

    init(seed: UInt64, for face: OwnerFace) {
        var random = SeededGenerator(seed: seed)
        tasks = (0..<3).map { _ in (0..<3).map { _ in Self.operation(for: face, &random) } }
    }

    private static func operation(for face: OwnerFace, _ random: inout SeededGenerator) -> Operation {
        let key = face.keys.randomElement(using: &random)!
        let work = OwnerWorld.Work.allCases.randomElement(using: &random)!
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return .cancelAll
        case 1: return key.map { .cancelKey($0) } ?? .cancelAll
        case 2: return .cancelNewest
        case 3: return .drain
        case 4: return .sleep
        case 5 where face.canClose: return .close
        case 6...7 where face.canAdopt: return .adopt(key, work)
        default: return .add(key, face.behaviors.randomElement(using: &random)!, work)
        }
    }

    /// - Parameter isTold: With a line in the schedule for each thing that happens.
    func run(_ sim: Simulation, _ face: OwnerFace, isTold: Bool) async throws {
        let world = OwnerWorld(sim, face, isTold: isTold)
        await withTaskGroup { group in
            for operations in tasks {
                group.addTask {
                    for operation in operations {
                        await Self.perform(operation, in: world, sim)
                        await Task.yield()
                    }
                }
            }
        }
        try await world.comesToRest()
    }

    private static func perform(_ operation: Operation, in world: OwnerWorld, _ sim: Simulation) async {
        switch operation {
        case .add(let key, let behavior, let work): world.add(key, behavior, work)
        case .adopt(let key, let work): world.adopt(key, work)
        case .cancelKey(let key): world.cancel(key: key)
        case .cancelAll: world.cancelAll()
        case .cancelNewest: world.cancelNewest()
        case .close: world.close()
        case .sleep: try? await Task.sleep(for: .milliseconds(1))
        case .drain:
            let drain = Task { try await world.face.drain() }
            sim.cancelAtAnyPoint(drain)
            if case .failure(let error) = await drain.result {
                sim.expect(
                    error is CancellationError,
                    "drain throws nothing but its caller's cancellation, not \(error)"
                )
            }
        }
    }
}
