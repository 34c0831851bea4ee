import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Pauses of queues.
@Suite(.timeLimit(.minutes(15)))
struct PausingTests {
    private let log = OrderRecorder<String>()

    @Test func aPausedQueueRunsWhatWasAddedAfterThePause() async throws {
        let queue = FIFOQueue()
        queue.pause()
        queue.pause()
        let first = queue.addTask { [log] in log.record("a") }
        let caller = Task { [log] in try await queue.run { log.record("caller") } }
        #expect(queue.isPaused && log.events == [])
        queue.resume()
        queue.resume()
        await first.value
        try await caller.value
        #expect(!queue.isPaused && log.events == ["a", "caller"])
    }

    @Test func whatRunsEndsAndWhatWaitsDoesNotBegin() async throws {
        let (queue, gate) = (ConcurrentQueue(maxConcurrentTasks: 2), Gate())
        let running = (0..<2).map { number in
            queue.addTask { [log] in
                log.record("begun")
                await gate.waitIgnoringCancellation()
            }
        }
        let waiting = queue.addTask { [log] in log.record("waiting") }
        try await log.waitForEvents(count: 2)
        queue.pause()
        gate.open()
        for task in running { await task.value }
        #expect(log.events == ["begun", "begun"] && queue.count == 1)
        queue.resume()
        await waiting.value
        #expect(log.events.last == "waiting")
    }

    @Test func aCallerThatIsCancelledLeavesAPausedQueue() async throws {
        let queue = FIFOQueue()
        queue.pause()
        let caller = Task { try await queue.run { Issue.record("has no turn") } }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(queue.isIdle)
    }

    @Test func aTaskCanPauseItsQueue() async throws {
        let queue = FIFOQueue()
        try await queue.run { queue.pause() }
        let task = queue.addTask { [log] in log.record("a") }
        #expect(queue.count == 1)
        queue.resume()
        await task.value
    }

    @Test func aDrainOfAPausedQueueEndsWithItsCaller() async throws {
        let queue = FIFOQueue()
        queue.pause()
        let task = queue.addTask { 1 }
        await #expect(throws: TimeoutError.self) { try await withTimeout(.milliseconds(1)) { try await queue.drain() } }
        queue.resume()
        #expect(await task.value == 1)
    }

    @MainActor @Test func aPausedActorQueueSendsNothing() async throws {
        let queue = ActorQueue<MainActor>()
        queue.adoptExecutionContext(of: MainActor.shared)
        queue.pause()
        let task = queue.addTask { [log] _ in log.record("sent") }
        #expect(queue.isPaused)
        await Task { @MainActor in }.value
        #expect(log.events == [])
        queue.resume()
        await task.value
    }

    /// An operation that cannot throw runs at its turn, also if it was cancelled.
    @Test(arguments: [true, false])
    func closingEndsThePauseOfTheUnderlyingQueue(byShutdown: Bool) async throws {
        let queue = CancellableQueue(underlyingQueue: FIFOQueue())
        queue.pause()
        let obliged = queue.addTask { Task.isCancelled }
        let skipped = queue.addTask { () throws in Issue.record("is skipped") }
        if byShutdown { await queue.shutdown(grace: .zero) } else { queue.close() }
        #expect(await obliged.value)
        await #expect(throws: CancellationError.self) { try await skipped.value }
        #expect(!queue.isPaused)
        try await queue.drain()
    }

    @Test func aPauseIsReportedOnce() async throws {
        let events = EventLog.events {
            let queue = FIFOQueue()
            for _ in 0..<2 { queue.pause() }
            for _ in 0..<2 { queue.resume() }
        }
        #expect(events.map(\.kind) == [.created, .paused, .resumed, .deallocated])
    }
}
