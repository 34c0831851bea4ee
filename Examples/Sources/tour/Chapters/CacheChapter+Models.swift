import TaskControl
import TaskControlCaching
import TaskControlTesting

/// A server that counts its requests and holds its answers back. It is in this process: over HTTP, 10,000 requests would take too long.
final class Origin: Sendable {
    let requests = Observed(0)
    private let editions = [Gate(), Gate()]
    private let isSecond = Observed(false)

    /// Returns the edition that was the newest when the request came.
    func load() async throws -> Int {
        requests.update { $0 += 1 }
        let edition = isSecond.value ? 2 : 1
        try await editions[edition - 1].wait()
        return edition
    }

    /// Answers the requests for an edition, those that wait and those that come.
    func open(_ edition: Int) { editions[edition - 1].open() }

    /// Publishes the second edition: the requests that come from now on are for it.
    func publish() { isSecond.update { $0 = true } }
}

/// A cache of the news.
@MainActor
protocol NewsCache: AnyObject, Sendable {
    /// Whether readers receive a value that has expired.
    var returnsStaleValues: Bool { get }
    /// Returns the edition of the news.
    func read() async throws -> Int
    /// Waits until the cache has stored the answer to its request.
    func waitForRefresh() async throws
}

/// A cache as people write it today. It is correct as long as the readers come one after the other.
@MainActor
final class NaiveCache: NewsCache {
    private var entries: [String: (edition: Int, expires: TestClock.Instant)] = [:]
    private let origin: Origin
    private let clock: TestClock

    init(origin: Origin, clock: TestClock) { (self.origin, self.clock) = (origin, clock) }

    let returnsStaleValues = false

    func read() async throws -> Int {
        if let entry = entries["news"], clock.now < entry.expires { return entry.edition }
        // While this waits, the entry is as it was: every reader that comes now sends a request too.
        let edition = try await origin.load()
        entries["news"] = (edition, clock.now.advanced(by: CacheChapter.timeToLive))
        return edition
    }

    func waitForRefresh() {}
}

/// A cache with a `CachedFlight`.
@MainActor
final class SharedCache: NewsCache {
    private let news: CachedFlight<String, Int>
    let returnsStaleValues: Bool

    init(origin: Origin, clock: TestClock, staleWhileRevalidate: Duration = .zero) {
        let policy = CachePolicy(timeToLive: CacheChapter.timeToLive, staleWhileRevalidate: staleWhileRevalidate)
        news = CachedFlight(name: "news", capacity: 100, policy: policy, clock: clock) { _ in try await origin.load() }
        returnsStaleValues = staleWhileRevalidate > .zero
    }

    func read() async throws -> Int { try await news.value(for: "news") }

    func waitForRefresh() async throws {
        // The old value, if it is still there, and then the new one.
        for try await _ in news.values(for: "news") {}
    }
}
