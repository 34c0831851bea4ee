#if os(Linux)
import Dispatch
import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// A step that blocks its thread until another task has run fails its seed, and does not hang.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported))
struct BlockingWaitTests {
    private func expectBlocked(
        _ text: String,
        strategy: Simulation.Strategy = .inOrder,
        _ wait: @escaping @Sendable () -> Void,
        endedBy end: @escaping @Sendable () -> Void,
        location: SourceLocation = #_sourceLocation
    ) {
        let failure = failure(strategy: strategy) { _ in
            let task = Task(name: "signals") {
                await Task.yield()
                try await Task.sleep(for: .seconds(1))
                end()
            }
            await Task(name: "waits") { wait() }.value
            try await task.value
        }
        guard case .blocked(let what) = failure?.reason else {
            Issue.record("\(failure.map { "\($0)" } ?? "it passed")", sourceLocation: location)
            return
        }
        #expect(what.hasPrefix("#2 waits \(text)"), "\(what)", sourceLocation: location)
    }

    @Test func aWaitForASignalOfAnotherTask() {
        let semaphore = DispatchSemaphore(value: 0)
        expectBlocked(
            "waits in dispatch_semaphore_wait for another task of the simulation, called by",
            { semaphore.wait() },
            endedBy: { semaphore.signal() }
        )
        let group = DispatchGroup()
        group.enter()
        expectBlocked(
            "waits in dispatch_group_wait for another task of the simulation, called by",
            { group.wait() },
            endedBy: { group.leave() }
        )
        let (condition, isDone) = (NSCondition(), Locked(false))
        expectBlocked(
            "waits in pthread_cond_wait for another task of the simulation, called by",
            {
                condition.lock()
                while !isDone.withLock({ $0 }) { condition.wait() }
                condition.unlock()
            },
            endedBy: {
                condition.lock()
                isDone.withLock { $0 = true }
                condition.signal()
                condition.unlock()
            }
        )
    }

    @Test func underEveryStrategy() {
        for strategy in [.random, .sticky, .partialOrder, .pct(depth: 3)] as [Simulation.Strategy] {
            let semaphore = DispatchSemaphore(value: 0)
            let failure = failure(strategy: strategy) { _ in
                await withTaskGroup { group in
                    for _ in 0..<3 { group.addTask { Self.wait(for: semaphore) } }
                    for _ in 0..<3 { group.addTask { semaphore.signal() } }
                }
            }
            // Unless each signal happens to come before its wait.
            guard let failure else { continue }
            guard case .blocked = failure.reason else { Issue.record("\(failure)"); return }
        }
    }

    private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test func aPollThatBlocksItsThread() {
        let isDone = Locked(false)
        expectBlocked(
            "polls: 10000 calls of ",
            { while !isDone.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.01) } },
            endedBy: { isDone.withLock { $0 = true } }
        )
    }

    @Test func manySleepsOfAThreadAreNoPoll() throws {
        let run = try simulate(seed: 1) { _ in
            for _ in 0..<2 {
                for _ in 0..<9_000 { usleep(1_000) }
                await Task.yield()
            }
        }
        #expect(run.elapsed == .seconds(18))
    }
}
#endif
