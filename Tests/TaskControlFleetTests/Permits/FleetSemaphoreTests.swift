import TaskControl
import TaskControlFleet
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct FleetSemaphoreTests {
    @Test func asManyCallersHoldAsThereArePermits() async throws {
        try await inVirtualTime { sim in
            let (memory, holders, order) = (MemoryStore(), Holders(sim, permits: 3), OrderRecorder<Int>())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<9 {
                    // Each is a process of its own.
                    let semaphore = FleetSemaphore("jobs", permits: 3, in: memory, timeToLive: .seconds(10))
                    group.addTask {
                        try await Task.sleep(for: .milliseconds(10 * number))
                        try await semaphore.withPermit { lease in
                            holders.begin(lease)
                            order.record(number)
                            try await Task.sleep(for: .seconds(4))
                            holders.end(lease)
                        }
                    }
                }
                try await group.waitForAll()
            }
            sim.expect(holders.most == 3, "all permits are used")
            sim.expect(order.events == Array(0..<9), "first come, first served")
            sim.expect(sim.now < .seconds(13), "no permit is idle while a caller waits")
            sim.expect(try await memory.line("permits/jobs/").isEmpty, "the line is empty")
        }
    }

    @Test func aDeadHolderGivesItsPermitBackWithItsLease() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            let store = FaultyStore(memory)
            let dead = FleetSemaphore("jobs", permits: 2, in: store, timeToLive: .seconds(10))
            let semaphore = FleetSemaphore("jobs", permits: 2, in: memory, timeToLive: .seconds(10))
            let (release, holders) = (Gate(), Holders(sim, permits: 2))
            let first = Task {
                try await dead.withPermit { lease in
                    holders.begin(lease)
                    try await Gate().wait()
                }
            }
            let second = Task {
                try await semaphore.withPermit { lease in
                    holders.begin(lease)
                    try await release.wait()
                    holders.end(lease)
                }
            }
            try await Task.sleep(for: .milliseconds(100))
            store.fail { _ in .hang }
            let time = sim.now
            try await semaphore.withPermit { holders.begin($0) }
            sim.expect(sim.now - time <= .seconds(10), "the lease of the dead holder has expired")
            release.open()
            try await second.value
            sim.expect(await failure { try await first.value } is LeaseLostError, "it has lost its lease")
        }
    }

    @Test(arguments: [0, -3, Int.min]) func lessThanOnePermitCountsAsOne(_ permits: Int) async throws {
        try await inVirtualTime { sim in
            let semaphore = FleetSemaphore("jobs", permits: permits, in: MemoryStore())
            sim.expect(semaphore.permits == 1 && semaphore.name == "jobs", "there is one permit")
            sim.expect(try await semaphore.withPermit { _ in 3 } == 3, "the value of the body is returned")
        }
    }

    @Test func aCancelledCallerLeavesTheLine() async throws {
        try await inVirtualTime(1_000) { sim in
            let memory = MemoryStore()
            let semaphore = FleetSemaphore("jobs", permits: 2, in: memory, timeToLive: .seconds(10))
            let tasks = (0..<4).map { _ in
                Task { try await semaphore.withPermit { _ in try await Task.sleep(for: .milliseconds(1)) } }
            }
            for task in tasks { sim.cancelAtAnyPoint(task) }
            for task in tasks { _ = await task.result }
            sim.expect(try await memory.line("permits/jobs/").isEmpty, "the line is empty")
        }
    }
}
