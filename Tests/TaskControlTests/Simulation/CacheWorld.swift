import TaskControlTesting

@testable import TaskControl

/// A ``CachedFlight`` over a source whose versions are counted, and what a caller may receive from it.
///
/// The model is the history: when each load began and ended, with the version that the source then had; and when each version came, by a write or
/// an invalidation. From the history follows which values a caller must not see.
final class CacheWorld: Sendable {
    enum Work: CaseIterable {
        case nothing, yields, sleeps, fails, ignoresCancellation
    }

    struct Failed: Error, Equatable {
        let load: Int
    }

    private struct Load {
        let key: Int
        /// Of the key, when it began: its result is older than the next invalidation.
        let version: Int
        let start: ContinuousClock.Instant
        /// In the order of all events.
        let order: Int
        var end: Int?
        var isWrite = false
    }

    private struct State {
        var loads: [Load] = []
        var versions: [Int: Int] = [:]
        var running: Set<Int> = []
        var plans: [Work]
        var order = 0

        mutating func next() -> Int {
            order += 1
            return order
        }
    }

    static let policy = CachePolicy(
        timeToLive: .milliseconds(3),
        staleWhileRevalidate: .milliseconds(3),
        refreshRetryDelay: .milliseconds(1)
    )
    private let sim: Simulation
    private let cache: CachedFlight<Int, Int>
    private let capacity: Int
    private let history: History

    /// The state that the loads use, so that they do not retain the cache.
    private final class History: Sendable {
        let sim: Simulation
        let state: Locked<State>

        init(_ sim: Simulation, _ plans: [Work]) {
            (self.sim, state) = (sim, Locked(State(plans: plans)))
        }

        func load(_ key: Int) async throws -> Int {
            let (number, work, isAlone) = state.withLock { state in
                let version = state.versions[key, default: 0]
                state.loads.append(Load(key: key, version: version, start: .now, order: state.next()))
                let work = state.plans[state.loads.count % state.plans.count]
                return (state.loads.count - 1, work, state.running.insert(key).inserted)
            }
            sim.expect(isAlone, "a key has one load at a time")
            defer {
                state.withLock { state in
                    state.running.remove(key)
                    state.loads[number].end = state.next()
                }
            }
            switch work {
            case .nothing, .fails: break
            case .yields: for _ in 0..<2 { await Task.yield() }
            case .sleeps: try await Task.sleep(for: .milliseconds(2))
            case .ignoresCancellation: for _ in 0..<6 { await Task.yield() }
            }
            if work == .fails { throw Failed(load: number) }
            if work != .ignoresCancellation { try Task.checkCancellation() }
            return number
        }
    }

    init(_ sim: Simulation, capacity: Int, plans: [Work]) {
        (self.sim, self.capacity) = (sim, capacity)
        let history = History(sim, plans)
        self.history = history
        cache = CachedFlight(capacity: capacity, policy: Self.policy) { try await history.load($0) }
    }

    // MARK: Operations

    /// Reads in a task of its own, which the seed cancels at any point if the program says so.
    ///
    /// - Returns: Returns when the caller has its answer.
    func read(_ key: Int, isFresh: Bool, isCancelled: Bool) -> @Sendable () async -> Void {
        let task = Task {
            let (version, order) = history.state.withLock { ($0.versions[key, default: 0], $0.next()) }
            let start = ContinuousClock.now
            do {
                let number = isFresh ? try await cache.fresh(for: key) : try await cache.value(for: key)
                check(number, key, version, start, order, isFresh: isFresh)
            } catch let error as Failed {
                let load = history.state.withLock { $0.loads[error.load] }
                sim.expect(load.key == key && load.version >= version, "the error is of a load that the caller awaits")
            } catch {
                sim.expect(error is CancellationError && isCancelled, "only a cancelled caller fails with \(error)")
            }
        }
        if isCancelled { sim.cancelAtAnyPoint(task) }
        return { await task.value }
    }

    private func check(
        _ number: Int,
        _ key: Int,
        _ version: Int,
        _ start: ContinuousClock.Instant,
        _ order: Int,
        isFresh: Bool
    ) {
        let load = history.state.withLock { $0.loads[number] }
        sim.expect(load.key == key)
        sim.expect(load.version >= version, "a value of before a write or an invalidation is not returned after it")
        if isFresh { sim.expect(load.order > order, "the load of a fresh value begins after the call") }
        if let end = load.end, end < order {
            let age = start - load.start
            sim.expect(age < .milliseconds(6), "a value of \(age) has expired")
        }
        sim.expect(cache.count <= capacity)
    }

    func update(_ key: Int) {
        let number = history.state.withLock { state in
            state.versions[key, default: 0] += 1
            let order = state.next()
            state.loads.append(
                Load(key: key, version: state.versions[key]!, start: .now, order: order, end: order, isWrite: true)
            )
            return state.loads.count - 1
        }
        cache.update(number, for: key)
    }

    func invalidate(_ key: Int) {
        history.state.withLock { $0.versions[key, default: 0] += 1 }
        cache.invalidate(key)
    }

    func removeAll() {
        history.state.withLock { state in
            for key in 0..<3 { state.versions[key, default: 0] += 1 }
        }
        cache.removeAll()
    }

    func expectAllIsOver() {
        let storage = cache._storage
        sim.expect(storage.loadCount == 0 && storage.flights.liveCount == 0, "no load is left")
        sim.expect(history.state.withLock { $0.running.isEmpty } && cache.count <= capacity)
        cache.removeAll()
        sim.expect(cache.count == 0)
    }
}
