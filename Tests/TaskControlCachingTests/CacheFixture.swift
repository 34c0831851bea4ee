import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlCaching

/// A cache in virtual time whose loads stand at gates if the test wants it, and otherwise return the number of the load.
final class CacheFixture: Sendable {
    let clock = TestClock()
    let loads = OrderRecorder<String>()
    let cache: CachedFlight<String, Int>
    private let source: Source

    /// The behavior of a load. A load without a plan returns its number.
    enum Plan: Sendable {
        case wait(Gate)
        /// Ignores its cancellation.
        case hang(Gate)
        /// Waits, with a time limit.
        case limited(Gate, Duration)
        case fail(any Error)
    }

    private struct Books {
        var plans: [Int: Plan] = [:]
        var count = 0
        var running: [String: Int] = [:]
        var mostAtOnce = 0
    }

    /// The state that the loads use, so that they do not retain the cache.
    private final class Source: Sendable {
        let books = Locked(Books())
        let loads: OrderRecorder<String>
        let clock: TestClock

        init(_ loads: OrderRecorder<String>, _ clock: TestClock) { (self.loads, self.clock) = (loads, clock) }

        func load(_ key: String) async throws -> Int {
            let (number, plan) = books.withLock { books in
                books.count += 1
                books.running[key, default: 0] += 1
                books.mostAtOnce = max(books.mostAtOnce, books.running[key]!)
                return (books.count, books.plans[books.count])
            }
            defer { books.withLock { $0.running[key]! -= 1 } }
            loads.record(key)
            switch plan {
            case nil: break
            case .wait(let gate): try await gate.wait()
            case .hang(let gate): await gate.waitIgnoringCancellation()
            case .limited(let gate, let limit): try await withTimeout(limit, clock: clock) { try await gate.wait() }
            case .fail(let error): throw error
            }
            return number
        }
    }

    init(
        capacity: Int = 10,
        _ policy: CachePolicy = CachePolicy(timeToLive: .seconds(10)),
        freshnessLifetime: (@Sendable (Result<Int, any Error>) -> Duration?)? = nil,
        random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: 0...UInt64.max) }
    ) {
        let source = Source(loads, clock)
        self.source = source
        cache = CachedFlight(
            name: "articles",
            capacity: capacity,
            policy: policy,
            freshnessLifetime: freshnessLifetime,
            clock: clock,
            random: random
        ) { try await source.load($0) }
    }

    /// Decides what a load does, counted from 1.
    func plan(_ number: Int, _ plan: Plan) { source.books.withLock { $0.plans[number] = plan } }

    var loadCount: Int { source.books.withLock { $0.count } }

    /// The most loads of one key that ran at the same time.
    var mostAtOnce: Int { source.books.withLock { $0.mostAtOnce } }

    /// A reader in a task of its own.
    func reader(_ key: String = "a") -> Task<Int, any Error> { Task { try await self.cache.value(for: key) } }

    /// A reader in a task of its own, with a deadline.
    func reader(_ key: String = "a", within time: Duration) -> Task<Int, any Error> {
        Task { try await withDeadline(in: time, clock: self.clock) { try await self.cache.value(for: key) } }
    }

    /// Waits until the given number of callers wait for flights.
    func waitForCallers(_ count: Int) async throws {
        let flights = cache._storage.flights
        try await wait(forBooksOf: flights.source.number) { count - flights.callerCount }
    }

    /// Waits until at most the given number of flights are left.
    func waitForFlights(atMost count: Int = 0) async throws {
        let flights = cache._storage.flights
        try await wait(forBooksOf: flights.source.number) { flights.liveCount - count }
    }

    /// Expects that no caller is left on a flight, not even one that never waited.
    func expectNoCallers(sourceLocation: SourceLocation = #_sourceLocation) {
        let flights = cache._storage.flights
        #expect(flights.state.withLock { $0.waits.count } == 0, sourceLocation: sourceLocation)
        #expect(flights.callerCount == 0, sourceLocation: sourceLocation)
    }
}
