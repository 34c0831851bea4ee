/// Bugs in which tasks block one another, or one task is left behind.
extension PlantedBug {
    static let waitingBugs = [
        lockOrder, nestedAcquire, taskCycle, unfinishedChannel, lostPermit, lastInFirstOut, leftBehind, unboundedBuffer,
    ]

    // MARK: Two locks in two orders

    private static func hold(_ first: Permits, _ second: Permits) async {
        await first.acquire()
        await second.acquire()
        await second.release()
        await first.release()
    }

    private static let lockOrder = PlantedBug("AB/BA deadlock", .deadlock) { _, isFixed in
        let (a, b) = (Permits(1), Permits(1))
        async let one: Void = hold(a, b)
        async let other: Void = isFixed ? hold(a, b) : hold(b, a)
        _ = await (one, other)
    }

    // MARK: A second permit that is taken while the first is held

    private static let nestedAcquire = PlantedBug("pool exhausted by nested use", .deadlock) { world, isFixed in
        let connections = Permits(2)
        await withTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    await connections.acquire(isFixed ? 2 : 1)
                    world.note("opens a transaction")
                    if !isFixed { await connections.acquire() }
                    await connections.release(2)
                }
            }
        }
    }

    // MARK: Two tasks that wait for each other

    private static let taskCycle = PlantedBug("tasks wait for each other", .deadlock) { _, isFixed in
        let services = Guarded<[Task<Void, Never>?]>([nil, nil])
        for index in 0..<2 {
            let service = Task {
                await Task.yield()
                // The bug: each waits for the other if that one has been started.
                guard !isFixed || index == 1, let other = services.withLock({ $0[1 - index] }) else { return }
                await other.value
            }
            services.withLock { $0[index] = service }
            await Task.yield()
        }
        for index in 0..<2 { await services.withLock { $0[index] }?.value }
    }

    // MARK: A channel whose end wakes receivers, but no sender

    private actor Channel {
        private var isFinished = false
        private var senders: [(value: Int, continuation: CheckedContinuation<Void, Never>)] = []
        private var receivers: [CheckedContinuation<Int?, Never>] = []

        func send(_ value: Int) async {
            if isFinished { return }
            if !receivers.isEmpty { return receivers.removeFirst().resume(returning: value) }
            await withCheckedContinuation { senders.append((value, $0)) }
        }

        func receive() async -> Int? {
            if isFinished { return nil }
            guard senders.isEmpty else {
                let sender = senders.removeFirst()
                sender.continuation.resume()
                return sender.value
            }
            return await withCheckedContinuation { receivers.append($0) }
        }

        func finish(isFixed: Bool) {
            isFinished = true
            for receiver in receivers { receiver.resume(returning: nil) }
            receivers = []
            guard isFixed else { return }
            for sender in senders { sender.continuation.resume() }
            senders = []
        }
    }

    private static let unfinishedChannel = PlantedBug("channel finished under a sender", .deadlock) { world, isFixed in
        let channel = Channel()
        async let sending: Void = { for value in 0..<2 { await channel.send(value) } }()
        async let receiving: Void = {
            let value = await channel.receive()
            world.note("received \(value ?? -1): enough")
            await channel.finish(isFixed: isFixed)
        }()
        _ = await (sending, receiving)
    }

    // MARK: A semaphore that loses the permit of a waiter that is cancelled after its turn has come

    private final class Semaphore: Sendable {
        private struct State {
            var free = 1
            var waiters: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
            var cancelled: [Int] = []
            var last = 0
        }

        private let state = Guarded(State())

        var free: Int { state.withLock { $0.free } }

        func acquire(isFixed: Bool) async -> Bool {
            let id = state.withLock {
                $0.last += 1
                return $0.last
            }
            let isGranted = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let answer: Bool? = state.withLock { state in
                        if state.cancelled.contains(id) { return false }
                        if state.free > 0 {
                            state.free -= 1
                            return true
                        }
                        state.waiters.append((id, continuation))
                        return nil
                    }
                    if let answer { continuation.resume(returning: answer) }
                }
            } onCancel: {
                let waiter = state.withLock { state in
                    state.cancelled.append(id)
                    return state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
                }
                waiter?.continuation.resume(returning: false)
            }
            guard isGranted, Task.isCancelled else { return isGranted }
            if isFixed { release() }
            return false
        }

        func release() {
            let next = state.withLock { state in
                if state.waiters.isEmpty { state.free += 1 }
                return state.waiters.isEmpty ? nil : state.waiters.removeFirst()
            }
            next?.continuation.resume(returning: true)
        }
    }

    private static let lostPermit = PlantedBug("permit lost by a late cancellation", .cancellation) { world, isFixed in
        let semaphore = Semaphore()
        @Sendable func use() async {
            guard await semaphore.acquire(isFixed: isFixed) else { return }
            await Task.yield()
            semaphore.release()
        }
        let (one, other) = (Task { await use() }, Task { await use() })
        world.cancelAtAnyPoint(other)
        await one.value
        await other.value
        world.expect(semaphore.free == 1, "the permit is free again")
    }

    // MARK: A lock that serves the last waiter first

    private actor Lock {
        private var isTaken = false
        private var serial = 0
        private var waiters: [(serial: Int, continuation: CheckedContinuation<Void, Never>)] = []
        /// How many later arrivals a waiter has let pass, at most.
        private(set) var mostOvertaken = 0

        func lock() async {
            serial += 1
            if isTaken {
                let mine = serial
                await withCheckedContinuation { waiters.append((mine, $0)) }
            }
            isTaken = true
        }

        func unlock(isFixed: Bool) {
            guard !waiters.isEmpty else { return isTaken = false }
            let next = isFixed ? waiters.removeFirst() : waiters.removeLast()
            if let oldest = waiters.first { mostOvertaken = max(mostOvertaken, next.serial - oldest.serial) }
            next.continuation.resume()
        }
    }

    private static let lastInFirstOut = PlantedBug("lock serves the last waiter first", .starvation) { world, isFixed in
        let lock = Lock()
        await withTaskGroup { group in
            for _ in 0..<3 {
                group.addTask {
                    for _ in 0..<4 {
                        await lock.lock()
                        world.note("has the lock")
                        await lock.unlock(isFixed: isFixed)
                    }
                }
            }
        }
        world.expect(await lock.mostOvertaken <= 3, "nobody is overtaken more than three times")
    }

    // MARK: A reader that is left behind for long

    /// Keeps the last 16 lines.
    private actor Feed {
        private(set) var end = 0

        func append() { end += 1 }

        func isKept(_ position: Int) -> Bool { end - position <= 16 }

        func latestIsKept() -> Bool { isKept(end) }
    }

    private static let leftBehind = PlantedBug("reader left behind for long", .starvation) { world, isFixed in
        let feed = Feed()
        async let writing: Void = {
            for _ in 0..<30 {
                await feed.append()
                await Task.yield()
            }
        }()
        async let reading: Bool = {
            if isFixed { return await feed.latestIsKept() }
            let position = await feed.end
            world.note("reads at \(position)")
            return await feed.isKept(position)
        }()
        world.expect(await reading, "the line that is read is kept")
        await writing
    }

    // MARK: A producer that is faster than its consumer

    private static let unboundedBuffer = PlantedBug("unbounded buffer", .starvation) { world, isFixed in
        let (stream, elements) = AsyncStream.makeStream(of: Int.self)
        let (room, depth) = (Permits(4), Guarded((now: 0, most: 0)))
        async let producing: Void = {
            for element in 0..<12 {
                if isFixed { await room.acquire() }
                depth.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                elements.yield(element)
                await Task.yield()
            }
            elements.finish()
        }()
        for await _ in stream {
            depth.withLock { $0.now -= 1 }
            await Task.yield()
            if isFixed { await room.release() }
        }
        await producing
        world.expect(depth.withLock { $0.most } <= 4, "at most four elements wait")
    }
}
