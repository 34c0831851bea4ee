/// Bugs of code that expects nothing else to run between two uses of an actor or a lock.
extension PlantedBug {
    static let reentrancyBugs = [
        lostUpdate, checkThenAct, tokenStampede, lockBeforeAndAfterAwait, lockTwice, doubleInitialization, rateLimiter,
        upgradedReadLock, staleCacheFill, tornConfiguration, circuitBreaker,
    ]

    // MARK: An update that is lost across an await

    private actor Account {
        private(set) var balance = 0

        private func fee() async -> Int {
            await Task.yield()
            return 0
        }

        func deposit(_ amount: Int, isFixed: Bool) async {
            if isFixed {
                let fee = await fee()
                balance += amount - fee
            } else {
                let before = balance
                balance = await before + amount - fee()
            }
        }
    }

    private static let lostUpdate = PlantedBug("lost update across an await", .reentrancy) { world, isFixed in
        let account = Account()
        async let one: Void = account.deposit(10, isFixed: isFixed)
        async let other: Void = account.deposit(10, isFixed: isFixed)
        _ = await (one, other)
        world.expect(await account.balance == 20, "both deposits are there")
    }

    // MARK: Check, then act

    private actor Seats {
        private(set) var free = 1
        var isFree: Bool { free > 0 }

        func take() { free -= 1 }

        func takeIfFree() {
            if isFree { take() }
        }
    }

    private static let checkThenAct = PlantedBug("check, then act on an actor", .reentrancy) { world, isFixed in
        let seats = Seats()
        await withTaskGroup { group in
            for passenger in 0..<2 {
                group.addTask {
                    if isFixed { return await seats.takeIfFree() }
                    guard await seats.isFree else { return }
                    world.note("a seat for \(passenger)")
                    await seats.take()
                }
            }
        }
        world.expect(await seats.free == 0, "one seat is taken once")
    }

    // MARK: A stampede for a token

    private actor Tokens {
        private(set) var refreshes = 0
        private var token: Int?
        private var refreshing: Task<Int, Never>?

        private func refresh() async -> Int {
            refreshes += 1
            try? await Task.sleep(for: .milliseconds(5))
            return refreshes
        }

        func token(isFixed: Bool) async -> Int {
            if let token { return token }
            if isFixed, let refreshing { return await refreshing.value }
            let task = Task { await refresh() }
            refreshing = task
            let fresh = await task.value
            (token, refreshing) = (fresh, nil)
            return fresh
        }
    }

