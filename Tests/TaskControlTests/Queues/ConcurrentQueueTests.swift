import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The order of the calls, `run`, and cancellation are those of a `FIFOQueue`, whose tests are beside these: the engine is the same.
@Suite(.timeLimit(.minutes(15)))
struct ConcurrentQueueTests {
    @Test(arguments: [1, 3])
    func tasksBeginInOrderAndRunUpToTheLimit(limit: Int) async throws {
        let queue = ConcurrentQueue(maxConcurrentTasks: limit)
        #expect(queue.maxConcurrentTasks == limit)
        let (gates, begun) = ((0..<9).map { _ in Gate() }, OrderRecorder<Int>())
        let running = Locked((now: 0, most: 0))
        for number in 0..<9 {
            queue.addTask {
                running.withLock { running in
                    running.now += 1
                    running.most = max(running.most, running.now)
                }
                begun.record(number)
                await gates[number].waitIgnoringCancellation()
                running.withLock { $0.now -= 1 }
            }
        }
        try await begun.waitForEvents(count: limit)
        // The first tasks run on several threads, so that any of them may be the first to record its number.
        #expect(Set(begun.events) == Set(0..<limit) && begun.events.count == limit && queue.count == 9)
        // One place is free at a time, and the next task takes it, although the first tasks still run.
        for number in limit..<9 {
            gates[number - 1].open()
            try await begun.waitForEvents(count: number + 1)
            #expect(begun.events[limit...] == Array(limit...number)[...])
        }
        for gate in gates { gate.open() }
        try await queue.drain()
        #expect(running.withLock { $0.most } == limit && queue.isIdle)
    }

    @Test func aRunTakesATurnAmongTheTasks() async throws {
        let (queue, begun, gate, last) = (ConcurrentQueue(maxConcurrentTasks: 2), Gate(), Gate(), Gate())
        let first = queue.addTask {
            begun.open()
            await gate.waitIgnoringCancellation()
        }
        await begun.waitIgnoringCancellation()
        let (value, count) = try await queue.run { (7, queue.count) }
        #expect(value == 7 && count == 2)
        let error = await #expect(throws: ReentrancyError.self) {
            try await queue.run { try await queue.run {} }
        }
        #expect(error?.queueName == nil)
        await #expect(throws: ReentrancyError.self) { try await queue.run { try await queue.drain() } }
        // A run that is cancelled before its turn leaves at once.
        let second = queue.addTask { await last.waitIgnoringCancellation() }
        let waiting = Task { try await queue.run { Issue.record("It does not run.") } }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        gate.open()
        last.open()
        await first.value
        await second.value
    }

    @Test func theTasksHaveThePriorityOfTheQueue() async {
        let queue = ConcurrentQueue(name: "downloads", priority: .utility, maxConcurrentTasks: 2)
        #expect(queue.name == "downloads")
        // The base priority: a task that is awaited may run at a higher one.
        #expect(await queue.addTask { Task.basePriority }.value == .utility)
        #expect(await queue.addTask(priority: .high) { Task.basePriority }.value == .high)
    }

    @Test func aGroupOfTheQueueIsCancelledAlone() async throws {
        let queue = ConcurrentQueue(maxConcurrentTasks: 2)
        let group = CancellableQueue(underlyingQueue: queue)
        let (begun, gate) = (Gate(), Gate())
        let other = queue.addTask { await gate.waitIgnoringCancellation() }
        let running = group.addTask {
            begun.open()
            try await Gate().wait()
        }
        let waiting = group.addTask { () throws in Issue.record("It does not run.") }
        await begun.waitIgnoringCancellation()
        #expect(group.count == 2)
        group.cancelAll()
        await #expect(throws: CancellationError.self) { try await running.value }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(group.isEmpty && !other.isCancelled)
        gate.open()
        await other.value
    }
}
