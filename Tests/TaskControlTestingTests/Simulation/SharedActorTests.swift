import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// Simulations on threads of their own, and ordinary tasks, that use one global actor.
@Suite(.timeLimit(.minutes(15)), .serialized, .enabled(if: Simulation.capabilities == .all), .tags(.schedules))
struct SharedActorTests {
    @globalActor private actor Shared {
        static let shared = Shared()
        var count = 0

        func add() { count += 1 }
    }

    @Shared private static var visits = 0

    @Shared private static func visit() async {
        let before = visits
        await Task.yield()
        visits = before + 1
    }

    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            for number in 0..<count { group.addTask { try await offThePool { try body(number) } } }
            try await group.waitForAll()
        }
    }

    @Test func simulationsThatShareAGlobalActorDoNotDisturbEachOther() async throws {
        try await onThreads(3) { number in
            let strategy: SimulationStrategy = number == 0 ? .swarm : .random
            try simulate(seeds: 0..<300, strategy: strategy, checksDeterminism: number == 1) { _ in
                await withTaskGroup { group in
                    for _ in 0..<4 { group.addTask { await Self.visit() } }
                    group.addTask { await Shared.shared.add() }
                }
            }
        }
    }

    @Test func actorsOfTheirOwnAreRunAtTheSameTime() async throws {
        let (running, most) = (Locked(0), Locked(0))
        try await onThreads(2) { _ in
            try simulate(seeds: 0..<100) { _ in
                let now = running.withLock { running in
                    running += 1
                    return running
                }
                most.withLock { $0 = max($0, now) }
                let counter = Counter()
                await counter.add(1)
                if most.withLock({ $0 }) < 2 { usleep(200) }
                running.withLock { $0 -= 1 }
            }
        }
        #expect(running.withLock { $0 } == 0)
    }

    /// The message names the actor, and says what to do.
    @Test func anOrdinaryTaskOnTheActorIsAnEscapeThatNamesTheActor() async throws {
        let (isInside, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let ordinary = Task { @Shared in
            isInside.signal()
            isOver.wait()
        }
        let failure = try await offThePool {
            isInside.wait()
            return TaskControlTestingTests.failure { _ in
                await Task(name: "visitor") { await Shared.shared.add() }.value
            }
        }
        isOver.signal()
        await ordinary.value
        guard case .escaped(let what) = failure?.reason else { Issue.record("\(failure as Any)"); return }
        #expect(
            what.hasPrefix("#1 visitor waits for Shared, an actor that another test or thread uses at the same time")
        )
        #expect(what.contains(".serialized"))
    }
}
