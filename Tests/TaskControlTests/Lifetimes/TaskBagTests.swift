import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct TaskBagTests {
    @TaskLocal static var request = "none"

    @Test func drainWaitsForWhatWasCancelledAndStillRunsAndItsCallerCanLeave() async throws {
        let (bag, keyed) = (TaskBag(), IdentifiableTaskBag<Int>())
        let (gate, ended) = (Gate(), OrderRecorder<Int>())
        bag.addTask {
            await gate.waitIgnoringCancellation()
            ended.record(1)
        }
        keyed.addTask(id: 1) {
            await gate.waitIgnoringCancellation()
            ended.record(2)
        }
        let leaving = [Task { try await bag.drain() }, Task { try await keyed.drain() }]
        for task in leaving {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        let draining = Task {
            try await bag.drain()
            try await keyed.drain()
            return ended.count
        }
        gate.open()
        #expect(try await draining.value == 2)
        try await TaskBag().drain()
    }

    @Test func finishedTasksLeaveByThemselvesAdoptedOnesToo() async throws {
        let (bag, gate) = (TaskBag(), Gate())
        bag.addTask { try? await gate.wait() }
        bag.addDetachedTask { try? await gate.wait() }
        bag.add(Task { try? await gate.wait() })
        Task { try? await gate.wait() }.stored(in: bag)
        #expect(bag.count == 4)
        gate.open()
        try await bag.drain()
        #expect(bag.count == 0)
    }

    @Test func cancelCancelsAllAndTheBagGoesOn() async throws {
        let (bag, ended) = (TaskBag(), OrderRecorder<Int>())
        let started = (0..<3).map { _ in Gate() }
        bag.addTask {
            started[0].open()
            try? await Gate().wait()
            ended.record(1)
        }
        bag.addDetachedTask {
            started[1].open()
            try? await Gate().wait()
            ended.record(2)
        }
        Task {
            started[2].open()
            try? await Gate().wait()
            ended.record(3)
        }.stored(in: bag)
        for gate in started { try? await gate.wait() }
        bag.cancel()
        #expect(bag.count == 0)
        try await bag.drain()
        #expect(ended.events.sorted() == [1, 2, 3])
        let ran = Gate()
        bag.addTask { ran.open() }
        try? await ran.wait()
    }

    @Test func theEndOfTheBagCancelsItsTasks() async {
        let ended = (0..<2).map { _ in Gate() }
        let started = (0..<2).map { _ in Gate() }
        var bag: TaskBag? = TaskBag()
        bag!.addTask {
            started[0].open()
            try? await Gate().wait()
            ended[0].open()
        }
        Task {
            started[1].open()
            try? await Gate().wait()
            ended[1].open()
        }.stored(in: bag!)
        for gate in started { try? await gate.wait() }
        bag = nil
        for gate in ended { try? await gate.wait() }
    }

    @MainActor @Test func aTaskThatIsCancelledBeforeItStartsNeverRuns() async throws {
        let (bag, log) = (TaskBag(), OrderRecorder<Int>())
        bag.addTask { log.record(1) }
        bag.cancel()
        try await bag.drain()
        #expect(log.events == [])
    }

    /// The task runs while it is being created, after everything was cancelled: the bag has no handle of it yet.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test(arguments: [false, true])
    func aTaskThatIsCancelledWhileItIsBeingCreatedNeverRuns(isClosing: Bool) async throws {
        let bag = TaskBag()
        let (actor, log) = (Interrupted { if isClosing { bag.close() } else { bag.cancelAll() } }, OrderRecorder<Int>())
        await actor.add(to: bag, log)
        try await bag.drain()
        #expect(log.events == [] && bag.isEmpty)
        if isClosing { return }
        // The cancellation was of those that had been added: another that interrupts nothing runs, also if it is cancelled as it runs.
        bag.addTask {
            log.record(1)
            bag.cancelAll()
            log.record(Task.isCancelled ? 2 : 3)
        }
        try await bag.drain()
        #expect(log.events == [1, 2])
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    private actor Interrupted {
        /// Calls a closure before each job, which it runs at once.
        private final class Executor: SerialExecutor {
            let interrupt: @Sendable () -> Void

            init(_ interrupt: @escaping @Sendable () -> Void) {
                self.interrupt = interrupt
            }

            func enqueue(_ job: consuming ExecutorJob) {
                interrupt()
                UnownedJob(job).runSynchronously(on: asUnownedSerialExecutor())
            }
        }

        private let executor: Executor
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        init(_ interrupt: @escaping @Sendable () -> Void) {
            executor = Executor(interrupt)
        }

        func add(to bag: TaskBag, _ log: OrderRecorder<Int>) {
            bag.addTask {
                _ = self
                log.record(0)
            }
        }
    }

    @Test func isolationTaskLocalsPriorityAndNameAreTheCallers() async throws {
        let (bag, log) = (TaskBag(), OrderRecorder<String>())
        await Task(priority: .low) { @MainActor in
            Self.$request.withValue("42") {
                bag.addTask(name: "reader") {
                    MainActor.assertIsolated()
                    log.record("\(Self.request) \(Diagnostics.currentTaskName ?? "-") \(Task.basePriority == .low)")
                }
            }
        }.value
        try await bag.drain()
        #expect(log.events == ["42 \(readable("reader") ?? "-") true"])
    }

    @Test func aDetachedTaskHasNothingOfItsCaller() async throws {
        let (bag, log) = (TaskBag(), OrderRecorder<String>())
        await Task(priority: .low) { @MainActor in
            Self.$request.withValue("42") {
                bag.addDetachedTask(priority: .high) { log.record("\(Self.request) \(Task.basePriority == .high)") }
            }
        }.value
        try await bag.drain()
        #expect(log.events == ["none true"])
    }

    @Test func cancellingFromAHandlerThatItTriggersNeitherDeadlocksNorMissesATask() async throws {
        let bag = TaskBag()
        let ended = OrderRecorder<Int>()
        let started = (0..<20).map { _ in Gate() }
        for number in 0..<20 {
            bag.addTask {
                await withTaskCancellationHandler {
                    started[number].open()
                    try? await Gate().wait()
                    ended.record(number)
                } onCancel: {
                    bag.cancel()
                    _ = bag.count
                }
            }
        }
        for gate in started { try? await gate.wait() }
        bag.cancel()
        try await bag.drain()
        #expect(ended.events.sorted() == Array(0..<20))
    }
}

@Suite(.timeLimit(.minutes(15)))
struct IdentifiableTaskBagTests {
    @Test func aDuplicateIsIgnoredAndTheCallSaysSo() async throws {
        let (bag, gate, log) = (IdentifiableTaskBag<String>(), Gate(), OrderRecorder<Int>())
        #expect(
            bag.addTask(id: "a") {
                log.record(1)
                try? await gate.wait()
            }
        )
        #expect(!bag.addTask(id: "a") { log.record(2) })
        #expect(!bag.addDetachedTask(id: "a") { log.record(3) })
        #expect(!bag.add(Task { try? await gate.wait() }, id: "a"))
        #expect(bag.addTask(id: "b") { try? await gate.wait() })
        #expect(bag.count == 2 && bag.contains("a") && !bag.contains("c"))
        gate.open()
        try await bag.drain()
        #expect(log.events == [1] && bag.count == 0 && !bag.contains("a"))
    }

    @Test func aTaskThatIsNotTakenInGoesOn() async {
        let (bag, gate) = (IdentifiableTaskBag<Int>(), Gate())
        bag.addTask(id: 1) { try? await gate.wait() }
        let other = Task<Void, Never> { try? await gate.wait() }
        #expect(!other.stored(in: bag, id: 1))
        bag.cancelAll()
        #expect(!other.isCancelled)
        gate.open()
        await other.value
    }

    @Test func theIDOfACancelledTaskIsFreeAtOnce() async throws {
        let (bag, gate, started) = (IdentifiableTaskBag<Int>(), Gate(), Gate())
        bag.addTask(id: 1) {
            started.open()
            await gate.waitIgnoringCancellation()
        }
        try? await started.wait()
        bag.cancel(id: 1)
        #expect(!bag.contains(1) && bag.count == 0)
        #expect(bag.addTask(id: 1) { try? await gate.wait() })
        gate.open()
        try await bag.drain()
    }

    @Test func theIDOfATaskThatWasCancelledThroughItsOwnHandleIsFree() async throws {
        let (bag, gate) = (IdentifiableTaskBag<Int>(), Gate())
        let task = Task { await gate.waitIgnoringCancellation() }
        bag.add(task, id: 1)
        task.cancel()
        #expect(bag.addTask(id: 1) { try? await gate.wait() })
        gate.open()
        try await bag.drain()
    }

    /// The old task ignores its cancellation and ends after the new one was added: the new entry must survive that.
    @Test(.tags(.large)) func theEndOfACancelledTaskNeverTouchesTheNewEntry() async throws {
        let bag = IdentifiableTaskBag<Int>()
        for round in 0..<fullSize(10_000, inDebug: 2_000) {
            let (old, new) = (Gate(), Gate())
            bag.addTask(id: 1) { await old.waitIgnoringCancellation() }
            bag.cancel(id: 1)
            let added = bag.addTask(id: 1) { await new.waitIgnoringCancellation() }
            // Races with the line above only in the next round; here the old one ends while the new one lives.
            old.open()
            if round.isMultiple(of: 100) { await Task.detached {}.value }
            #expect(added && bag.contains(1) && bag.count == 1, "round \(round)")
            bag.cancel(id: 1)
            new.open()
        }
        try await bag.drain()
        #expect(bag.count == 0)
    }

    @Test func anAdoptedTaskFreesItsIDWhenItEnds() async throws {
        let (bag, gate) = (IdentifiableTaskBag<Int>(), Gate())
        Task { try? await gate.wait() }.stored(in: bag, id: 1)
        #expect(bag.contains(1))
        gate.open()
        try await bag.drain()
        #expect(!bag.contains(1) && bag.addTask(id: 1) {})
    }

    @Test func theEndOfTheBagCancelsItsTasks() async {
        let (started, ended) = (Gate(), Gate())
        var bag: IdentifiableTaskBag<Int>? = IdentifiableTaskBag()
        bag!.addTask(id: 1) {
            started.open()
            try? await Gate().wait()
            ended.open()
        }
        try? await started.wait()
        bag = nil
        try? await ended.wait()
    }

    @Test func cancelAllCancelsAllAndTheBagGoesOn() async throws {
        let (bag, log) = (IdentifiableTaskBag<Int>(), OrderRecorder<Int>())
        let started = (0..<5).map { _ in Gate() }
        for id in 0..<5 {
            bag.addTask(id: id) {
                started[id].open()
                try? await Gate().wait()
                log.record(id)
            }
        }
        for gate in started { try? await gate.wait() }
        bag.cancelAll()
        #expect(bag.count == 0 && !bag.contains(1))
        try await bag.drain()
        #expect(log.events.sorted() == Array(0..<5))
        #expect(bag.addTask(id: 1) {})
        try await bag.drain()
    }

    @Test func isolationTaskLocalsPriorityAndNameAreTheCallersUnlessItIsDetached() async throws {
        let (bag, log) = (IdentifiableTaskBag<Int>(), OrderRecorder<String>())
        await Task(priority: .low) { @MainActor in
            TaskBagTests.$request.withValue("42") {
                _ = bag.addTask(id: 1, name: "attached") {
                    MainActor.assertIsolated()
                    log.record(
                        "\(TaskBagTests.request) \(Diagnostics.currentTaskName ?? "-") \(Task.basePriority == .low)"
                    )
                }
            }
        }.value
        try await bag.drain()
        await Task(priority: .low) { @MainActor in
            TaskBagTests.$request.withValue("42") {
                _ = bag.addDetachedTask(id: 1, name: "detached", priority: .high) {
                    log.record(
                        "\(TaskBagTests.request) \(Diagnostics.currentTaskName ?? "-") \(Task.basePriority == .high)"
                    )
                }
            }
        }.value
        try await bag.drain()
        let (attached, detached) = (readable("attached") ?? "-", readable("detached") ?? "-")
        #expect(log.events == ["42 \(attached) true", "none \(detached) true"])
    }

    @Test func keysThatHashAlikeAreToldApart() async throws {
        struct Key: Hashable {
            let number: Int
            func hash(into hasher: inout Hasher) {}
        }
        let (bag, gate) = (IdentifiableTaskBag<Key>(), Gate())
        for number in 0..<50 { #expect(bag.addTask(id: Key(number: number)) { try? await gate.wait() }) }
        #expect(bag.count == 50 && bag.contains(Key(number: 49)) && !bag.contains(Key(number: 50)))
        gate.open()
        try await bag.drain()
    }
}
