import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// When a call that ends an owner has returned, none of its work begins, and all of it is cancelled.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct OwnerEndSimulationTests {
    private static let seeds = Schedules.seeds(2_000, inDebug: 30)

    private static func work(_ witness: EndWitness) async {
        witness.begins("the work")
        for _ in 1...2 {
            witness.continues("the work")
            await Task.yield()
            witness.continues("the work")
            try? await Task.sleep(for: .seconds(1))
        }
    }

    static let behaviors: [TaskStoreDuplicateKeyBehavior] = [
        .runConcurrently, .cancelPrevious(wait: false), .cancelPrevious(wait: true), .wait, .keepLatest,
        .preferPrevious,
        .debounce(for: .seconds(1)), .throttle(for: .seconds(1)),
    ]

    @Test(arguments: behaviors) func nothingOutlivesAStore(_ behavior: TaskStoreDuplicateKeyBehavior) throws {
        try expectNothingAfterTheEnd(of: { _ in TaskStore<Int>() }, seeds: Self.seeds) { store, witness in
            for key in [1, 1, 2] {
                store.addTask(forKey: key, duplicateKeyBehavior: behavior) { await Self.work(witness) }
            }
        }
        try expectNothingAfterTheEnd(of: { _ in TaskSlot(behavior: behavior) }, seeds: Self.seeds) { slot, witness in
            for _ in 1...2 { slot.addTask { await Self.work(witness) } }
        }
    }

    @Test func nothingOutlivesAStoreWithALimit() throws {
        let make: @Sendable (EndWitness) -> TaskStore<Int> = { _ in TaskStore(maxConcurrentTasks: 1) }
        try expectNothingAfterTheEnd(of: make, seeds: Self.seeds) { store, witness in
            for key in [1, 1, 2] {
                store.addTask(forKey: key, duplicateKeyBehavior: .wait) { await Self.work(witness) }
            }
        }
    }

    @Test func nothingOutlivesATaskThatIsBoundToALifetime() throws {
        try expectNothingAfterTheEnd(of: { _ in AsyncLifetime() }, seeds: Self.seeds) { lifetime, witness in
            // The task is the client's: it begins although it was cancelled before.
            Task {
                witness.continues("the work")
                await Task.yield()
                witness.continues("the work")
            }
            .bind(to: lifetime)
        }
    }

    @Test func nothingOutlivesTheQueueThatCancelsIt() throws {
        try expectNothingAfterTheEnd(
            of: { _ in CancellableQueue(underlyingQueue: FIFOQueue()) },
            ends: [.cancelAll, .cancelAllForAReason, .close],
            seeds: Self.seeds
        ) { queue, witness in
            for _ in 1...2 { _ = queue.addTask { () async throws in await Self.work(witness) } }
        }
    }

    @Test(arguments: [AbandonedFlightBehavior.cancel, .finish])
    func nothingOutlivesTheFlightsOfASingleFlight(_ behavior: AbandonedFlightBehavior) throws {
        try expectNothingAfterTheEnd(
            of: { _ in SingleFlight<Int, Int>(whenAbandoned: behavior) },
            ends: [.cancelAll, .cancelAllForAReason, .close],
            seeds: Self.seeds
        ) { flights, witness in
            for key in [1, 1, 2] {
                Task {
                    // Later callers begin flights: only a closed object refuses them.
                    if witness.isEnded { return }
                    _ = try await flights.value(for: key) {
                        await Self.work(witness)
                        return 1
                    }
                }
            }
        }
    }
}
