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
            let strategy: Simulation.Strategy = number == 0 ? .swarm : .random
            try simulate(seeds: 0..<300, strategy: strategy, checksDeterminism: number == 1) { _ in
                await withTaskGroup { group in
                    for _ in 0..<4 { group.addTask { await Self.visit() } }
                    group.addTask { await Shared.shared.add() }
                }
            }
        }
    }

    /// Each waits until the other one has come as far: one after the other, neither would end.
    @Test func simulationsWithActorsOfTheirOwnRunAtTheSameTime() async throws {
        let arrivals = Locked(0)
        try await withThrowingTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    let done = Gate()
                    Thread.detachNewThread {
                        _ = try? simulate(seed: 1) { _ in
                            await Counter().add(1)
                            arrivals.withLock { $0 += 1 }
                            while arrivals.withLock({ $0 }) < 2 { sched_yield() }
                        }
                        done.open()
                    }
                    try await done.wait()
                }
            }
            try await group.waitForAll()
        }
        #expect(arrivals.withLock { $0 } == 2)
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
