/// Bugs of code that suspends and resumes tasks by hand: a task waits forever, or an item is never processed.
extension PlantedBug {
    static let missedWakeUpBugs = [
        missedWakeUp, missedWakeUpOfCreator, closedDoor, idleMailbox, observationGap, barrierWithoutGeneration,
        droppedThrottle,
    ]

    // MARK: A missed wake-up

    private static func wait(for signal: Signal, _ world: World, isFixed: Bool) async {
        if isFixed { return await signal.wait() }
        guard await !signal.isSet else { return }
        world.note("not set: parks")
        await signal.park()
    }

    private static let missedWakeUp = PlantedBug("missed wake-up", .missedWakeUp) { world, isFixed in
        let signal = Signal()
        async let waiting: Void = wait(for: signal, world, isFixed: isFixed)
        async let setting: Void = signal.set()
        _ = await (waiting, setting)
    }

    /// The most natural spelling: the creator of the waiting task sets the signal, with nothing between.
    private static let missedWakeUpOfCreator = PlantedBug(
        "missed wake-up, set by the creator",
        .missedWakeUp
    ) { world, isFixed in
        let signal = Signal()
        let waiting = Task { await wait(for: signal, world, isFixed: isFixed) }
        await signal.set()
        await waiting.value
    }

    // MARK: Waiters that are forgotten by an event that is assumed to have none

    private actor Door {
        private var isOpen = false
        private var waiters: [UnsafeContinuation<Void, Never>] = []

        func pass() async {
            if !isOpen { await withUnsafeContinuation { waiters.append($0) } }
        }

        func reset(isFixed: Bool) {
            isOpen = false
            if !isFixed { waiters = [] }
        }

        func open() {
            isOpen = true
            for waiter in waiters { waiter.resume() }
            waiters = []
        }
    }

    private static let closedDoor = PlantedBug("waiter forgotten by a reset", .missedWakeUp) { world, isFixed in
        let door = Door()
        let passing = Task { await door.pass() }
        await door.reset(isFixed: isFixed)
        world.note("reset")
        await door.open()
        await passing.value
    }

    // MARK: An item that arrives between the look into the mailbox and the rest

    private actor Mailbox {
        private(set) var items: [Int] = []
        private var isIdle = true

        /// - Returns: Whether the mailbox was idle: the caller starts the worker.
        func add(_ item: Int) -> Bool {
            items.append(item)
            defer { isIdle = false }
            return isIdle
        }

        func next(restsIfEmpty: Bool) -> Int? {
            if items.isEmpty, restsIfEmpty { isIdle = true }
            return items.isEmpty ? nil : items.removeFirst()
        }

        func rest() { isIdle = true }
    }

    private static let idleMailbox = PlantedBug("idle flag set too late", .missedWakeUp) { world, isFixed in
        let mailbox = Mailbox()
        await withTaskGroup { group in
            for item in 0..<2 {
                group.addTask {
                    guard await mailbox.add(item) else { return }
                    while let item = await mailbox.next(restsIfEmpty: isFixed) { world.note("item \(item)") }
                    world.note("empty")
                    if !isFixed { await mailbox.rest() }
                }
            }
        }
        world.expect(await mailbox.items.isEmpty, "no item is left")
    }

    // MARK: A change between the read and the registration

    /// A value with one observer that is called for one change, as `withObservationTracking` does.
    private final class Model: Sendable {
        private let state = Guarded((value: 0, onChange: (@Sendable () -> Void)?.none))

        var value: Int { state.withLock { $0.value } }

        func observe(_ onChange: @escaping @Sendable () -> Void) -> Int {
            state.withLock {
                $0.onChange = onChange
                return $0.value
            }
        }

        func set(_ value: Int) {
            let onChange = state.withLock { state in
                state.value = value
                defer { state.onChange = nil }
                return state.onChange
            }
            onChange?()
        }
    }

    private static let observationGap = PlantedBug(
        "change between read and registration",
        .missedWakeUp
    ) { world, isFixed in
        let model = Model()
        async let writing: Void = {
            for value in 1...2 {
                await world.pause()
                model.set(value)
            }
        }()
        async let showing: Void = {
            let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            var iterator = changes.makeAsyncIterator()
            while true {
                let value = isFixed ? model.observe { change.yield() } : model.value
                await world.pause()  // draws it
                if value == 2 { return }
                if !isFixed { _ = model.observe { change.yield() } }
                _ = await iterator.next()
            }
        }()
        _ = await (writing, showing)
    }

    // MARK: A barrier that is used again before all have left

    private actor Barrier {
        private let parties = 2
        private var arrived = 0
        private var leaving = 0
        private var generation = 0
        private var waiters: [CheckedContinuation<Void, Never>] = []

        private func wake() {
            for waiter in waiters { waiter.resume() }
            waiters = []
        }

        private func park() async {
            await withCheckedContinuation { waiters.append($0) }
        }

        func waitForAll() async {
            let mine = generation
            arrived += 1
            if arrived == parties {
                (arrived, generation) = (0, generation + 1)
                return wake()
            }
            while generation == mine { await park() }
        }

        /// The last one to leave resets the count: a fast party that comes back before finds the barrier open.
        func waitForAllWithoutGeneration() async {
            arrived += 1
            if arrived == parties { wake() }
            while arrived < parties { await park() }
            leaving += 1
            if leaving == parties { (arrived, leaving) = (0, 0) }
        }
    }

    private static let barrierWithoutGeneration = PlantedBug(
        "cyclic barrier without generation",
        .missedWakeUp
    ) { world, isFixed in
        let (barrier, rounds) = (Barrier(), Guarded([0, 0]))
        await withTaskGroup { group in
            for party in 0..<2 {
                group.addTask {
                    for round in 1...3 {
                        rounds.withLock { $0[party] = round }
                        if isFixed { await barrier.waitForAll() } else { await barrier.waitForAllWithoutGeneration() }
                        world.expect(rounds.withLock { $0[1 - party] } >= round, "both parties have arrived")
                    }
                }
            }
        }
    }

    // MARK: A throttle that drops the last value

    private actor Throttle {
        private(set) var emitted: [Int] = []
        private var pending: Int?
        private var resting: Task<Void, Never>?

        func send(_ value: Int, isFixed: Bool) {
            if resting != nil {
                if isFixed { pending = value }
                return
            }
            emitted.append(value)
            resting = Task {
                try? await Task.sleep(for: .milliseconds(5))
                if let pending { emitted.append(pending) }
                (pending, resting) = (nil, nil)
            }
        }

        func finish() async {
            while let resting { await resting.value }
        }
    }

    private static let droppedThrottle = PlantedBug("throttle drops the last value", .missedWakeUp) { world, isFixed in
        let throttle = Throttle()
        for value in 0..<2 {
            await throttle.send(value, isFixed: isFixed)
            await world.pause()
        }
        await throttle.finish()
        world.expect(await throttle.emitted.last == 1, "the last value is emitted")
    }
}
