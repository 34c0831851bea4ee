import TaskControlTesting

/// Bugs of code that takes an actor for a lock: others get in between at every `await`.
extension PlantedBug {
    // MARK: A lost update across an await

    private actor Account {
        private(set) var balance = 0

        private func fee() async -> Int {
            await Task.yield()
            return 0
        }

        func depositLosing(_ amount: Int) async {
            let before = balance
            balance = await before + amount - fee()
        }

        func deposit(_ amount: Int) async {
            let fee = await fee()
            balance += amount - fee
        }
    }

    static let lostUpdate = PlantedBug(name: "lost update across an await", bound: 20) { sim in
        let account = Account()
        async let one: Void = account.depositLosing(10)
        async let other: Void = account.depositLosing(10)
        _ = await (one, other)
        sim.expect(await account.balance == 20, "both deposits are there")
    } twin: { sim in
        let account = Account()
        async let one: Void = account.deposit(10)
        async let other: Void = account.deposit(10)
        _ = await (one, other)
        sim.expect(await account.balance == 20, "both deposits are there")
    }

    // MARK: Check, then act

    private actor Seats {
        private(set) var free = 1
        var isFree: Bool { free > 0 }

        func take() { free -= 1 }

        func takeIfFree() -> Bool {
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    static let checkThenAct = PlantedBug(name: "check, then act on an actor", bound: 20) { sim in
        let seats = Seats()
        await withTaskGroup { group in
            for passenger in 0..<2 {
                group.addTask {
                    guard await seats.isFree else { return }
                    // Something between the two: without it, the compiler leaves the task on the actor from one to the other.
                    sim.note("a seat for \(passenger)")
                    await seats.take()
                }
            }
        }
        sim.expect(await seats.free == 0, "one seat is taken once")
    } twin: { sim in
        let seats = Seats()
        await withTaskGroup { group in
            for _ in 0..<2 { group.addTask { _ = await seats.takeIfFree() } }
        }
        sim.expect(await seats.free == 0, "one seat is taken once")
    }

    // MARK: A stampede for a token

    private actor Tokens {
        private(set) var refreshes = 0
        private var token: Int?
        private var refreshing: Task<Int, Never>?

        private func refresh() async -> Int {
            refreshes += 1
            try? await Task.sleep(for: .milliseconds(50))
            return refreshes
        }

        func tokenStampeding() async -> Int {
            if let token { return token }
            let fresh = await refresh()
            token = fresh
            return fresh
        }

        func tokenOnce() async -> Int {
            if let token { return token }
            if let refreshing { return await refreshing.value }
            let task = Task { await refresh() }
            refreshing = task
            let fresh = await task.value
            (token, refreshing) = (fresh, nil)
            return fresh
        }
    }

    /// Requests that come now and then: most find the token there, and few come while it is being refreshed.
    private static func requests(_ sim: Simulation, _ request: @escaping @Sendable () async -> Int) async {
        var random = sim.random
        await withTaskGroup { group in
            for _ in 0..<3 {
                let delay = Int.random(in: 0...400, using: &random)
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(delay))
                    _ = await request()
                }
            }
        }
    }

    static let tokenStampede = PlantedBug(name: "token stampede", bound: 50) { sim in
        let tokens = Tokens()
        await requests(sim) { await tokens.tokenStampeding() }
        sim.expect(await tokens.refreshes == 1, "there is one refresh")
    } twin: { sim in
        let tokens = Tokens()
        await requests(sim) { await tokens.tokenOnce() }
        sim.expect(await tokens.refreshes == 1, "there is one refresh")
    }

    // MARK: ABA: the end of the old one removes the new one

    private actor Running {
        private(set) var tasks: [String: (number: Int, task: Task<Void, Never>)] = [:]
        private var count = 0

        func start(_ key: String, removesByKey: Bool) {
            tasks[key]?.task.cancel()
            count += 1
            let number = count
            tasks[key] = (
                number,
                Task {
                    try? await Task.sleep(for: .milliseconds(number == 1 ? 10 : 100))
                    // Even a task that was cancelled has something to put in order.
                    await Task.yield()
                    if removesByKey || tasks[key]?.number == number { tasks[key] = nil }
                }
            )
        }
    }

    private static func replaced(_ sim: Simulation, removesByKey: Bool) async throws {
        let running = Running()
        await running.start("a", removesByKey: removesByKey)
        try await Task.sleep(for: .milliseconds(10))
        await running.start("a", removesByKey: removesByKey)
        try await Task.sleep(for: .milliseconds(20))
        sim.expect(await running.tasks["a"] != nil, "the new task is in the books")
    }

    static let abaRemoval = PlantedBug(name: "ABA removal", bound: 50) { sim in
        try await replaced(sim, removesByKey: true)
    } twin: { sim in
        try await replaced(sim, removesByKey: false)
    }

    // MARK: A reader who is left behind for long

    /// Keeps the last 16.
    private actor Feed {
        private(set) var end = 0

        func append() { end += 1 }

        func isKept(_ position: Int) -> Bool { end - position <= 16 }

        func nextIsKept() -> Bool { isKept(end) }
    }

    private static func write(_ feed: Feed) async {
        for _ in 0..<30 {
            await feed.append()
            await Task.yield()
        }
    }

    static let leftBehind = PlantedBug(name: "left behind for long", bound: 200, isFoundAtRandom: false) { sim in
        let feed = Feed()
        async let writing: Void = write(feed)
        async let reading: Void = {
            let position = await feed.end
            sim.note("reads at \(position)")
            sim.expect(await feed.isKept(position), "what it is about to read is kept")
        }()
        _ = await (writing, reading)
    } twin: { sim in
        let feed = Feed()
        async let writing: Void = write(feed)
        async let reading: Void = sim.expect(await feed.nextIsKept(), "what it is about to read is kept")
        _ = await (writing, reading)
    }
}
