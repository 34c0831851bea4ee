import Benchmark
import TaskControl
import TaskControlCaching

/// Registers the benchmark of a value that the cache has, compared with a dictionary in an actor that checks the age.
func registerCachedFlight() {
    Benchmark.row("CachedFlight, hit") {
        let reads = Scale.tasks * 10
        let (byHand, cache) = (CacheByHand(), makeCache())
        for key in 0..<10 { _ = try? await cache.value(for: key) }
        var row = Row(
            primitive: "`await cache.value(for:)`, a hit",
            baseline: "a dictionary in an actor, with the age checked",
            turns: await Turns.take(
                operations: reads,
                baseline: {
                    await ContinuousClock().measure {
                        for number in 0..<reads { _ = await byHand.value(for: number % 10) }
                    }
                },
                primitive: {
                    await ContinuousClock().measure {
                        for number in 0..<reads { _ = try? await cache.value(for: number % 10) }
                    }
                }
            )
        )
        row.target = .nanoseconds(atMost: 60)
        return row
    }
}

private func makeCache() -> CachedFlight<Int, Int> {
    CachedFlight(capacity: 100, policy: CachePolicy(timeToLive: .seconds(1_000))) { $0 }
}

private actor CacheByHand {
    private var entries: [Int: (value: Int, instant: ContinuousClock.Instant)] = [:]

    func value(for key: Int) -> Int {
        let now = ContinuousClock.now
        if let entry = entries[key], now - entry.instant < .seconds(1_000) { return entry.value }
        entries[key] = (key, now)
        return key
    }
}
