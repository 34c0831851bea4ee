import TaskControlTesting

@testable import TaskControl
@testable import TaskControlCaching

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
        /// The keys of which a load has failed.
        var failed: Set<Int> = []
        var plans: [Work]
        var order = 0

        mutating func next() -> Int {
            order += 1
            return order
        }
    }

    /// A policy that uses each duration or does not.
    static func policy(_ random: inout SeededGenerator) -> CachePolicy {
        func time(_ choices: [Int]) -> Duration { .milliseconds(choices.randomElement(using: &random)!) }
        return CachePolicy(
            timeToLive: .milliseconds(3),
            staleWhileRevalidate: time([0, 3]),
            staleIfError: time([0, 6]),
            patience: time([0, 1, 10]),
            errorTimeToLive: time([0, 2]),
            earlyRefresh: Bool.random(using: &random) ? 1 : 0,
            refreshRetryDelay: .milliseconds(1)
        )
    }

    private let sim: Simulation
    private let policy: CachePolicy
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
            if work == .fails {
                state.withLock { _ = $0.failed.insert(key) }
                throw Failed(load: number)
            }
            if work != .ignoresCancellation { try Task.checkCancellation() }
            return number
        }
    }

    init(_ sim: Simulation, capacity: Int, plans: [Work], _ policy: CachePolicy) {
        (self.sim, self.capacity, self.policy) = (sim, capacity, policy)
        let history = History(sim, plans)
        self.history = history
        let random = Locked(SeededGenerator(seed: sim.seed))
        cache = CachedFlight(capacity: capacity, policy: policy, random: { random.withLock { $0.next() } }) {
            try await history.load($0)
        }
    }

    // MARK: Operations

    /// Reads in a task of its own, which the seed cancels at any point if the program says so.
    ///
    /// - Parameter limit: The time in milliseconds after which the caller has its deadline; `nil` for none.
    /// - Returns: Returns when the caller has its answer.
    func read(_ key: Int, isFresh: Bool, isCancelled: Bool, limit: Int? = nil) -> @Sendable () async -> Void {
        perform(key, isFresh: isFresh, isCancelled: isCancelled) { call in
            try await self.limited(limit, call) {
                let number = isFresh ? try await self.cache.fresh(for: key) : try await self.cache.value(for: key)
                self.check(number, call)
            }
        }
    }

    /// Performs a read, with a deadline if it has a limit. A read that ends at the deadline had no old value to receive.
    private func limited(_ limit: Int?, _ call: Call, _ read: () async throws -> Void) async throws {
        guard let limit else { return try await read() }
        do {
            try await withDeadline(in: .milliseconds(limit), operation: read)
        } catch is DeadlineExceededError {
            guard let old = cache._storage.old(cache._storage.pin(_ErasedKey(call.key))) else { return }
            let number = try CachedFlight<Int, Int>._value(old)
            let order = history.state.withLock { $0.loads[number].end ?? .max }
            sim.expect(order > call.order, "a caller receives the old value before its deadline")
        }
    }

    /// Iterates over the stale and the fresh value in a task of its own, which the seed cancels at any point if the program says so.
    ///
    /// - Returns: Returns when the iteration has ended.
    func values(_ key: Int, isCancelled: Bool) -> @Sendable () async -> Void {
        perform(key, isFresh: false, isCancelled: isCancelled) { call in
            var numbers: [Int] = []
            for try await number in self.cache.values(for: key) {
                self.check(number, call)
                self.sim.expect(!numbers.contains(number), "the second value is another one")
                numbers.append(number)
            }
            self.sim.expect((1...2).contains(numbers.count))
        }
    }

    /// A call that asks for the value of a key.
    private struct Call {
        let key: Int
        let isFresh: Bool
        /// When it began.
        let version: Int
        let order: Int
    }

    private func perform(
        _ key: Int,
        isFresh: Bool,
        isCancelled: Bool,
        _ body: @escaping @Sendable (Call) async throws -> Void
    ) -> @Sendable () async -> Void {
        let task = Task {
            let call = history.state.withLock { state in
                Call(key: key, isFresh: isFresh, version: state.versions[key, default: 0], order: state.next())
            }
            do {
                try await body(call)
            } catch let error as Failed {
                check(error, call)
            } catch {
                sim.expect(error is CancellationError && isCancelled, "only a cancelled caller fails with \(error)")
            }
        }
        if isCancelled { sim.cancelAtAnyPoint(task) }
        return { await task.value }
    }

    /// Checks a value at the moment in which a call returns it.
    private func check(_ number: Int, _ call: Call) {
        let load = history.state.withLock { $0.loads[number] }
        sim.expect(load.key == call.key)
        sim.expect(
            load.version >= call.version,
            "a value of before a write or an invalidation is not returned after it"
        )
        if call.isFresh { sim.expect(load.order > call.order, "the load of a fresh value begins after the call") }
        // The cache had the value before the call, so the call has not waited for it.
        if let end = load.end, end < call.order { checkAge(of: load) }
        sim.expect(cache.valueCount <= capacity)
    }

    private func checkAge(of load: Load) {
        let (version, hasFailed) = history.state.withLock { state in
            (state.versions[load.key, default: 0], state.failed.contains(load.key))
        }
        let (age, limit) = (ContinuousClock.now - load.start, policy.timeToLive + policy.staleWhileRevalidate)
        sim.expect(load.version >= version, "a value that the cache has is that of the last write or invalidation")
        let fallbackLimit = max(limit, policy.timeToLive + policy.staleIfError)
        // A tenth of the longest time until a deadline.
        let isNearDeadline = Task.currentDeadline.map { $0.remaining <= .microseconds(400) } ?? false
        sim.expect(age < (hasFailed || isNearDeadline ? fallbackLimit : limit), "a value of \(age) has expired")
    }

    private func check(_ error: Failed, _ call: Call) {
        let load = history.state.withLock { $0.loads[error.load] }
        sim.expect(
            load.key == call.key && load.version >= call.version,
            "the error is of a load that the caller awaits"
        )
        if call.isFresh { sim.expect(load.order > call.order, "a fresh value is not an error of before") }
        if let end = load.end, end < call.order {
            let age = ContinuousClock.now - load.start
            sim.expect(age < policy.errorTimeToLive, "an error of \(age) has expired")
        }
    }

    func peek(_ key: Int) {
        guard let number = cache.peek(key) else { return }
        let (load, version) = history.state.withLock { ($0.loads[number], $0.versions[key, default: 0]) }
        let age = ContinuousClock.now - load.start
        sim.expect(load.key == key && load.version >= version)
        sim.expect(age < policy.timeToLive + policy.staleWhileRevalidate, "a value of \(age) has expired")
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

    /// Removes values to save memory, which are not out of date for that.
    func removeOld() { cache.removeAll(olderThan: .milliseconds(2)) }

    func expectAllIsOver() {
        let storage = cache._storage
        sim.expect(storage.loadCount == 0 && storage.flights.liveCount == 0, "no load is left")
        sim.expect(storage.flights.state.withLock { $0.waits.count } == 0, "no caller is left that never waited")
        sim.expect(storage.flights.callerCount == 0 && storage.memory < 100)
        sim.expect(history.state.withLock { $0.running.isEmpty } && cache.valueCount <= capacity)
        cache.removeAll()
        sim.expect(cache.valueCount == 0)
    }
}