    private static let tokenStampede = PlantedBug("token stampede", .reentrancy) { world, isFixed in
        let tokens = Tokens()
        await withTaskGroup { group in
            // Most requests find the token: few come while it is refreshed.
            for delay in (0..<3).map({ _ in world.draw(0...40) }) {
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(delay))
                    _ = await tokens.token(isFixed: isFixed)
                }
            }
        }
        world.expect(await tokens.refreshes == 1, "there is one refresh")
    }

    // MARK: A value that is read under a lock, and written back after an await

    private static let lockBeforeAndAfterAwait = PlantedBug("lock, await, lock", .reentrancy) { world, isFixed in
        let stock = Guarded(10)
        @Sendable func sell() async {
            let before = stock.withLock { $0 }
            await world.pause()  // the payment
            stock.withLock { $0 = isFixed ? $0 - 1 : before - 1 }
        }
        async let one: Void = sell()
        async let other: Void = sell()
        _ = await (one, other)
        world.expect(stock.withLock { $0 } == 8, "both sales are counted")
    }

    // MARK: A lock that is taken twice, with no await between

    private static let lockTwice = PlantedBug(
        "lock, lock without an await",
        .dataRace,
        foundBy: .never(why: "a step has no points inside: ThreadSanitizer and stress tests find such races")
    ) { world, isFixed in
        let hits = Guarded(0)
        @Sendable func hit() {
            if isFixed { return hits.withLock { $0 += 1 } }
            let before = hits.withLock { $0 }
            hits.withLock { $0 = before + 1 }
        }
        async let one: Void = hit()
        async let other: Void = hit()
        _ = await (one, other)
        world.expect(hits.withLock { $0 } == 2, "both hits are counted")
    }

    // MARK: A lazy value that is made twice

    private actor Connections {
        private var opened = 0
        private var connection: Int?

        func connection(_ world: World, isFixed: Bool) async -> Int {
            if let connection { return connection }
            opened += 1
            let mine = opened
            await world.pause()  // the handshake
            if isFixed, let connection { return connection }
            connection = mine
            return mine
        }
    }

    private static let doubleInitialization = PlantedBug("double lazy initialization", .reentrancy) { world, isFixed in
        let connections = Connections()
        async let one = connections.connection(world, isFixed: isFixed)
        async let other = connections.connection(world, isFixed: isFixed)
        let (first, second) = await (one, other)
        world.expect(first == second, "both callers use the same connection")
    }

    // MARK: A rate limiter that counts too late

    private actor Limiter {
        private(set) var admitted = 0

        func admit(_ world: World, isFixed: Bool) async {
            guard admitted < 2 else { return }
            if isFixed { admitted += 1 }
            await world.pause()  // the audit log
            if !isFixed { admitted += 1 }
        }
    }

    private static let rateLimiter = PlantedBug("rate limiter counts late", .reentrancy) { world, isFixed in
        let limiter = Limiter()
        await withTaskGroup { group in
            for _ in 0..<3 { group.addTask { await limiter.admit(world, isFixed: isFixed) } }
        }
        world.expect(await limiter.admitted <= 2, "at most two are admitted")
    }

    // MARK: A read lock that becomes a write lock

    private actor ReadWriteLock {
        private var readers = 0
        private var isWriting = false
        private var waiters: [CheckedContinuation<Void, Never>] = []

        func lockForReading() async {
            while isWriting { await park() }
            readers += 1
        }

        func lockForWriting() async {
            while isWriting || readers > 0 { await park() }
            isWriting = true
        }

        func unlock() {
            if isWriting { isWriting = false } else { readers -= 1 }
            let woken = waiters
            waiters = []
            for waiter in woken { waiter.resume() }
        }

        private func park() async {
            await withCheckedContinuation { waiters.append($0) }
        }
    }

    private static let upgradedReadLock = PlantedBug("read lock upgraded to write", .reentrancy) { world, isFixed in
        let (lock, folder) = (ReadWriteLock(), Guarded((exists: false, creations: 0)))
        @Sendable func createIfMissing() async {
            await lock.lockForReading()
            let exists = folder.withLock { $0.exists }
            await lock.unlock()
            if exists { return }
            world.note("missing")
            await lock.lockForWriting()
            folder.withLock { folder in
                if isFixed, folder.exists { return }
                folder = (true, folder.creations + 1)
            }
            await lock.unlock()
        }
        async let one: Void = createIfMissing()
        async let other: Void = createIfMissing()
        _ = await (one, other)
        world.expect(folder.withLock { $0.creations } == 1, "the folder is created once")
    }

    // MARK: A cache that is filled with a value from before an invalidation

    private actor Cache {
        private let database: Guarded<Int>
        private var value: Int?
        private var version = 0

        init(of database: Guarded<Int>) {
            self.database = database
        }

        func value(_ world: World, isFixed: Bool) async -> Int {
            if let value { return value }
            let before = version
            let loaded = database.withLock { $0 }
            await world.pause()  // the network
            if !isFixed || version == before { value = loaded }
            return loaded
        }

        func invalidate() {
            value = nil
            version += 1
        }
    }

    private static let staleCacheFill = PlantedBug("cache filled with a stale value", .reentrancy) { world, isFixed in
        let database = Guarded(0)
        let cache = Cache(of: database)
        async let reading = cache.value(world, isFixed: isFixed)
        async let writing: Void = {
            await world.pause()
            database.withLock { $0 = 1 }
            await cache.invalidate()
        }()
        _ = await (reading, writing)
        world.expect(await cache.value(world, isFixed: isFixed) == 1, "a read after a write sees it")
    }

    // MARK: A configuration that is read while it is written

    private actor Cell {
        private(set) var value = 0

        func set(_ value: Int) { self.value = value }
    }

    /// A sequence lock: the version is odd while the cells are written. The bug compares versions, and forgets the odd ones.
    private static let tornConfiguration = PlantedBug(
        "configuration torn over two cells",
        .reentrancy
    ) { world, isFixed in
        let (version, host, port) = (Cell(), Cell(), Cell())
        async let writing: Void = {
            for number in 1...2 {
                for (cell, value) in [(version, 2 * number - 1), (host, number), (port, number), (version, 2 * number)]
                {
                    await cell.set(value)
                }
            }
        }()
        async let reading: Void = {
            for _ in 0..<10 {
                let before = await version.value
                let configuration = (host: await host.value, port: await port.value)
                if await version.value == before, !isFixed || before.isMultiple(of: 2) {
                    return world.expect(configuration.host == configuration.port, "host and port belong together")
                }
                await Task.yield()
            }
        }()
        _ = await (writing, reading)
    }

    // MARK: A circuit breaker that lets two probes through

    private enum Admission { case refused, ordinary, probe }

    private actor Breaker {
        private enum State { case closed, open(until: ContinuousClock.Instant), halfOpen }

        private var state = State.closed
        private var isProbing = false
        private var probes = 0
        private(set) var mostProbes = 0

        func admission(isFixed: Bool) -> Admission {
            switch state {
            case .closed: return .ordinary
            case .open(let end): if ContinuousClock.now < end { return .refused }
            case .halfOpen: break
            }
            state = .halfOpen
            if isProbing { return .refused }
            if isFixed { isProbing = true }
            return .probe
        }

        func begin(_ admission: Admission) {
            guard admission == .probe else { return }
            isProbing = true
            probes += 1
            mostProbes = max(mostProbes, probes)
        }

        func fail(_ admission: Admission) {
            state = .open(until: .now + .milliseconds(5))
            guard admission == .probe else { return }
            isProbing = false
            probes -= 1
        }
    }

    private static let circuitBreaker = PlantedBug(
        "half-open circuit breaker admits two",
        .reentrancy
    ) { world, isFixed in
        let breaker = Breaker()
        await withTaskGroup { group in
            for client in 0..<2 {
                group.addTask {
                    for _ in 0..<2 {
                        let admission = await breaker.admission(isFixed: isFixed)
                        world.note("client \(client): \(admission)")
                        if admission != .refused {
                            await breaker.begin(admission)
                            await world.pause()
                            await breaker.fail(admission)
                        }
                        await world.pause()
                    }
                }
            }
        }
        world.expect(await breaker.mostProbes <= 1, "there is one probe at a time")
    }
}
