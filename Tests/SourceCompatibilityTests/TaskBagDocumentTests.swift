import TaskControl
import TaskControlTesting
import Testing

// MARK: The document's types

private enum WorkerID: String, Sendable {
    case refresh
    case sync
    case upload
}

#if swift(>=6) && !MAIN_ACTOR_BY_DEFAULT
// Changed for language mode 6: tasks capture them.
extension DataLoader: Sendable {}
extension KeyedBagOwner: Sendable {}
#endif

private final class DataLoader {
    private let bag = IdentifiableTaskBag<String>()
    let gone: Gate

    init(gone: Gate) { self.gone = gone }

    deinit { gone.open() }

    func loadResource(id: String) {
        bag.addTask(id: id) { [weak self] in
            await self?.fetch(id)
        }
    }

    private func fetch(_ id: String) async { _ = try? await Backend.answer(id) }
}

extension DataLoader {
    fileprivate var count: Int { bag.count }
}

// Changed for language mode 6: what its tasks change is on the main actor.
#if swift(>=6) && !MAIN_ACTOR_BY_DEFAULT
@MainActor
#endif
private final class BagOwner {
    private let bag = TaskBag()
    let gone: Gate
    let worked = Gate()
    private(set) var handled: [Int] = []

    init(gone: Gate) { self.gone = gone }

    deinit { gone.open() }

    func refresh() async { _ = try? await Backend.answer("refresh") }
    func work() async { _ = try? await Backend.answer("work") }
    func doWork() async { worked.open() }

    func handle(_ value: Int) async {
        handled.append(value)
        worked.open()
    }

    func refreshWeakly() {
        bag.addTask { [weak self] in await self?.refresh() }
    }

    func workWeakly() {
        Task { [weak self] in await self?.work() }.stored(in: bag)
    }

    func refreshStrongly() {
        bag.addTask { await self.refresh() }
    }

    func poll(ended: Gate) {
        bag.addTask { [weak self] in
            while !Task.isCancelled {
                await self?.doWork()
                try? await Task.sleep(nanoseconds: 1_000_000_000)
            }
            ended.open()
        }
    }

    func workLong() {
        bag.addTask {
            do {
                try Task.checkCancellation()
                await doLongWork()
            } catch {
                // Cancelled.
            }
        }
    }

    func listen(to stream: AsyncStream<Int>) {
        bag.addTask { [weak self, stream] in
            for await value in stream {
                guard let self else { break }
                if Task.isCancelled { break }
                await self.handle(value)
            }
        }
    }

    func cancel() { bag.cancel() }
}

private final class KeyedBagOwner {
    private let bag = IdentifiableTaskBag<String>()
    let gone: Gate

    init(gone: Gate) { self.gone = gone }

    deinit { gone.open() }

    func sync() async { _ = try? await Backend.answer("sync") }

    func syncWeakly() {
        bag.addTask(id: "x") { [weak self] in await self?.sync() }
    }
}

// MARK: - Without IDs

@Suite(.timeLimit(.minutes(15)))
struct TaskBagDocumentTests {
    let backend = HeldBackend()

    @Test func cancellingABagCancelsWhatItStartedAndWhatItWasGiven() async throws {
        let sync = HeldBackend()
        let stored = HeldBackend()

        let bag = TaskBag()

        backend.serving { bag.addTask { await doRefresh() } }
        sync.serving { bag.addTask { await doSync() } }
        stored.serving { Task { await doRefresh() }.stored(in: bag) }
        for backend in [backend, sync, stored] { try await backend.begun.wait() }

        bag.cancel()

        for backend in [backend, sync, stored] { try await backend.cancelled.wait() }
        #expect(backend.log.events + sync.log.events + stored.log.events == ["refresh", "sync", "refresh"])
    }

    @Test func aBagThatGoesCancelsItsTasks() async throws {
        let detached = HeldBackend()
        let stored = HeldBackend()
        let task = stored.serving { Task { await doSync() } }
        do {
            let bag = TaskBag()
            backend.serving { bag.addTask(priority: .high) { await doRefresh() } }
            bag.addDetachedTask(priority: .low) { _ = try? await detached.answer("detached") }
            bag.add(task)
            try await backend.begun.wait()
            try await detached.begun.wait()
            try await stored.begun.wait()
            withExtendedLifetime(bag) {}
        }

        for backend in [backend, detached, stored] { try await backend.cancelled.wait() }
        #expect(task.isCancelled)
    }

    @Test func aBagTakesOperationsThatAreSendableFunctions() async throws {
        let ends = [Gate(), Gate(), Gate()]
        // Changed for the default isolation: a stored function says that it runs on no actor.
        #if MAIN_ACTOR_BY_DEFAULT
        let operations: [@concurrent @Sendable () async -> Void] = ends.map { end in { end.open() } }
        #else
        let operations: [@Sendable () async -> Void] = ends.map { end in { end.open() } }
        #endif

        let bag = TaskBag()
        bag.addTask(operation: operations[0])
        bag.addTask(priority: nil, operation: operations[1])
        bag.addDetachedTask(operation: operations[2])

        for end in ends { try await end.wait() }
        withExtendedLifetime(bag) {}
    }
}

// MARK: - With IDs

@Suite(.timeLimit(.minutes(15)))
struct IdentifiableTaskBagDocumentTests {
    let backend = HeldBackend()

    @Test func aDuplicateIsIgnored() async throws {
        let ignored = HeldBackend()
        let sync = HeldBackend()

        let bag = IdentifiableTaskBag<String>()

        backend.serving { bag.addTask(id: "refresh") { await doRefresh() } }
        ignored.serving { bag.addTask(id: "refresh") { await doRefresh() } }
        sync.serving { bag.addTask(id: "sync") { await doSync() } }
        #expect(bag.count == 2)

        for backend in [backend, sync] {
            backend.released.open()
            try await backend.answered.wait()
        }
        #expect(ignored.log.events.isEmpty)
        withExtendedLifetime(bag) {}
    }

