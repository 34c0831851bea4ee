import TaskControl
import TaskControlFleet
import TaskControlTesting
import TestSupport
import Testing

/// When a call that ends an owner has returned, nothing that runs under a lease for one of its tasks begins, and all of it is cancelled.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct ElectionEndTests {
    /// A way to run work under a lease.
    struct Form: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let start: @Sendable (AsyncLifetime, EndWitness) -> Void
    }

    private static func work(_ witness: EndWitness) async throws {
        witness.begins("the operation")
        await Task.yield()
        witness.continues("the operation")
        try await Task.sleep(for: .seconds(3))
        witness.continues("the operation")
    }

    static let forms = [
        Form(testDescription: "lead") { lifetime, witness in
            let election = LeaderElection("scheduler", in: MemoryStore())
            election.lead(in: lifetime) { _ in try await work(witness) }
        },
        Form(testDescription: "lead with a grace") { lifetime, witness in
            let election = LeaderElection("scheduler", in: MemoryStore())
            election.lead(in: lifetime, grace: .seconds(5)) { _ in try await work(witness) }
        },
        Form(testDescription: "withLease") { lifetime, witness in
            let store = MemoryStore()
            lifetime.addTask { try await withLease("job", in: store) { _ in try await work(witness) } }
        },
        Form(testDescription: "withPermit") { lifetime, witness in
            let permits = FleetSemaphore("workers", permits: 1, in: MemoryStore())
            lifetime.addTask { try await permits.withPermit { _ in try await work(witness) } }
        },
    ]

    @Test(arguments: forms) func nothingUnderALeaseOutlivesTheOwner(_ form: Form) throws {
        try expectNothingAfterTheEnd(
            of: { _ in AsyncLifetime() },
            seeds: Schedules.seeds(1_000, inDebug: 20),
            start: form.start
        )
    }
}
