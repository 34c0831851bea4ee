import TaskControl
import TaskControlTesting

@testable import TaskControl

/// A queue, as a random program sees it.
enum QueueFace: CaseIterable {
    case fifo, twoAtOnce, actor, mainActor, cancellableFIFO, cancellableTwoAtOnce, cancellableActor

    /// How many may run at once; `nil`: as many as like to, but each alone up to its first suspension.
    var capacity: Int? {
        switch self {
        case .fifo, .cancellableFIFO: 1
        case .twoAtOnce, .cancellableTwoAtOnce: 2
        case .actor, .mainActor, .cancellableActor: nil
        }
    }

    var canRun: Bool { capacity != nil }
    var canCancelAll: Bool {
        switch self {
        case .cancellableFIFO, .cancellableTwoAtOnce, .cancellableActor: true
        case .fifo, .twoAtOnce, .actor, .mainActor: false
        }
    }
}

/// A queue and the sequential model of it: the first task sent begins first, and a task that is dropped is as if it had not been sent.
///
/// A simulation has one thread, and an operation is a synchronous call, so the two never run apart.
final class QueueWorld: Sendable {
    enum Work: CaseIterable {
        case nothing, yields, sleeps
    }

    private struct Item {
        let mayFail: Bool
        /// A run in a caller's task, which belongs to no group.
        let isInCaller: Bool
        var cancel: (@Sendable () -> Void)?
        var isCancelled = false
        /// Cancelled before it had begun, and it may fail: it never begins.
        var isDropped = false
        var hasBegun = false
        var hasEnded = false
        /// Its value has been seen.
        var isOver = false
    }

    private struct State {
        var items: [Item] = []
        var running = 0
        /// The task that is between its first word and its first suspension.
        var alone: Int?
    }

    private actor Place {}

    private let sim: Simulation
    let face: QueueFace
    private let state = Locked(State())
    private let fifo = FIFOQueue()
    private let twoAtOnce = ConcurrentQueue(maxConcurrentTasks: 2)
    private let place = Place()
    private let ordered = ActorQueue<Place>()
    private let main = ActorQueue<MainActor>()
    private let cancellable: CancellableQueue<FIFOQueue>
    private let cancellableTwoAtOnce: CancellableQueue<ConcurrentQueue>
    private let cancellableOrdered: CancellableQueue<ActorQueue<Place>>

    init(_ sim: Simulation, _ face: QueueFace) {
        (self.sim, self.face) = (sim, face)
        ordered.adoptExecutionContext(of: place)
        main.adoptExecutionContext(of: MainActor.shared)
        cancellable = CancellableQueue(underlyingQueue: fifo)
        cancellableTwoAtOnce = CancellableQueue(underlyingQueue: twoAtOnce)
        cancellableOrdered = CancellableQueue(underlyingQueue: ordered)
    }

    // MARK: Operations

    /// - Returns: Returns when the task has ended.
    func send(mayFail: Bool, _ work: Work) -> @Sendable () async -> Void {
        let number = enter(mayFail: mayFail)
        if mayFail {
            let task = makeThrowing(number, work)
            state.withLock { $0.items[number].cancel = { task.cancel() } }
            check()
            return { self.isOver(number, await task.result) }
        }
        let task = make(number, work)
        state.withLock { $0.items[number].cancel = { task.cancel() } }
        check()
        return { self.isOver(number, .success(await task.value)) }
    }

    private func make(_ number: Int, _ work: Work) -> Task<Int, Never> {
        switch face {
        case .fifo: Task(on: fifo) { await self.perform(number, work) }
        case .twoAtOnce: Task(on: twoAtOnce) { await self.perform(number, work) }
        case .actor: Task(on: ordered) { _ in await self.perform(number, work) }
        case .mainActor: Task(on: main) { await self.perform(number, work) }
        case .cancellableFIFO: Task(on: cancellable) { await self.perform(number, work) }
        case .cancellableTwoAtOnce: Task(on: cancellableTwoAtOnce) { await self.perform(number, work) }
        case .cancellableActor: Task(on: cancellableOrdered) { _ in await self.perform(number, work) }
        }
    }

    private func makeThrowing(_ number: Int, _ work: Work) -> Task<Int, any Error> {
        switch face {
        case .fifo: Task(on: fifo) { () throws in await self.perform(number, work) }
        case .twoAtOnce: Task(on: twoAtOnce) { () throws in await self.perform(number, work) }
        case .actor: Task(on: ordered) { _ throws in await self.perform(number, work) }
        case .mainActor: Task(on: main) { () throws in await self.perform(number, work) }
        case .cancellableFIFO: Task(on: cancellable) { () throws in await self.perform(number, work) }
        case .cancellableTwoAtOnce: Task(on: cancellableTwoAtOnce) { () throws in await self.perform(number, work) }
        case .cancellableActor: Task(on: cancellableOrdered) { _ throws in await self.perform(number, work) }
        }
    }

    /// Takes a turn in a task of its own.
    func run(_ work: Work) -> @Sendable () async -> Void {
        let place = Locked<Int?>(nil)
        let task = Task {
            let number = self.enter(mayFail: true, isInCaller: true)
            place.withLock { $0 = number }
            withUnsafeCurrentTask { task in
                if task?.isCancelled == true { self.cancelled(number) }
            }
            do {
                let value =
                    if self.face.capacity == 1 {
                        try await self.fifo.run { await self.perform(number, work) }
                    } else {
                        try await self.twoAtOnce.run { await self.perform(number, work) }
                    }
                self.isOver(number, .success(value))
            } catch {
                self.isOver(number, .failure(error))
            }
        }
        sim.atAnyPoint {
            if let number = place.withLock({ $0 }) { self.cancelled(number) }
            task.cancel()
        }
        return { await task.value }
    }