    @Test func aTaskGivenToABagUnderAnIDIsCancelledByThatID() async throws {
        let bag = IdentifiableTaskBag<String>()
        backend.serving { Task { await doSync() }.stored(in: bag, id: "sync") }
        try await backend.begun.wait()

        bag.cancel(id: "sync")

        try await backend.cancelled.wait()
    }

    @Test func aTaskGivenUnderAnIDInUseIsLeftAlone() async throws {
        let other = HeldBackend()
        let bag = IdentifiableTaskBag<String>()
        backend.serving { bag.addTask(id: "sync") { await doSync() } }
        try await backend.begun.wait()

        let task = other.serving { Task { await doSync() } }
        bag.add(task, id: "sync")
        try await other.begun.wait()
        bag.cancel(id: "sync")

        try await backend.cancelled.wait()
        other.released.open()
        await task.value
        #expect(!task.isCancelled)
        #expect(other.answered.isOpen)
    }

    @Test func anEnumIsAnID() async throws {
        let sync = HeldBackend()

        let bag = IdentifiableTaskBag<WorkerID>()

        backend.serving { bag.addTask(id: .refresh) { await refreshData() } }
        sync.serving { bag.addTask(id: .sync) { await syncWithServer() } }
        try await backend.begun.wait()
        try await sync.begun.wait()

        bag.cancel(id: .refresh)
        bag.cancel(id: .upload)

        try await backend.cancelled.wait()
        sync.released.open()
        try await sync.answered.wait()
        withExtendedLifetime(bag) {}
    }

    @Test func aBagThatGoesCancelsItsTasks() async throws {
        let detached = HeldBackend()
        do {
            let bag = IdentifiableTaskBag<WorkerID>()
            backend.serving { bag.addTask(id: .refresh, priority: .high) { await refreshData() } }
            bag.addDetachedTask(id: .upload, priority: .low) { _ = try? await detached.answer("upload") }
            try await backend.begun.wait()
            try await detached.begun.wait()
            withExtendedLifetime(bag) {}
        }

        try await backend.cancelled.wait()
        try await detached.cancelled.wait()
    }

    @Test func aLoaderLoadsAResourceOnceAtATimeAndCanGo() async throws {
        let gone = Gate()
        do {
            let loader = DataLoader(gone: gone)
            backend.serving {
                loader.loadResource(id: "icon")
                loader.loadResource(id: "icon")
            }
            #expect(loader.count == 1)
            try await backend.begun.wait()
            withExtendedLifetime(loader) {}
        }

        backend.released.open()

        try await gone.wait()
        #expect(backend.log.events == ["icon"])
    }
}

// MARK: - Owners

@Suite(.timeLimit(.minutes(15)))
#if swift(>=6) && !MAIN_ACTOR_BY_DEFAULT
@MainActor
#endif
struct TaskBagOwnerDocumentTests {
    let backend = HeldBackend()
    let gone = Gate()

    @Test func anOwnerCapturedWeaklyGoesWhenItsMethodReturns() async throws {
        do {
            let owner = BagOwner(gone: gone)
            backend.serving { owner.refreshWeakly() }
            try await backend.begun.wait()
            withExtendedLifetime(owner) {}
        }
        #expect(!gone.isOpen)

        backend.released.open()

        try await gone.wait()
    }

    @Test func anOwnerOfAKeyedBagCapturedWeaklyGoesWhenItsMethodReturns() async throws {
        do {
            let owner = KeyedBagOwner(gone: gone)
            backend.serving { owner.syncWeakly() }
            try await backend.begun.wait()
            withExtendedLifetime(owner) {}
        }

        backend.released.open()

        try await gone.wait()
    }

    @Test func anOwnerCapturedWeaklyByAStoredTaskGoesWhenItsMethodReturns() async throws {
        do {
            let owner = BagOwner(gone: gone)
            backend.serving { owner.workWeakly() }
            try await backend.begun.wait()
            withExtendedLifetime(owner) {}
        }

        backend.released.open()

        try await gone.wait()
    }

    @Test func anOwnerCapturedStronglyStaysUntilTheTaskHasEnded() async throws {
        do {
            let owner = BagOwner(gone: gone)
            backend.serving { owner.refreshStrongly() }
            try await backend.begun.wait()
            withExtendedLifetime(owner) {}
        }
        #expect(!gone.isOpen)

        backend.released.open()

        try await gone.wait()
    }

    @Test func aLoopThatLooksForItsCancellationEndsWithItsOwner() async throws {
        let ended = Gate()
        do {
            let owner = BagOwner(gone: gone)
            owner.poll(ended: ended)
            try await owner.worked.wait()
            withExtendedLifetime(owner) {}
        }

        try await gone.wait()
        try await ended.wait()
    }

    @Test func longWorkIsCancelledWithItsBag() async throws {
        let owner = BagOwner(gone: gone)
        backend.serving { owner.workLong() }
        try await backend.begun.wait()

        owner.cancel()

        try await backend.cancelled.wait()
    }

    @Test func aLoopOverAnEndlessStreamEndsWithItsOwner() async throws {
        let cancelled = Gate()
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        continuation.onTermination = { reason in
            if case .cancelled = reason { cancelled.open() }
        }
        do {
            let owner = BagOwner(gone: gone)
            owner.listen(to: stream)
            continuation.yield(1)
            try await owner.worked.wait()
            #expect(owner.handled == [1])
        }

        try await gone.wait()
        try await cancelled.wait()
    }
}
