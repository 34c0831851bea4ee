import Foundation
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct CancellableQueueTests {
    @Test func whatRunsAndWhatWaitsIsCancelledAndNotWhatComesLater() async throws {
        let (queue, begun, log) = (CancellableQueue(underlyingQueue: FIFOQueue()), Gate(), OrderRecorder<String>())
        let running = Task(on: queue) {
            begun.open()
            try await Gate().wait()
        }
        let waiting = Task(on: queue) { () throws in log.record("never") }
        let owed = Task(on: queue) {
            log.record("owed")
            return Task.isCancelled
        }
        await begun.waitIgnoringCancellation()
        #expect(queue.count == 3)
        queue.cancelTasks()
        #expect(queue.count == 0)
        let later = Task(on: queue) {
            log.record("later")
            return Task.isCancelled
        }
        #expect(running.isCancelled && waiting.isCancelled && owed.isCancelled && !later.isCancelled)
        await #expect(throws: CancellationError.self) { try await running.value }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(await owed.value)
        #expect(await !later.value)
        #expect(log.events == ["owed", "later"])
        try await queue.drained()
    }

    @Test func whatHasEndedIsNotCounted() async throws {
        let queue = CancellableQueue(underlyingQueue: FIFOQueue())
        await Task(on: queue) {}.value
        await #expect(throws: MarkedError()) { try await Task(on: queue) { throw MarkedError() }.value }
        let (gate, begun) = (Gate(), Gate())
        Task(on: queue) {
            begun.open()
            await gate.waitIgnoringCancellation()
        }
        let dropped = Task(on: queue) { () throws in }
        await begun.waitIgnoringCancellation()
        dropped.cancel()
        _ = await dropped.result
        #expect(queue.count == 1)
        gate.open()
        try await queue.drained()
    }

    /// Two groups take turns in one line; each is cancelled for itself.
    @Test func drainWaitsForWhatWasSentThroughItAndWasCancelledAndForNothingBehind() async throws {
        let queue = FIFOQueue()
        let group = CancellableQueue(underlyingQueue: queue)
        let (begun, gate, behind) = (Gate(), Gate(), Gate())
        let order = OrderRecorder<String>()
        Task(on: group) {
            begun.open()
            await gate.waitIgnoringCancellation()
            order.record("ended")
        }
        let other = Task(on: queue) { try await behind.wait() }
        try await begun.wait()
        group.cancelTasks()
        let drained = Task {
            try await group.drain()
            order.record("drained")
        }
        gate.open()
        try await drained.value
        #expect(order.events == ["ended", "drained"])
        behind.open()
        _ = await other.result
    }

    @Test func whatOthersSendToTheSameQueueIsNotConcerned() async throws {
        let (line, gate, log) = (FIFOQueue(), Gate(), OrderRecorder<Int>())
        let (one, other) = (CancellableQueue(underlyingQueue: line), CancellableQueue(underlyingQueue: line))
        Task(on: line) { await gate.waitIgnoringCancellation() }
        for number in 0..<6 { _ = Task(on: number % 2 == 0 ? one : other) { () throws in log.record(number) } }
        one.cancelTasks()
        #expect(one.count == 0 && other.count == 3)
        gate.open()
        try await line.drain()
        #expect(log.events == [1, 3, 5])
    }

    /// Never call out while holding a lock.
    @Test func cancellingAndSendingFromAHandlerThatItTriggersNeitherHangsNorMissesATask() async throws {
        let line = FIFOQueue()
        let (queue, begun, log) = (CancellableQueue(underlyingQueue: line), Gate(), OrderRecorder<String>())
        let running = Task(on: queue) {
            try await withTaskCancellationHandler {
                begun.open()
                try await Gate().wait()
            } onCancel: {
                queue.cancelTasks()
                Task(on: queue) { log.record("sent by the handler") }
            }
        }
        let waiting = (0..<3).map { _ in Task(on: queue) { () throws in log.record("never") } }
        await begun.waitIgnoringCancellation()
        queue.cancelTasks()
        for task in waiting + [running] {
            #expect(task.isCancelled)
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        try await line.drain()
        #expect(log.events == ["sent by the handler"])
    }

    /// Also while the call is still busy with the handlers of others.
    @Test func nothingThatMayFailBeginsOnceTheCallHasBegun() async throws {
        let (line, begun, gate, log) = (ConcurrentQueue(maxConcurrentTasks: 2), Gate(), Gate(), OrderRecorder<String>())
        let queue = CancellableQueue(underlyingQueue: line)
        Task(on: line) { await gate.waitIgnoringCancellation() }
        let running = Task(on: queue) {
            try await withTaskCancellationHandler {
                begun.open()
                try await Gate().wait()
            } onCancel: {
                // The other turn is passed on, and the task that receives it ends, before its own task receives the cancellation.
                gate.open()
                // Not in a loop that only yields: the pool can be busy with other tests for long.
                while line.count > 1 { usleep(100) }
            }
        }
        let waiting = Task(on: queue) { () throws in log.record("never") }
        await begun.waitIgnoringCancellation()
        // On a thread that may be kept busy.
        try await offThePool { queue.cancelTasks() }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(log.events.isEmpty)
    }

    private actor Place {
        var visits = 0
    }

    @Test func tasksOfAnActorAreCancelledToo() async throws {
        let (place, line) = (Place(), ActorQueue<Place>())
        let queue = CancellableQueue(underlyingQueue: line)
        line.adoptExecutionContext(of: place)
        let begun = Gate()
        let running = Task(on: queue) { _ in
            begun.open()
            try await Gate().wait()
        }
        await begun.waitIgnoringCancellation()
        let owed = Task(on: queue) { place in
            place.visits += 1
            try? await Gate().wait()
        }
        queue.cancelTasks()
        await #expect(throws: CancellationError.self) { try await running.value }
        await owed.value
        #expect(await place.visits == 1)
    }

    @Test @MainActor func tasksOfTheMainActorAreCancelledToo() async {
        let queue = CancellableQueue(underlyingQueue: MainActor.queue)
        var visits = 0
        let dropped = Task(on: queue) { () throws in visits += 1 }
        let owed = Task(on: queue) { visits += 10 }
        queue.cancelTasks()
        await #expect(throws: CancellationError.self) { try await dropped.value }
        await owed.value
        #expect(visits == 10)
    }

    @Test func tasksOnAnActorWithinAQueueAreCancelledToo() async throws {
        let (place, queue) = (Place(), CancellableQueue(underlyingQueue: FIFOQueue()))
        let (begun, gate) = (Gate(), Gate())
        Task(on: queue, isolatedTo: place) { _ in
            begun.open()
            await gate.waitIgnoringCancellation()
        }
        let dropped = Task(on: queue, isolatedTo: place) { place throws in place.visits += 1 }
        await begun.waitIgnoringCancellation()
        queue.cancelTasks()
        await #expect(throws: CancellationError.self) { try await dropped.value }
        gate.open()
        try await queue.drained()
        #expect(await place.visits == 0)
    }
}

extension CancellableQueue where UnderlyingQueue == FIFOQueue {
    fileprivate func drained() async throws { try await _underlyingQueue.drain() }
}