    func cancelNewest() {
        let newest = state.withLock { state in state.items.indices.last { state.items[$0].cancel != nil } }
        guard let newest else { return }
        cancelled(newest)
        state.withLock { $0.items[newest].cancel }?()
        check()
    }

    func cancelAll() {
        let numbers = state.withLock { state in state.items.indices.filter { !state.items[$0].isInCaller } }
        for number in numbers { cancelled(number) }
        switch face.capacity {
        case nil: cancellableOrdered.cancelTasks()
        case 1: cancellable.cancelTasks()
        default: cancellableTwoAtOnce.cancelTasks()
        }
        check()
    }

    func drain() async {
        let before = state.withLock { $0.items.count }
        let drain = Task { face.capacity == 1 ? try await fifo.drain() : try await twoAtOnce.drain() }
        // Its place is that of the moment when it starts.
        sim.cancelAtAnyPoint(drain)
        switch await drain.result {
        case .success:
            let isDrained = state.withLock { $0.items.prefix(before).allSatisfy { $0.hasEnded || $0.isDropped } }
            sim.expect(isDrained, "what was sent before has ended when a drain returns")
        case .failure(let error):
            sim.expect(error is CancellationError, "drain throws nothing but its caller's cancellation, not \(error)")
        }
    }

    /// At the end nothing is left.
    func expectAllIsOver() {
        state.withLock { state in
            for (number, item) in state.items.enumerated() {
                sim.expect(item.isOver, "\(number) is over")
                sim.expect(item.hasEnded != item.isDropped, "\(number) has run, or was dropped")
            }
        }
        sim.expect(fifo.isIdle && twoAtOnce.isIdle && groupCount == 0, "the books are empty")
    }

    /// The number of tasks that were added through a group. Only that of the face has any.
    private var groupCount: Int { cancellable.count + cancellableTwoAtOnce.count + cancellableOrdered.count }

    // MARK: The model

    private func enter(mayFail: Bool, isInCaller: Bool = false) -> Int {
        state.withLock { state in
            state.items.append(Item(mayFail: mayFail, isInCaller: isInCaller))
            return state.items.count - 1
        }
    }

    private func cancelled(_ number: Int) {
        state.withLock { state in
            state.items[number].isCancelled = true
            if state.items[number].mayFail, !state.items[number].hasBegun { state.items[number].isDropped = true }
        }
    }

    private func perform(_ number: Int, _ work: Work) async -> Int {
        begins(number)
        switch work {
        case .nothing: break
        case .yields: for _ in 0..<2 { await Task.yield() }
        case .sleeps: try? await Task.sleep(for: .milliseconds(2))
        }
        state.withLock { state in
            state.running -= 1
            state.items[number].hasEnded = true
        }
        return number
    }

    private func begins(_ number: Int) {
        state.withLock { state in
            let item = state.items[number]
            sim.expect(!item.hasBegun, "\(number) begins once")
            sim.expect(!item.isDropped, "\(number) was cancelled before its turn, and does not begin")
            sim.expect(!item.isCancelled || item.isInCaller || Task.isCancelled, "\(number) knows of its cancellation")
            let early = state.items.prefix(number).firstIndex { !$0.hasBegun && !$0.isDropped }
            sim.expect(early == nil, "\(early ?? 0) begins before \(number)")
            if let capacity = face.capacity {
                sim.expect(state.running < capacity, "\(number) begins when there is room")
            }
            state.items[number].hasBegun = true
            state.running += 1
        }
    }

    private func isOver(_ number: Int, _ result: Result<Int, any Error>) {
        let isDropped = state.withLock { state in
            state.items[number].isOver = true
            return state.items[number].isDropped
        }
        switch result {
        case .success(let value): sim.expect(value == number && !isDropped, "\(number) has its own value")
        case .failure(let error):
            sim.expect(
                error is CancellationError && isDropped,
                "\(number) fails only if it was dropped, not with \(error)"
            )
        }
        check()
    }

    /// Compares the queue's counts with the model.
    private func check() {
        let (least, most) = state.withLock { state in
            // An entry that was dropped before its task had come leaves when the task is given a thread.
            let there = state.items.filter { !$0.hasEnded && !$0.isDropped }.count
            return (there, state.items.filter { !$0.hasEnded && !$0.isOver }.count)
        }
        switch face {
        case .fifo, .twoAtOnce, .cancellableFIFO, .cancellableTwoAtOnce:
            let count = fifo.count + twoAtOnce.count
            sim.expect(count >= least && count <= most, "\(count) run or wait, not \(least) to \(most)")
        case .actor, .mainActor, .cancellableActor: break
        }
        guard face.canCancelAll else { return }
        let live = state.withLock { $0.items.filter { !$0.hasEnded && !$0.isCancelled && !$0.isInCaller }.count }
        let count = groupCount
        // Cancelled through its own handle it counts until it ends.
        sim.expect(count >= live && count <= most, "\(count) are live, not \(live) to \(most)")
    }
}
