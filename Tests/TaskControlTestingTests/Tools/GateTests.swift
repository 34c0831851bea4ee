import Dispatch
import TaskControlTesting
import Testing

@Suite(.timeLimit(.minutes(15)))
struct GateTests {
    /// Runs its jobs one at a time, in the order in which they come.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private final class LineExecutor: TaskExecutor {
        private let queue = DispatchQueue(label: "line")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// An actor could not tell: a task that is resumed goes to its task executor first, which for most is the pool, and from there the
    /// pool's threads take it to its actor in any order, also to the main actor.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func thoseWhoWaitAreResumedInTheOrderOfTheirCalls() async throws {
        let gate = Gate()
        let recorder = OrderRecorder<Int>()
        let line = LineExecutor()
        for number in 0..<20 {
            Task(executorPreference: line) {
                try await gate.wait()
                recorder.record(number)
            }
        }
        try await gate.waitForWaiters(count: 20)
        #expect(recorder.count == 0)
        // Comes after the last of them has parked: it has been counted, and may be on its way.
        await Task(executorPreference: line) { gate.open() }.value
        try await recorder.waitForEvents(count: 20)
        try recorder.checkOrder(Array(0..<20))
        #expect(gate.waiterCount == 0)
    }

    @Test func anOpenGateLetsEverybodyPass() async throws {
        let gate = Gate()
        #expect(!gate.isOpen)
        gate.open()
        gate.open()
        #expect(gate.isOpen)
        try await gate.wait()
        await gate.waitIgnoringCancellation()
    }

    @Test func aWaiterThatIsCancelledLeavesAloneAndAtOnce() async throws {
        let gate = Gate()
        let other = Task { try await gate.wait() }
        let task = Task { try await gate.wait() }
        try await gate.waitForWaiters(count: 2)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(gate.waiterCount == 1)
        gate.open()
        try await other.value
    }

    @Test func whoWasCancelledBeforeDoesNotPassAnOpenGate() async {
        let gate = Gate()
        gate.open()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await gate.wait()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func waitIgnoringCancellationDoes() async throws {
        let gate = Gate()
        let task = Task {
            await gate.waitIgnoringCancellation()
            return gate.isOpen
        }
        try await gate.waitForWaiters()
        task.cancel()
        #expect(gate.waiterCount == 1)
        gate.open()
        #expect(await task.value)
    }

    @Test func whoWaitsForWaitersIsNoWaiterAndLeavesWhenCancelled() async throws {
        let gate = Gate()
        let one = Task { try await gate.wait() }
        try await gate.waitForWaiters()
        let task = Task { try await gate.waitForWaiters(count: 2) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(gate.waiterCount == 1)
        try await gate.waitForWaiters(count: 1)
        try await gate.waitForWaiters(count: 0)
        gate.open()
        try await one.value
    }

    /// The waiters and the tasks that cancel them run side by side.
    @Test func everybodyLeavesOnce() async {
        for _ in 0..<200 {
            let gate = Gate()
            let tasks = (0..<8).map { _ in Task { try await gate.wait() } }
            async let cancelling: Void = { for task in tasks.prefix(6) { task.cancel() } }()
            async let opening: Void = { gate.open() }()
            _ = await (cancelling, opening)
            for (number, task) in tasks.enumerated() {
                switch await task.result {
                case .success: break
                case .failure(let error): #expect(error is CancellationError && number < 6)
                }
            }
            #expect(gate.waiterCount == 0)
        }
    }
}
