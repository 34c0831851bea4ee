import TaskControl
import TaskControlCaching
import TaskControlTesting
import TestSupport
import Testing

/// When a call that ends a cache has returned, none of its loads begins, and all are cancelled.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct CacheEndTests {
    /// In the last of the seeds, a load that waits behind another is cancelled when the other has ended.
    @Test(arguments: [Schedules.seeds(5_000, inDebug: 100), 96_444..<96_445])
    func loadsAndRefreshesEndWithTheCache(_ seeds: Range<UInt64>) throws {
        try expectNothingAfterTheEnd(
            of: { witness in
                let policy = CachePolicy(timeToLive: .seconds(1), staleWhileRevalidate: .seconds(10))
                return CachedFlight<Int, Int>(capacity: 10, policy: policy) { key in
                    witness.begins("a load")
                    await Task.yield()
                    witness.continues("a load")
                    try await Task.sleep(for: .seconds(1))
                    witness.continues("a load")
                    return key
                }
            },
            // A reader retains the cache.
            ends: [.cancelAll, .cancelAllForAReason, .close],
            seeds: seeds
        ) { cache, witness in
            for key in [1, 1, 2] {
                Task {
                    // Later readers of a cache that was not closed begin loads.
                    for _ in 1...3 where !witness.isEnded {
                        _ = try? await cache.value(for: key)
                        if witness.isEnded { return }
                        if key == 1 { cache.invalidate(1) }
                        _ = try? await cache.fresh(for: key)
                        try await Task.sleep(for: .seconds(2))
                    }
                }
            }
        }
    }
}
