import TaskControl
import TaskControlTesting

/// A value with many readers expires: how many of them load it again, and how many wait?
struct CacheChapter: Chapter {
    let name = "cache"
    let title = "The cache expires"

    private static let readers = 10_000
    static let timeToLive = Duration.seconds(60)

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let naive = try await measure { NaiveCache(origin: $0, clock: $1) }
        let shared = try await measure { SharedCache(origin: $0, clock: $1) }
        let stale = try await measure { SharedCache(origin: $0, clock: $1, staleWhileRevalidate: .seconds(300)) }
        let all = Self.readers
        return Report(
            naive: ["\(naive.requests) requests for \(all) readers, \(all - naive.served) readers wait"],
            taskControl: [
                "timeToLive: \(shared.requests) request, \(all - shared.served) readers wait",
                "staleWhileRevalidate: \(stale.requests) request, \(all - stale.served) readers wait",
            ],
            claims: [
                Claim("naive: every reader sends a request", naive.requests, is: all),
                Claim("naive: every reader waits", naive.served, is: 0),
                Claim("timeToLive: one request for all readers", shared.requests, is: 1),
                Claim("timeToLive: every reader waits for it, and has the new edition", shared.editions, is: [2: all]),
                Claim("staleWhileRevalidate: one request for all readers", stale.requests, is: 1),
                Claim("staleWhileRevalidate: no reader waits for the answer", stale.served, is: all),
                Claim("staleWhileRevalidate: they have the old edition", stale.editions, is: [1: all]),
                Claim("staleWhileRevalidate: the new edition is for the readers after that", stale.later, is: 2),
                Claim(
                    "later readers cause no request",
                    [naive, shared, stale].map(\.requestsOfLater),
                    is: [0, 0, 0]
                ),
            ]
        )
    }

    /// The requests of the origin after the value had expired, the readers that had a value before the origin answered, the number of readers of each
    /// edition, and the edition of a reader that comes when the origin has answered, with the requests that it caused.
    private typealias Measured = (requests: Int, served: Int, editions: [Int: Int], later: Int, requestsOfLater: Int)

    /// Fills a cache, lets its value expire, and reads it many times before the origin has answered.
    @MainActor
    private func measure(cache make: (Origin, TestClock) -> any NewsCache) async throws -> Measured {
        // The time of a test: the value expires when the chapter says so.
        let clock = TestClock()
        let origin = Origin()
        let cache = make(origin, clock)
        origin.open(1)
        _ = try await cache.read()
        let filling = origin.requests.value
        // From here on, answers have the second edition, and are held back.
        origin.publish()
        await clock.advance(by: Self.timeToLive)

        // Only the last reader signals: 10,000 signals would take longer than the reads.
        let (allAsk, allHaveValues) = (Observed(false), Observed(false))
        var (asking, served) = (0, 0)
        let reads = (1...Self.readers).map { _ in
            Task {
                // Readers run on the main actor, up to their first wait: a reader that was counted has asked the cache.
                asking += 1
                if asking == Self.readers { allAsk.update { $0 = true } }
                let edition = try await cache.read()
                served += 1
                if served == Self.readers { allHaveValues.update { $0 = true } }
                return edition
            }
        }
        try await allAsk.expect("all readers") { $0 }
        try await origin.requests.expect("a request for the new edition") { $0 > filling }
        if cache.returnsStaleValues { try await allHaveValues.expect("the readers to have a value") { $0 } }
        let servedBefore = served

        origin.open(2)
        var editions: [Int: Int] = [:]
        for read in reads { editions[try await read.value, default: 0] += 1 }
        try await cache.waitForRefresh()
        let requests = origin.requests.value
        let later = try await cache.read()
        return (requests - filling, servedBefore, editions, later, origin.requests.value - requests)
    }
}
