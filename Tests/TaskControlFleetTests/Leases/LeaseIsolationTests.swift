import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlFleet

/// The isolation of a body that holds a lease.
@Suite(.timeLimit(.minutes(5))) struct LeaseIsolationTests {
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    private actor Computation {
        private let executor = QueueExecutor()

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        /// Computes without a suspension until the task is cancelled, for a time that is long for a test and not forever.
        private func compute() -> Bool {
            for _ in 0..<20_000 {
                if Task.isCancelled { return true }
                Thread.sleep(forTimeInterval: 0.001)
            }
            return false
        }

        func computeUntil(_ signal: Gate) async -> (Bool, CancellationCause?)? {
            try? await withCancellation { cancel in
                Task.detached {
                    await signal.waitIgnoringCancellation()
                    cancel(.leaseLost(name: "job"))
                }
            } operation: {
                preconditionIsolated()
                signal.open()
                return (compute(), Task.cancellationCause)
            }.get()
        }

        func computeWithLease(in store: FaultyStore, _ clock: TestClock) async -> (Bool, (any Error)?) {
            var isCancelled = false
            let error = await failure {
                try await withLease("job", in: store, timeToLive: .seconds(10), clock: clock) { lease in
                    let advance = Task.detached { await clock.advance(by: .seconds(3_600)) }
                    isCancelled = compute()
                    await advance.value
                }
            }
            return (isCancelled, error)
        }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test(.enabled(if: Simulation.isSupported)) func aBodyNeverBeginsWithALeaseThatIsLost() async throws {
        let (clock, actor) = (TestClock(), HeldActor())
        let memory = MemoryStore(clock: clock)
        let isHeld = Locked(false)
        let store = FaultyStore(memory)
        // The actor is busy from the first entry on, until the lease is lost.
        store.fail { call in
            let isFirst =
                call.isEntry
                && !isHeld.withLock { isHeld in
                    defer { isHeld = true }
                    return isHeld
                }
            if isFirst { actor.executor.hold() }
            return .none
        }
        let bodies = Locked(0)
        let caller = Task {
            try await Self.hold(on: actor, store, clock) { lease in
                bodies.withLock { $0 += 1 }
                #expect(lease.isValid)
                return lease.token
            }
        }
        try await actor.executor.held.wait()
        let entry = try await memory.line().first
        await clock.advance(by: .seconds(3_600))
        actor.executor.release()
        let token = try await caller.value
        #expect(entry.map { $0.createRevision < token.rawValue } == true, "the caller has entered the line again")
        #expect(bodies.withLock(\.self) == 1 && memory.leaseCount == 0)
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    private static func hold(
        on actor: isolated HeldActor,
        _ store: FaultyStore,
        _ clock: TestClock,
        _ body: @Sendable (Lease) -> Lease.FencingToken
    ) async throws -> Lease.FencingToken {
        try await withLease("job", in: store, timeToLive: .seconds(10), clock: clock) { body($0) }
    }

    @Test func aSignalCancelsAnOperationThatKeepsTheActorBusy() async {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { return }
        let end = await Computation().computeUntil(Gate())
        #expect(end?.0 == true && end?.1 == .leaseLost(name: "job"))
    }

    @Test func aBodyThatKeepsItsActorBusyIsCancelledWhenItsLeaseIsLost() async {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { return }
        let clock = TestClock()
        let (isCancelled, error) = await Computation().computeWithLease(
            in: FaultyStore(MemoryStore(clock: clock)),
            clock
        )
        #expect(isCancelled && error is LeaseLostError)
    }
}

/// Runs the jobs of an actor on a thread outside the pool.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
private final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "a busy actor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
