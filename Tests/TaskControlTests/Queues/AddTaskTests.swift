import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// `addTask` of queues: `Task(on:)` as a method, and the choice of whether a task runs that is cancelled before its turn.
@Suite(.timeLimit(.minutes(15)))
struct AddTaskTests {
    private actor Log {
        var lines: [Int] = []

        func append(_ line: Int) { lines.append(line) }
    }

    @Test func tasksRunInTheOrderOfTheCalls() async throws {
        let (queue, order) = (FIFOQueue(), OrderRecorder<Int>())
        let tasks = (0..<100).map { number in queue.addTask { order.record(number) } }
        for task in tasks { await task.value }
        #expect(order.events == Array(0..<100))
    }

    @Test func itReturnsTheTaskWithItsValueOrError() async throws {
        let (queue, error) = (CancellableQueue(underlyingQueue: FIFOQueue()), MarkedError())
        let value: Task<Int, Never> = queue.addTask(name: "value", priority: .high) { 7 }
        let failure: Task<Int, any Error> = queue.addTask { throw error }
        #expect(await value.value == 7)
        await #expect(throws: error) { try await failure.value }
    }

    /// - Parameter behavior: `nil` for the default.
    @Test(arguments: [nil, CancelledTurnBehavior.skip, .run])
    func aCancelledTaskThatMayThrowIsSkippedUnlessItSaysOtherwise(_ behavior: CancelledTurnBehavior?) async throws {
        let (queue, gate, ran) = (FIFOQueue(), Gate(), OrderRecorder<Bool>())
        queue.addTask { await gate.waitIgnoringCancellation() }
        func run() throws -> Int {
            ran.record(Task.isCancelled)
            return 7
        }
        let task: Task<Int, any Error>
        if let behavior {
            task = queue.addTask(whenCancelledWaiting: behavior) { try run() }
        } else {
            task = queue.addTask { try run() }
        }
        task.cancel()
        if behavior != .run {
            // Before the task in front of it has ended.
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        gate.open()
        if behavior == .run { #expect(try await task.value == 7) }
        try await queue.drain()
        #expect(ran.events == (behavior == .run ? [true] : []))
    }

    @Test(arguments: [CancelledTurnBehavior.skip, .run])
    func aCancelledTaskThatCannotThrowIsSkippedIfItSaysSo(_ behavior: CancelledTurnBehavior) async throws {
        let (queue, gate, ran) = (FIFOQueue(), Gate(), OrderRecorder<Bool>())
        queue.addTask { await gate.waitIgnoringCancellation() }
        let task = queue.addTask(whenCancelledWaiting: behavior) { ran.record(Task.isCancelled) }
        task.cancel()
        if behavior == .skip { await task.value }
        gate.open()
        await task.value
        try await queue.drain()
        #expect(ran.events == (behavior == .run ? [true] : []))
    }

    @Test func aSkippedTaskIsReportedAsSkipped() async throws {
        let events = try await EventLog.events {
            let (queue, gate) = (FIFOQueue(name: "AddTaskTests"), Gate())
            queue.addTask { await gate.waitIgnoringCancellation() }
            let task = queue.addTask(whenCancelledWaiting: .skip) {}
            task.cancel()
            await task.value
            gate.open()
            try await queue.drain()
        }
        #expect(events.compactMap(\.outcome).contains(.skipped))
    }

    @Test func tasksOfAnActorQueueReceiveTheActor() async throws {
        let (log, queue) = (Log(), ActorQueue<Log>())
        queue.adoptExecutionContext(of: log)
        queue.addTask { log in log.append(1) }
        let second = queue.addTask { log throws in log.append(2) }
        try await second.value
        #expect(await log.lines == [1, 2])
    }

    @Test @MainActor func tasksOfTheMainActorsQueueRunOnIt() async throws {
        let order = OrderRecorder<Int>()
        MainActor.queue.addTask {
            MainActor.assertIsolated()
            order.record(1)
        }
        let second = MainActor.queue.addTask { () async throws -> Int in
            MainActor.assertIsolated()
            order.record(2)
            return 2
        }
        #expect(try await second.value == 2)
        #expect(order.events == [1, 2])
    }

    @Test func anyQueueCanBeAParameter() async throws {
        func double(_ number: Int, on queue: some TaskQueue) async -> Int {
            await queue.addTask { 2 * number }.value
        }
        #expect(await double(4, on: FIFOQueue()) == 8)
        #expect(await double(4, on: CancellableQueue(underlyingQueue: FIFOQueue())) == 8)
    }
}
