import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlCaching

/// A cache under many schedules: random programs, and the races by name.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct CacheSimulationTests {
    private enum Operation: Sendable {
        case read(Int, isFresh: Bool, isCancelled: Bool, limit: Int?)
        /// An iteration over the stale and the fresh value.
        case values(Int, isCancelled: Bool)
        case peek(Int)
        case update(Int), invalidate(Int), removeAll, removeOld
        case sleep(Int)

        init(_ random: inout SeededGenerator) {
            let key = Int.random(in: 0..<3, using: &random)
            switch Int.random(in: 0..<16, using: &random) {
            case 0: self = .update(key)
            case 1: self = .invalidate(key)
            case 2: self = Bool.random(using: &random) ? .removeAll : .sleep(6)
            case 3, 4: self = .sleep(Int.random(in: 1...4, using: &random))
            case 5: self = .read(key, isFresh: true, isCancelled: Bool.random(using: &random), limit: nil)
            case 6, 7: self = .values(key, isCancelled: Bool.random(using: &random))
            case 8: self = .peek(key)
            case 9: self = .removeOld
            default:
                let limit = [nil, 1, 4].randomElement(using: &random)!
                self = .read(key, isFresh: false, isCancelled: Bool.random(using: &random), limit: limit)
            }
        }
    }

    /// 100 programs of three tasks under 1,000 schedules each, with policies that use every duration or none. A capacity of 1 or 2 evicts.
    @Test(arguments: [1, 2]) func programsAgreeWithTheHistory(capacity: Int) async throws {
        try await offThePool {
            for number in 0..<100 as Range<UInt64> {
                var random = SeededGenerator(seed: number)
                let program = (0..<3).map { _ in (0..<4).map { _ in Operation(&random) } }
                let plans = (0..<5).map { _ in CacheWorld.Work.allCases.randomElement(using: &random)! }
                let policy = CacheWorld.policy(&random)
                try simulate(seeds: Schedules.seeds(1_000, inDebug: 3)) { sim in
                    sim.note("program \(number): \(program), \(plans), \(policy)")
                    let world = CacheWorld(sim, capacity: capacity, plans: plans, policy)
                    await withTaskGroup { group in
                        for operations in program { group.addTask { await Self.play(operations, world) } }
                    }
                    try await Task.sleep(for: .seconds(1))
                    world.expectAllIsOver()
                }
            }
        }
    }

    private static func play(_ operations: [Operation], _ world: CacheWorld) async {
        var ends: [@Sendable () async -> Void] = []
        for operation in operations {
            switch operation {
            case .read(let key, let isFresh, let isCancelled, let limit):
                ends.append(world.read(key, isFresh: isFresh, isCancelled: isCancelled, limit: limit))
            case .values(let key, let isCancelled): ends.append(world.values(key, isCancelled: isCancelled))
            case .peek(let key): world.peek(key)
            case .removeOld: world.removeOld()
            case .update(let key): world.update(key)
            case .invalidate(let key): world.invalidate(key)
            case .removeAll: world.removeAll()
            case .sleep(let time): try? await Task.sleep(for: .milliseconds(time))
            }
            await Task.yield()
        }
        for end in ends { await end() }
    }

    // MARK: Races

    private static let policy = CachePolicy(
        timeToLive: .milliseconds(10),
        staleWhileRevalidate: .milliseconds(10)
    )

    /// A refresh ends while the key is invalidated: what the source had before is never seen after.
    @Test(arguments: [true, false]) func refreshAndInvalidation(isWrite: Bool) async throws {
        try await race { sim in
            let source = Locked(1)
            let cache = CachedFlight<Int, Int>(capacity: 1, policy: Self.policy) { _ in
                let value = source.withLock { $0 }
                await Task.yield()
                return value
            }
            sim.expect(try await cache.value(for: 0) == 1)
            try await Task.sleep(for: .milliseconds(10))
            // Triggers the refresh.
            sim.expect(try await cache.value(for: 0) == 1)
            let done = Gate()
            sim.atAnyPoint {
                source.withLock { $0 = 2 }
                if isWrite { cache.update(2, for: 0) } else { cache.invalidate(0) }
                done.open()
            }
            let reader = Task { try await cache.value(for: 0) }
            try await done.wait()
            sim.expect(try await cache.value(for: 0) == 2, "not what was fetched before")
            sim.expect([1, 2].contains(try await reader.value))
            try await Task.sleep(for: .milliseconds(5))
            sim.expect(try await cache.value(for: 0) == 2 && cache._storage.flights.liveCount == 0)
        }
    }

    /// Readers at the moment of expiry: one load, in any order of the readers.
    @Test(arguments: [Duration.zero, .milliseconds(10)]) func expiryAndHit(stale: Duration) async throws {
        try await race { sim in
            let loads = OrderRecorder<Int>()
            let policy = CachePolicy(timeToLive: .milliseconds(10), staleWhileRevalidate: stale)
            let cache = CachedFlight<Int, Int>(capacity: 1, policy: policy) { _ in
                loads.record(0)
                await Task.yield()
                return loads.count
            }
            sim.expect(try await cache.value(for: 0) == 1)
            let start = ContinuousClock.now
            await withTaskGroup { group in
                for number in 0..<5 {
                    group.addTask {
                        try? await Task.sleep(for: .milliseconds(9 + number / 2))
                        let isFresh = ContinuousClock.now - start < .milliseconds(10)
                        let value = try? await cache.value(for: 0)
                        sim.expect(value == 2 || value == 1 && (isFresh || stale > .zero))
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(5))
            sim.expect(loads.count == 2, "\(loads.count - 1) loads at the expiry")
        }
    }

    /// The readers of a stale value leave: the refresh continues, and its result is there.
    @Test func theLastReaderLeavesDuringARefresh() async throws {
        try await race { sim in
            let loads = OrderRecorder<Int>()
            var policy = Self.policy
            policy.patience = .milliseconds(5)
            let cache = CachedFlight<Int, Int>(capacity: 1, policy: policy) { _ in
                loads.record(0)
                let number = loads.count
                if number > 1 { try await Task.sleep(for: .milliseconds(2)) }
                return number
            }
            sim.expect(try await cache.value(for: 0) == 1)
            try await Task.sleep(for: .milliseconds(10))
            let readers = (0..<2).map { _ in Task { try await cache.value(for: 0) } }
            for reader in readers { sim.cancelAtAnyPoint(reader) }
            for reader in readers {
                switch await reader.result {
                case .success(let value): sim.expect(value == 2 || value == 1)
                case .failure(let error): sim.expect(error is CancellationError)
                }
            }
            try await Task.sleep(for: .milliseconds(5))
            let flights = cache._storage.flights
            sim.expect(flights.liveCount == 0 && loads.count <= 2)
            sim.expect(flights.state.withLock { $0.waits.count } == 0, "no caller is left that never waited")
            if loads.count == 2 { sim.expect(cache.peek(0) == 2, "the refresh has gone on") }
        }
    }

    /// A load ends while callers ask for a newer result: one more load, which begins after their calls.
    @Test func freshCallsAndTheEndOfALoad() async throws {
        try await race { sim in
            let (begun, running) = (OrderRecorder<Int>(), Locked(0))
            let cache = CachedFlight<Int, Int>(capacity: 1, policy: Self.policy) { _ in
                begun.record(0)
                let number = begun.count
                sim.expect(
                    running.withLock {
                        $0 += 1; return $0
                    } == 1,
                    "one at a time"
                )
                await Task.yield()
                running.withLock { $0 -= 1 }
                return number
            }
            await withTaskGroup { group in
                for isFresh in [false, true, true, true] {
                    group.addTask {
                        let before = begun.count
                        let value = isFresh ? try? await cache.fresh(for: 0) : try? await cache.value(for: 0)
                        sim.expect(value.map { !isFresh || $0 > before } ?? false)
                    }
                }
            }
            sim.expect(begun.count <= 4 && cache._storage.flights.liveCount == 0)
        }
    }

    /// Two keys whose loads ask for each other, and for what comes after: an error, and never a hang.
    @Test func loadsThatAskForEachOther() async throws {
        try await race { sim in
            let holder = Locked<CachedFlight<Int, Int>?>(nil)
            let cache = CachedFlight<Int, Int>(capacity: 2, policy: Self.policy) { key in
                let cache = holder.withLock { $0 }!
                await Task.yield()
                if key == 0 { cache.invalidate(0) }
                return try await cache.value(for: 1 - key)
            }
            holder.withLock { $0 = cache }
            let readers = (0..<3).map { number in Task { try await cache.value(for: number % 2) } }
            for reader in readers {
                guard case .failure(let error) = await reader.result else { return sim.expect(false, "it fails") }
                sim.expect((error as? ReentrancyError)?.key != nil, "not with \(error)")
            }
            holder.withLock { $0 = nil }
        }
    }

    /// The cache is deallocated while a refresh begins: the refresh is cancelled, or does not begin.
    @Test func refreshAndTheEndOfTheCache() async throws {
        try await race { sim in
            let ended = OrderRecorder<Int>()
            var cache: CachedFlight<Int, Int>? = CachedFlight(capacity: 1, policy: Self.policy) { _ in
                if ended.count == 0 {
                    ended.record(0)
                    return 1
                }
                defer { ended.record(1) }
                try await Task.sleep(for: .seconds(1_000))
                return 2
            }
            sim.expect(try await cache?.value(for: 0) == 1)
            try await Task.sleep(for: .milliseconds(10))
            sim.expect(try await cache?.value(for: 0) == 1)
            let flights = cache?._storage.flights
            for _ in 0..<Int(sim.seed % 4) { await Task.yield() }
            cache = nil
            try await Task.sleep(for: .milliseconds(1))
            sim.expect(flights?.liveCount == 0, "the refresh has ended")
        }
    }
}
