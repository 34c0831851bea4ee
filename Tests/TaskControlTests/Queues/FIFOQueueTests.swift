import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct FIFOQueueTests {
    private static let priorities: [TaskPriority] = [.background, .utility, .medium, .high]

    // MARK: Order

    @Test func tasksBeginAndEndInTheOrderOfTheCallsWhateverThePriorities() async throws {
        let (queue, log) = (FIFOQueue(), OrderRecorder<Int>())
        let tasks = (0..<400).map { number in
            Task(priority: Self.priorities[number % 4], on: queue) {
                log.record(2 * number)
                for _ in 0..<number % 3 { await Task.yield() }
                log.record(2 * number + 1)
            }
        }
        for task in tasks { await task.value }
        try log.checkOrder(Array(0..<800))
    }

    /// Each sender's own order is kept, and all take turns.
    @Test func tasksFromManyThreadsKeepTheOrderOfEachSender() async throws {
        let (queue, log) = (FIFOQueue(), OrderRecorder<[Int]>())
        await withTaskGroup { group in
            for sender in 0..<8 {
                group.addTask {
                    for number in 0..<200 {
                        Task(on: queue) { log.record([sender, number]) }
                        if number % 20 == 0 { await Task.yield() }
                    }
                }
            }
        }
        try await queue.drain()
        for sender in 0..<8 {
            #expect(log.events.filter { $0[0] == sender }.map { $0[1] } == Array(0..<200))
        }
    }

    @Test func anErrorIsTheTasksValueAndTheTurnIsPassedOn() async {
        let queue = FIFOQueue()
        let failing = Task(on: queue) { throw MarkedError() }
        let next = Task(on: queue) { 7 }
        await #expect(throws: MarkedError()) { try await failing.value }
        #expect(await next.value == 7)
    }

    // MARK: What is the caller's

    @TaskLocal private static var local = "none"

    @Test @MainActor func isolationTaskLocalsPriorityAndNameAreTheCallers() async {
        let queue = FIFOQueue()
        var touched = 0
        await Self.$local.withValue("mine") {
            let task = Task(name: "named", priority: .low, on: queue) {
                MainActor.preconditionIsolated()
                // Code of the main actor, which needs no await.
                touched += 1
                #expect(Self.local == "mine")
                #expect(Diagnostics.currentTaskName == readable("named"))
                return Task.basePriority
            }
            #expect(await task.value == .low)
        }
        #expect(touched == 1)
    }

    @Test func aQueuesPriorityIsForTasksThatHaveNone() async throws {
        let queue = FIFOQueue(name: "slow", priority: .background)
        let none = Task(on: queue) { Task.basePriority }
        let own = Task(priority: .utility, on: queue) { Task.basePriority }
        let failing = Task(on: queue) { () throws in Task.basePriority }
        #expect(await none.value == .background)
        #expect(await own.value == .utility)
        #expect(try await failing.value == .background)
        let counter = Counter()
        let onActor = Task(on: queue, isolatedTo: counter) { _ in Task.basePriority }
        let failingOnActor = Task(on: queue, isolatedTo: counter) { _ throws in Task.basePriority }
        #expect(await onActor.value == .background)
        #expect(try await failingOnActor.value == .background)
        let group = CancellableQueue(underlyingQueue: queue)
        let member = Task(on: group) { Task.basePriority }
        let failingMember = Task(on: group) { () throws in Task.basePriority }
        let memberOnActor = Task(on: group, isolatedTo: counter) { _ in Task.basePriority }
        let failingMemberOnActor = Task(on: group, isolatedTo: counter) { _ throws in Task.basePriority }
        #expect(await (member.value, memberOnActor.value) == (.background, .background))
        #expect(try await (failingMember.value, failingMemberOnActor.value) == (.background, .background))
        #expect(queue.name == "slow")
    }

    private actor Counter {
        var count = 0
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func everyFormNamesItsTask() async throws {
        let (queue, counter, journal) = (FIFOQueue(), Counter(), ActorQueue<Counter>())
        journal.adoptExecutionContext(of: counter)
        let (group, actors) = (CancellableQueue(underlyingQueue: queue), CancellableQueue(underlyingQueue: journal))
        let mains = CancellableQueue(underlyingQueue: MainActor.queue)
        let tasks = [
            Task(name: "n", on: queue) { Task.name },
            Task(name: "n", on: queue, isolatedTo: counter) { _ in Task.name },
            Task(name: "n", on: journal) { _ in Task.name },
            Task(name: "n", on: MainActor.queue) { Task.name },
            Task(name: "n", isolatedTo: counter) { _ in Task.name },
            Task(name: "n", on: group) { Task.name },
            Task(name: "n", on: group, isolatedTo: counter) { _ in Task.name },
            Task(name: "n", on: actors) { _ in Task.name },
            Task(name: "n", on: mains) { Task.name },
        ]
        for task in tasks { #expect(await task.value == "n") }
        let throwing = [
            Task(name: "n", on: queue) { () throws in Task.name },
            Task(name: "n", on: queue, isolatedTo: counter) { _ throws in Task.name },
            Task(name: "n", on: journal) { _ throws in Task.name },
            Task(name: "n", on: MainActor.queue) { () throws in Task.name },
            Task(name: "n", isolatedTo: counter) { _ throws in Task.name },
            Task(name: "n", on: group) { () throws in Task.name },
            Task(name: "n", on: group, isolatedTo: counter) { _ throws in Task.name },
            Task(name: "n", on: actors) { _ throws in Task.name },
            Task(name: "n", on: mains) { () throws in Task.name },
        ]
        for task in throwing { #expect(try await task.value == "n") }
    }

    @Test func anOperationRunsOnTheActorThatItIsIsolatedTo() async throws {
        let (queue, counter) = (FIFOQueue(), Counter())
        for _ in 0..<10 {
            Task(on: queue, isolatedTo: counter) { counter in
                counter.assertIsolated()
                counter.count += 1
            }
        }
        let count = Task(on: queue, isolatedTo: counter) { counter throws in
            try Task.checkCancellation()
            return counter.count
        }
        #expect(try await count.value == 10)
    }

    // MARK: Cancellation

    @Test func aThrowingTaskThatIsCancelledBeforeItsTurnLeavesAtOnce() async throws {
        let (queue, gate, log) = (FIFOQueue(), Gate(), OrderRecorder<Int>())
        Task(on: queue) { await gate.waitIgnoringCancellation() }
        let tasks = (0..<5).map { number in
            Task(on: queue) { () throws in log.record(number) }
        }
        tasks[1].cancel()
        tasks[3].cancel()
        // The first one holds its turn all this time.
        for number in [1, 3] {
            await #expect(throws: CancellationError.self) { try await tasks[number].value }
        }
        #expect(queue.count == 4 && !gate.isOpen)
        gate.open()
        for number in [0, 2, 4] { try await tasks[number].value }
        #expect(log.events == [0, 2, 4])
    }

    @Test func aTaskThatCannotThrowRunsAtItsTurnThoughCancelled() async {
        let (queue, gate, log) = (FIFOQueue(), Gate(), OrderRecorder<Int>())
        Task(on: queue) { await gate.waitIgnoringCancellation() }
        let task = Task(on: queue) {
            log.record(1)
            return Task.isCancelled
        }
        let next = Task(on: queue) { log.record(2) }
        task.cancel()
        #expect(queue.count == 3)
        gate.open()
        #expect(await task.value)
        await next.value
        #expect(log.events == [1, 2])
    }

    @Test func aHandleCancelsWhatRuns() async {
        let (queue, begun) = (FIFOQueue(), Gate())
        let task = Task(on: queue) {
            begun.open()
            try await Gate().wait()
        }
        await begun.waitIgnoringCancellation()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// No handler is called while a lock is held: the handlers of a cancellation may do what they like with queues.
    @Test func aCancellationThatCancelsAndSendsAcrossQueuesNeitherTrapsNorHangs() async throws {
        let (one, other, log) = (FIFOQueue(), FIFOQueue(), OrderRecorder<String>())
        let (begun, gate) = (Gate(), Gate())
        Task(on: other) { await gate.waitIgnoringCancellation() }
        let waiting = Task(on: other) { () throws in log.record("never") }
        let running = Task(on: one) {
            try await withTaskCancellationHandler {
                begun.open()
                try await Gate().wait()
            } onCancel: {
                waiting.cancel()
                Task(on: one) { log.record("sent by a handler") }
                Task(on: other) { log.record("sent to the other") }
            }
        }
        let behind = Task(on: one) { log.record("behind") }
        await begun.waitIgnoringCancellation()
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await behind.value
        try await one.drain()
        gate.open()
        try await other.drain()
        #expect(log.events == ["behind", "sent by a handler", "sent to the other"])
    }

    // MARK: The end of the queue

    @Test func releasingTheQueueDropsNothing() async throws {
        let (gate, log) = (Gate(), OrderRecorder<Int>())
        var queue: FIFOQueue? = FIFOQueue()
        for number in 0..<5 {
            Task(on: queue!) {
                await gate.waitIgnoringCancellation()
                log.record(number)
            }
        }
        weak let gone = queue
        queue = nil
        #expect(gone == nil)
        gate.open()
        try await log.waitForEvents(count: 5)
        #expect(log.events == Array(0..<5))
    }

    @Test func anIdleQueueHoldsNothing() async throws {
        let (queue, gate) = (FIFOQueue(), Gate())
        do {
            let probe = DeinitProbe(gate)
            Task(on: queue) { withExtendedLifetime(probe) {} }
            let dropped = Task(on: queue) { () throws in withExtendedLifetime(probe) {} }
            dropped.cancel()
        }
        try await gate.wait()
        try await queue.drain()
        #expect(queue.isIdle)
    }

    #if SUBPROCESSES
    /// A million in an optimized build (`scripts/tests schedules`), a tenth of that in a debug build.
    @Test(.oneProcessAtATime, .tags(.large, .unsanitized)) func aMillionPendingTasksAreNoProblem() async {
        await #expect(processExitsWith: .success) {
            let tasks = fullSize(1_000_000, inDebug: 30_000)
            let (queue, gate, count) = (FIFOQueue(), Gate(), Locked(0))
            Task(on: queue) { await gate.waitIgnoringCancellation() }
            for number in 0..<tasks {
                Task(on: queue) {
                    count.withLock { count in
                        precondition(count == number, "out of order")
                        count += 1
                    }
                }
            }
            precondition(queue.count == tasks + 1)
            gate.open()
            try await queue.drain()
            precondition(queue.isIdle && count.withLock { $0 } == tasks)
        }
    }
    #endif

    // MARK: Draining

    @Test func drainWaitsForWhatIsThereAndNotForWhatComesLater() async throws {
        let (queue, first, later) = (FIFOQueue(), Gate(), Gate())
        let log = OrderRecorder<String>()
        Task(on: queue) {
            await first.waitIgnoringCancellation()
            log.record("first")
        }
        let drain = Task {
            try await queue.drain()
            log.record("drained")
        }
        // The drain raises nothing here; that it is there shows in the books alone.
        try await wait(forBooksOf: queue._turns.source.number) { 1 - queue._turns.drainerCount }
        Task(on: queue) {
            try? await log.waitForEvents(count: 2)
            await later.waitIgnoringCancellation()
        }
        first.open()
        try await drain.value
        #expect(log.events == ["first", "drained"] && queue.count == 1)
        later.open()
        try await queue.drain()
        try await queue.drain()
    }

    @Test func aDrainOfACancelledCallerThrowsThoughThereIsNothingToWaitFor() async {
        let drain = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await FIFOQueue().drain()
        }
        await #expect(throws: CancellationError.self) { try await drain.value }
    }

    @Test func aCancelledDrainLeavesAtOnceAndTheQueueGoesOn() async throws {
        let (queue, gate) = (FIFOQueue(), Gate())
        let task = Task(on: queue) { await gate.waitIgnoringCancellation() }
        let drain = Task { try await queue.drain() }
        try await wait(forBooksOf: queue._turns.source.number) { 1 - queue._turns.drainerCount }
        drain.cancel()
        await #expect(throws: CancellationError.self) { try await drain.value }
        #expect(!task.isCancelled && queue.count == 1)
        gate.open()
        await task.value
    }
}
