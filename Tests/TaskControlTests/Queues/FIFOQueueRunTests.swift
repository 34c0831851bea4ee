import Foundation
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct FIFOQueueRunTests {
    private final class NotSendable {
        var number = 0
    }

    @Test @MainActor func theBodyRunsInTheCallersIsolationAndTask() async throws {
        let queue = FIFOQueue()
        let object = NotSendable()
        let result = try await queue.run {
            MainActor.preconditionIsolated()
            object.number += 1
            await Task.yield()
            object.number += 1
            return object
        }
        #expect(result === object && object.number == 2 && queue.isIdle)
    }

    private actor Account {
        private var balance = 0
        private let turns = FIFOQueue()

        /// Without turns others would come in between.
        func add(_ amount: Int) async throws {
            try await turns.run {
                let before = balance
                await Task.yield()
                balance = before + amount
            }
        }

        func total() -> Int { balance }
    }

    @Test func anActorsStateIsItsOwnForATurn() async throws {
        let account = Account()
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { try await account.add(1) } }
            try await group.waitForAll()
        }
        #expect(await account.total() == 100)
    }

    @Test func aRunTakesItsPlaceAmongTheTasks() async throws {
        let (queue, gate, log) = (FIFOQueue(), Gate(), OrderRecorder<Int>())
        Task(on: queue) {
            await gate.waitIgnoringCancellation()
            log.record(0)
        }
        let run = Task {
            try await queue.run {
                await Task.yield()
                log.record(1)
            }
        }
        try await wait(forBooksOf: queue._turns.source.number) { 2 - queue.count }
        let last = Task(on: queue) { log.record(2) }
        gate.open()
        try await run.value
        await last.value
        #expect(log.events == [0, 1, 2])
    }

    @Test func whatTheBodyThrowsIsThrownAndTheTurnIsPassedOn() async throws {
        let queue = FIFOQueue()
        await #expect(throws: MarkedError()) { try await queue.run { throw MarkedError() } }
        #expect(queue.isIdle)
        #expect(try await queue.run { 1 } == 1)
    }

    @Test func aCallerThatIsCancelledBeforeItsTurnLeavesAtOnce() async throws {
        let (queue, gate, log) = (FIFOQueue(), Gate(), OrderRecorder<Int>())
        Task(on: queue) { await gate.waitIgnoringCancellation() }
        let run = Task { try await queue.run { log.record(1) } }
        try await wait(forBooksOf: queue._turns.source.number) { 2 - queue.count }
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(queue.count == 1 && log.events.isEmpty)
        gate.open()
        try await queue.drain()
    }

    @Test func aCallerThatWasCancelledBeforeDoesNotRun() async {
        let (queue, log) = (FIFOQueue(), OrderRecorder<Int>())
        let run = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await queue.run { log.record(1) }
        }
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(log.events.isEmpty && queue.isIdle)
    }

    // MARK: The turn of an idle queue, which is taken without the lock

    @Test func aTurnOfAnIdleQueueIsCountedAndEnds() async throws {
        let queue = FIFOQueue()
        for _ in 0..<3 {
            try await queue.run {
                // A look enters the turn in the line.
                #expect(queue.count == 1)
                await expectReentrancy(nil) { try await queue.run {} }
                await expectReentrancy(nil) { try await queue.drain() }
            }
            #expect(queue.isIdle)
            try await queue.run {}
        }
    }

    @Test func tasksAndDrainingCallersWaitForTheTurnOfAnIdleQueue() async throws {
        let (queue, begun, gate, log) = (FIFOQueue(), Gate(), Gate(), OrderRecorder<Int>())
        let run = Task {
            try await queue.run {
                begun.open()
                await gate.waitIgnoringCancellation()
                log.record(0)
            }
        }
        try await begun.wait()
        let next = Task(on: queue) { log.record(1) }
        let cancelled = Task(on: queue) { () throws in log.record(2) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let drain = Task {
            try await queue.drain()
            log.record(3)
        }
        try await wait(forBooksOf: queue._turns.source.number) { 1 - queue._turns.drainerCount }
        gate.open()
        try await run.value
        await next.value
        try await drain.value
        #expect(log.events == [0, 1, 3] && queue.isIdle)
    }

    private final class Shared: @unchecked Sendable {
        var number = 0
    }

    /// ThreadSanitizer reports a turn that does not see what the turn before has written.
    @Test func turnsWithAndWithoutTheLineExcludeEachOther() async throws {
        let (queue, shared) = (FIFOQueue(), Shared())
        try await withThrowingTaskGroup { group in
            for worker in 0..<4 {
                group.addTask {
                    for round in 0..<256 {
                        try await queue.run { shared.number += 1 }
                        switch (worker + round) % 8 {
                        case 0: await Task(on: queue) { shared.number += 1 }.value
                        case 1: try await queue.drain()
                        case 2: _ = queue.count
                        case 3:
                            try await queue.run {
                                let before = shared.number
                                await Task.yield()
                                shared.number = before + 1
                            }
                        default: await Task.yield()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(queue.isIdle)
        #expect(shared.number == 4 * (256 + 64))
    }

    @Test func aCancellationInsideIsForTheBody() async throws {
        let queue = FIFOQueue()
        let run = Task {
            try await queue.run {
                withUnsafeCurrentTask { $0?.cancel() }
                return Task.isCancelled
            }
        }
        #expect(try await run.value)
    }

    // MARK: Reentrancy

    private func expectReentrancy(_ name: String?, _ body: () async throws -> Void) async {
        let error = await #expect(throws: ReentrancyError.self) { try await body() }
        #expect(error?.queueName == name)
    }

    @Test func aTurnInsideATurnIsRefused() async throws {
        let queue = FIFOQueue(name: "saves")
        await expectReentrancy("saves") { try await queue.run { try await queue.run {} } }
        await expectReentrancy("saves") { try await queue.run { try await queue.drain() } }
        await expectReentrancy("saves") { try await Task(on: queue) { try await queue.run {} }.value }
        #expect(queue.isIdle)
        #expect("\(ReentrancyError(queueName: "saves"))".hasPrefix("The queue \"saves\" was asked for a turn"))
        #expect("\(ReentrancyError(queueName: nil))".hasPrefix("A queue without a name was asked"))
    }

    @Test func aCancelledCallerInsideATurnReceivesCancellationError() async throws {
        let queue = FIFOQueue()
        try await Task {
            try await queue.run {
                withUnsafeCurrentTask { $0?.cancel() }
                await #expect(throws: CancellationError.self) { try await queue.run {} }
                await #expect(throws: CancellationError.self) { try await queue.drain() }
            }
        }
        .value
        #expect(queue.isIdle)
    }

    @Test func soIsOneOfAChildTaskOrOfATaskMadeInside() async throws {
        let queue = FIFOQueue()
        await expectReentrancy(nil) {
            try await queue.run {
                async let child: Void = queue.run {}
                try await child
            }
        }
        await expectReentrancy(nil) {
            try await Task(on: queue) {
                try await withThrowingTaskGroup { group in
                    group.addTask { try await queue.run {} }
                    try await group.waitForAll()
                }
            }.value
        }
        await expectReentrancy(nil) { try await queue.run { try await Task { try await queue.run {} }.value } }
        #expect(queue.isIdle)
    }

    @Test func soIsOneThroughAnotherQueuesTurn() async throws {
        let (queue, other) = (FIFOQueue(name: "outer"), FIFOQueue(name: "inner"))
        await expectReentrancy("outer") {
            try await queue.run { try await other.run { try await queue.run {} } }
        }
        await expectReentrancy("outer") {
            try await queue.run { try await Task(on: other) { try await queue.run {} }.value }
        }
        // In the other direction neither is its own.
        #expect(try await queue.run { try await other.run { 1 } } == 1)
    }

    @Test func aTaskThatOutlivesItsTurnNoLongerHoldsIt() async throws {
        let (queue, gate) = (FIFOQueue(), Gate())
        let survivor = try await queue.run {
            Task {
                try await gate.wait()
                return try await queue.run { 1 }
            }
        }
        // The next turn has the place in the books that the first one had.
        let hold = Gate()
        let next = Task(on: queue) { await hold.waitIgnoringCancellation() }
        gate.open()
        try await wait(forBooksOf: queue._turns.source.number) { 2 - queue.count }
        hold.open()
        #expect(try await survivor.value == 1)
        await next.value
    }

    /// The runtime knows a task-local by its address.
    @Test func noOtherTaskLocalTakesTheMarkOfATurnForItsOwn() async throws {
        let gate = Gate()
        var queue: FIFOQueue? = FIFOQueue()
        let survivor = try await queue!.run {
            Task {
                try await gate.wait()
                return (0..<1_000).map { _ in TaskLocal<(UInt64, UInt64, UInt64)?>(wrappedValue: nil) }
                    .filter { $0.get() != nil }.count
            }
        }
        queue = nil
        gate.open()
        #expect(try await survivor.value == 0)
    }
}

/// A waiter raises what it waits for. A task that must be raised waits until it has been, so a task that is not raised runs into the time limit.
@Suite(.timeLimit(.minutes(15)))
struct QueueRaisingTests {
    /// The recorded priority of a task is its actual priority: the one of the user interface is not passed on.
    @Test(arguments: [9, 17, 21, 25, 33] as [UInt8])
    func theInheritedPriorityIsTheOneThatATaskHas(priority: UInt8) async {
        let (expected, actual) = await Task(priority: TaskPriority(rawValue: priority)) {
            (inheritedLevel, await Task { Task.basePriority?.rawValue }.value)
        }.value
        #expect(actual == expected)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aTaskOfHigherPriorityRaisesAllThatIsBeforeIt() async throws {
        let (queue, log) = (FIFOQueue(), OrderRecorder<Int>())
        for number in 0..<3 {
            Task(priority: .background, on: queue) {
                await untilRaised(to: .high)
                log.record(number)
            }
        }
        await Task(priority: .high, on: queue) { log.record(3) }.value
        #expect(log.events == [0, 1, 2, 3])
    }

    /// Not only when it comes to wait: that it cannot while its actor is busy.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aTaskRaisesWhatIsBeforeItWhenItIsSent() async throws {
        let (queue, place, begun, gate) = (FIFOQueue(), Place(), Gate(), Gate())
        let raised = OrderRecorder<TaskPriority>()
        Task(priority: .background, on: queue) { await raised.recordRises(of: begun, until: gate) }
        await begun.waitIgnoringCancellation()
        await Task(isolatedTo: place) { place in
            Task(priority: .high, on: queue, isolatedTo: place) { _ in }
            #expect(raised.events == [.high])
        }.value
        gate.open()
        try await queue.drain()
    }

    private actor Place {}

    /// Each step is sent to a queue of its own from inside the turn of the step before.
    @Test func aChainOfTasksThroughNewQueuesCarriesOnlyTurnsThatHaveNotEnded() async {
        let (longest, isOver) = (Locked(0), Gate())
        @Sendable func step(_ number: Int) {
            longest.withLock { $0 = max($0, _Places.local.get().outer.count) }
            if number == 1_000 { return isOver.open() }
            Task(on: FIFOQueue()) { step(number + 1) }
        }
        step(0)
        await isOver.waitIgnoringCancellation()
        #expect(longest.withLock { $0 } < 10)
    }

    /// A task that was made inside a turn keeps the mark of that turn, and not the queue.
    @Test func aTaskThatOutlivesItsTurnDoesNotKeepTheQueue() async {
        let gate = Gate()
        weak var turns: _TurnStorage?
        var later: Task<Void, Never>?
        do {
            let queue = FIFOQueue()
            turns = queue._turns
            later = await Task(on: queue) { Task { await gate.waitIgnoringCancellation() } }.value
            try? await queue.drain()
        }
        #expect(turns == nil)
        gate.open()
        await later?.value
    }

    /// Raised between its place and its making, as from another thread.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aTaskWhoseHandleComesLateIsRaisedThen() async {
        let (turns, begun, gate) = (_TurnStorage(.fifoQueue, name: nil, capacity: 1), Gate(), Gate())
        let raised = OrderRecorder<TaskPriority>()
        let (turn, next) = (
            _Turn(in: turns, level: TaskPriority.background.rawValue),
            _Turn(in: turns, level: TaskPriority.high.rawValue)
        )
        let task = Task(priority: .background) { await raised.recordRises(of: begun, until: gate) }
        await begun.waitIgnoringCancellation()
        turn.attach(task.handle, name: nil)
        #expect(raised.events == [.high])
        gate.open()
        await task.value
        // Its beginning is emitted with its handle, and is owed to observers.
        next.attach(task.handle, name: nil)
    }

    /// Otherwise the entries behind it, which stop at an entry of their own priority, would not raise the entries that it has overtaken.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aRunThatBeginsAtOnceRaisesWhatRunsBeforeIt() async throws {
        let (queue, begun, isInside, gate) = (ConcurrentQueue(maxConcurrentTasks: 2), Gate(), Gate(), Gate())
        Task(priority: .background, on: queue) {
            begun.open()
            await untilRaised(to: .high)
        }
        await begun.waitIgnoringCancellation()
        let run = Task(priority: .high) {
            try await queue.run {
                isInside.open()
                await gate.waitIgnoringCancellation()
            }
        }
        await isInside.waitIgnoringCancellation()
        await Task(priority: .high, on: queue) {}.value
        gate.open()
        try await run.value
    }

    /// A task that is made without a priority does not get what its maker has been raised to.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aTaskOfARaisedSenderIsRaised() async {
        let (queue, sent) = (FIFOQueue(), Gate())
        let sender = Task(priority: .background) {
            await untilRaised(to: .medium)
            Task(on: queue) { await untilRaised(to: .medium) }
            sent.open()
        }
        sender.escalatePriority(to: .medium)
        await sent.waitIgnoringCancellation()
        await Task(priority: .medium, on: queue) {}.value
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aRiseOfATaskThatWaitsIsPassedOn() async {
        let (queue, begun) = (FIFOQueue(), Gate())
        Task(priority: .background, on: queue) {
            begun.open()
            await untilRaised(to: .high)
        }
        let waiting = Task(priority: .background, on: queue) {}
        await begun.waitIgnoringCancellation()
        waiting.escalatePriority(to: .high)
        await waiting.value
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func whoeverDrainsRaisesWhatIsThere() async throws {
        let queue = FIFOQueue()
        for _ in 0..<3 { Task(priority: .background, on: queue) { await untilRaised(to: .high) } }
        try await Task(priority: .high) { try await queue.drain() }.value
    }

    /// Its task is not the queue's, and may end as soon as it has left.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aRunRaisesTheTasksBeforeItAndIsNotRaised() async throws {
        let (queue, begun, gate, ended) = (FIFOQueue(), Gate(), Gate(), Gate())
        Task(priority: .background, on: queue) {
            begun.open()
            await untilRaised(to: .high)
        }
        await begun.waitIgnoringCancellation()
        let raised = OrderRecorder<TaskPriority>()
        Task(priority: .background) {
            await withTaskPriorityEscalationHandler {
                try? await queue.run { await gate.waitIgnoringCancellation() }
            } onPriorityEscalated: { _, priority in
                raised.record(priority)
            }
            ended.open()
        }
        try await wait(forBooksOf: queue._turns.source.number) { 2 - queue.count }
        // Raises the task that is before the run, and not the run.
        let urgent = Task(priority: .utility) { try await queue.run {} }
        try await wait(forBooksOf: queue._turns.source.number) { 3 - queue.count }
        // Raised itself while it waits.
        urgent.escalatePriority(to: .high)
        gate.open()
        try await urgent.value
        // To await the task of the run would raise it to the priority of the test.
        await ended.waitIgnoringCancellation()
        #expect(raised.events.isEmpty)
    }

    /// Callers that end at once while others raise what is before them, among them children whose memory is their parent's.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func callersOfDifferentPrioritiesMayEndWhileOthersRaise() async throws {
        let queue = FIFOQueue()
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask(priority: number % 2 == 0 ? .background : .high) {
                    for _ in 0..<5 {
                        async let one: Void = queue.run {}
                        async let other: Void = queue.run { await Task.yield() }
                        _ = try await (one, other)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(queue.isIdle)
    }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension OrderRecorder where Event == TaskPriority {
    /// Opens a gate, and notes to what its task is raised until another is opened.
    fileprivate func recordRises(of begun: Gate, until gate: Gate) async {
        await withTaskPriorityEscalationHandler {
            begun.open()
            await gate.waitIgnoringCancellation()
        } onPriorityEscalated: { _, priority in
            self.record(priority)
        }
    }
}
