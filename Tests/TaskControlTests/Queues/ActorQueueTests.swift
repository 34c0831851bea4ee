import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct ActorQueueTests {
    private static let priorities: [TaskPriority] = [.background, .utility, .medium, .high]

    private actor Journal {
        private(set) var lines: [Int] = []
        let queue = ActorQueue<Journal>(name: "journal")

        init() { queue.adoptExecutionContext(of: self) }

        func append(_ line: Int) { lines.append(line) }

        /// Keeps the actor's thread busy.
        func toil() { for _ in 0..<200 { lines.reserveCapacity(lines.count) } }
    }

    // MARK: Order

    /// Enqueued from outside with all priorities while the actor is busy with other work.
    @Test(arguments: [false, true])
    func tasksBeginInTheOrderOfTheCallsWhateverThePriorities(isFlooded: Bool) async {
        let journal = Journal()
        let tasks = (0..<1_000).map { number in
            if isFlooded { Task(priority: .high) { await journal.toil() } }
            return Task(priority: Self.priorities[number * 7 % 4], on: journal.queue) { $0.append(number) }
        }
        for task in tasks { await task.value }
        #expect(await journal.lines == Array(0..<1_000))
    }

    @Test func upToTheFirstSuspensionNoLaterOneBegins() async throws {
        let (journal, log) = (Journal(), OrderRecorder<Int>())
        let tasks = (0..<100).map { number in
            Task(priority: Self.priorities[number % 4], on: journal.queue) { _ in
                log.record(2 * number)
                log.record(2 * number + 1)
                await Task.yield()
            }
        }
        for task in tasks { await task.value }
        try log.checkOrder(Array(0..<200))
    }

    @Test func tasksFromManyThreadsKeepTheOrderOfEachSender() async {
        let journal = Journal()
        await withTaskGroup { group in
            for sender in 0..<8 {
                group.addTask {
                    for number in 0..<200 {
                        Task(priority: Self.priorities[number % 4], on: journal.queue) {
                            $0.append(sender * 1_000 + number)
                        }
                    }
                }
            }
        }
        await Task(on: journal.queue) { _ in }.value
        let lines = await journal.lines
        for sender in 0..<8 {
            #expect(lines.filter { $0 / 1_000 == sender }.map { $0 % 1_000 } == Array(0..<200))
        }
    }

    /// A task that suspends lets the next one begin, and so may wait for it.
    @Test func aTaskMayAwaitALaterOneOfItsOwnQueue() async {
        let journal = Journal()
        let value = await Task(on: journal.queue) { myself in
            await Task(on: myself.queue) { _ in 7 }.value
        }.value
        #expect(value == 7)
    }

    @Test func aTaskBeginsOnTheActorWithItsCallersLocals() async {
        let journal = Journal()
        let task = Self.$local.withValue("mine") {
            Task(name: "named", priority: .low, on: journal.queue) { myself in
                myself.assertIsolated()
                return (Self.local, Diagnostics.currentTaskName, Task.basePriority)
            }
        }
        let (local, name, priority) = await task.value
        #expect(local == "mine" && name == readable("named") && priority == .low)
    }

    @TaskLocal private static var local = "none"

    // MARK: The main actor

    @MainActor private final class Screen {
        var lines: [Int] = []
    }

    @Test func tasksOfTheMainActorBeginInTheOrderOfTheCalls() async throws {
        let screen = await MainActor.run { Screen() }
        let tasks = (0..<300).map { number in
            Task(priority: Self.priorities[number % 4], on: MainActor.queue) { screen.lines.append(number) }
        }
        for task in tasks { await task.value }
        let lines = try await Task(on: MainActor.queue) { () throws in screen.lines }.value
        #expect(lines == Array(0..<300))
    }

    // MARK: Cancellation

    @Test func aThrowingTaskThatIsCancelledBeforeItHasBegunNeverRuns() async throws {
        let journal = Journal()
        // On the actor, so that nothing of the queue begins meanwhile.
        let (dropped, owed, last) = await Task(isolatedTo: journal) { journal in
            let dropped = Task(on: journal.queue) { myself throws in myself.append(1) }
            let owed = Task(on: journal.queue) { myself in
                myself.append(2)
                return Task.isCancelled
            }
            let last = Task(on: journal.queue) { $0.append(3) }
            dropped.cancel()
            owed.cancel()
            return (dropped, owed, last)
        }.value
        await #expect(throws: CancellationError.self) { try await dropped.value }
        #expect(await owed.value)
        await last.value
        #expect(await journal.lines == [2, 3])
    }

    // MARK: The actor's life

    private actor Probed {
        private let probe: DeinitProbe

        init(_ gate: Gate) { probe = DeinitProbe(gate) }
    }

    @Test func pendingTasksKeepTheActorAliveAndNoLonger() async throws {
        let (gone, gate, queue) = (Gate(), Gate(), ActorQueue<Probed>())
        var actor: Probed? = Probed(gone)
        queue.adoptExecutionContext(of: actor!)
        let task = Task(on: queue) { _ in await gate.waitIgnoringCancellation() }
        actor = nil
        #expect(!gone.isOpen)
        gate.open()
        await task.value
        try await gone.wait()
        let late = Task(on: queue) { _ throws in }
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func whatIsBeforeATaskOfHigherPriorityIsRaised() async {
        let journal = Journal()
        let priority = await Task(isolatedTo: journal) { journal in
            let low = Task(priority: .background, on: journal.queue) { _ in Task.currentPriority }
            Task(priority: .high, on: journal.queue) { _ in }
            return low
        }.value
        #expect(await priority.value >= .high)
    }

    // MARK: Mistakes

    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func sendingBeforeAdoptionTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Task(on: ActorQueue<Journal>(name: "mine")) { _ in }
        }
        #expect(
            text(result).contains(
                "ActorQueue<Journal> \"mine\" was sent a task before it adopted an actor. Call adoptExecutionContext(of: self)"
            )
        )
    }

    @Test(.oneProcessAtATime) func adoptingTwiceTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let journal = Journal()
            journal.queue.adoptExecutionContext(of: journal)
        }
        #expect(text(result).contains("\"journal\" has adopted an actor already. Create a queue for each actor."))
    }

    @Test(.oneProcessAtATime) func aTaskThatCannotThrowTrapsIfTheActorIsGone() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let queue = ActorQueue<Journal>()
            queue.adoptExecutionContext(of: Journal())
            Task(on: queue) { _ in }
        }
        #expect(text(result).contains("after its actor was deallocated"))
        #expect(text(result).contains("Keep the actor alive, or send an operation that throws"))
    }
    #endif

    // MARK: Without a queue

    @Test func tasksOnAnActorBeginThereInTheOrderOfTheCalls() async throws {
        let journal = Journal()
        for number in 0..<1_000 { Task(isolatedTo: journal) { $0.append(number) } }
        let lines = try await Task(isolatedTo: journal) { myself throws in myself.lines }.value
        #expect(lines == Array(0..<1_000))
    }

    @Test func aTaskOnAnActorKeepsItAliveUntilItHasEnded() async throws {
        let (gone, gate) = (Gate(), Gate())
        let task = Task(isolatedTo: Probed(gone)) { _ in await gate.waitIgnoringCancellation() }
        #expect(!gone.isOpen)
        gate.open()
        await task.value
        try await gone.wait()
    }
}
