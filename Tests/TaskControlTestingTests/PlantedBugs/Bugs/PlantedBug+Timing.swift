/// Bugs of code that assumes that something happens, or does not happen, within a duration.
extension PlantedBug {
    static let timingBugs = [sleepAsSynchronization, impatientWatchdog, expiredLease]

    // MARK: A sleep that stands for "by then it has happened"

    private static let sleepAsSynchronization = PlantedBug(
        "sleep as synchronization",
        .timing,
        foundBy: .slowness
    ) { world, isFixed in
        let ready = Signal()
        let server = Task {
            for _ in 0..<3 { await Task.yield() }  // binds, listens, accepts
            await ready.set()
        }
        if isFixed { await ready.wait() } else { try await Task.sleep(for: .milliseconds(10)) }
        world.expect(await ready.isSet, "the server is ready")
        await server.value
    }

    // MARK: A watchdog that takes a busy worker for a dead one

    private actor Worker {
        enum State { case idle, busy, done, killed }

        private(set) var state = State.idle

        /// - Returns: Whether the worker may begin.
        func begin() -> Bool {
            if state == .idle { state = .busy }
            return state == .busy
        }

        /// - Returns: Whether it had been killed while it was busy.
        func finish() -> Bool {
            defer { state = .done }
            return state == .killed
        }

        func killIfDead(isFixed: Bool) {
            if state == .idle || (!isFixed && state == .busy) { state = .killed }
        }
    }

    private static let impatientWatchdog = PlantedBug(
        "watchdog kills a busy worker",
        .timing,
        foundBy: .slowness
    ) { world, isFixed in
        let worker = Worker()
        async let watching: Void = {
            try? await Task.sleep(for: .milliseconds(10))
            await worker.killIfDead(isFixed: isFixed)
        }()
        if await worker.begin() {
            for _ in 0..<3 { await Task.yield() }  // computes
            world.expect(await !worker.finish(), "no busy worker is killed")
        }
        await watching
    }

    // MARK: A lease that expires under its holder

    private actor Lease {
        private var token = 0
        private var end = ContinuousClock.now

        func acquire() -> Int? {
            if ContinuousClock.now < end { return nil }
            token += 1
            end = .now + .milliseconds(6)
            return token
        }
    }

    private actor Store {
        private var latest = 0
        private(set) var hasGoneBack = false

        func write(token: Int, isFixed: Bool) {
            if isFixed, token < latest { return }
            if token < latest { hasGoneBack = true }
            latest = token
        }
    }

    /// The twin has a fencing token: the store refuses a holder whose lease has been given to another.
    private static let expiredLease = PlantedBug("lease expires under its holder", .timing) { world, isFixed in
        let (lease, store) = (Lease(), Store())
        await withTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    var token = await lease.acquire()
                    while token == nil {
                        try? await Task.sleep(for: .milliseconds(2))
                        token = await lease.acquire()
                    }
                    await world.pause()  // the work
                    await store.write(token: token!, isFixed: isFixed)
                }
            }
        }
        world.expect(await !store.hasGoneBack, "an old holder does not overwrite a new one")
    }
}
