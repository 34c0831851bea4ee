import Observation
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(1)))
struct TaskStoreTests {
    @TaskLocal static var request = "none"

    /// Starts a task that logs when it begins and when it ends, and stays until its gate opens, whether it is cancelled or not.
    private func add(
        _ name: String,
        to store: TaskStore<String>,
        _ behavior: TaskStoreDuplicateKeyBehavior,
        until gate: Gate,
        _ log: Log<String>
    ) async -> Task<Void, Never> {
        let started = Gate()
        let task = store.addTask(forKey: "key", duplicateKeyBehavior: behavior, name: name) {
            log.append("\(name) begins")
            started.open()
            await gate.waitIgnoringCancellation()
            log.append("\(name) ends\(Task.isCancelled ? ", cancelled" : "")")
        }
        if case .runConcurrently = behavior { await started.wait() }
        return task
    }

    // MARK: Behaviors

    @Test func cancelPreviousIsTheDefaultAndOverlaps() async throws {
        let (store, old, log, began) = (TaskStore<String>(), Gate(), Log<String>(), Gate())
        let first = await add("old", to: store, .runConcurrently, until: old, log)
        let second = store.addTask(forKey: "key") {
            log.append("new begins")
            began.open()
        }
        await began.wait()
        #expect(first.isCancelled && !second.isCancelled)
        await second.value
        old.open()
        try await store.drain()
        #expect(log.values == ["old begins", "new begins", "old ends, cancelled"])
    }

    @Test func cancelPreviousAndWaitStartsWhenAllThatWasCancelledHasEnded() async throws {
        let (store, gates, log) = (TaskStore<String>(), [Gate(), Gate()], Log<String>())
        _ = await add("one", to: store, .runConcurrently, until: gates[0], log)
        _ = await add("two", to: store, .runConcurrently, until: gates[1], log)
        let new = store.addTask(forKey: "key", duplicateKeyBehavior: .cancelPrevious(wait: true)) { log.append("new") }
        #expect(store.count == 1)
        gates[1].open()
        gates[0].open()
        await new.value
        #expect(log.values.last == "new" && log.values.count == 5)
    }

    @Test func waitStartsInTheOrderOfTheCallsWhateverThePriorities() async throws {
        let (store, gate, log) = (TaskStore<String>(), Gate(), Log<String>())
        let first = await add("first", to: store, .runConcurrently, until: gate, log)
        let priorities: [TaskPriority] = [.background, .high, .low, .medium]
        for number in 0..<40 {
            store.addTask(forKey: "key", duplicateKeyBehavior: .wait, priority: priorities[number % 4]) {
                log.append("\(number)")
            }
        }
        #expect(store.count == 41)
        gate.open()
        try await store.drain()
        #expect(log.values == ["first begins", "first ends"] + (0..<40).map { "\($0)" })
        #expect(!first.isCancelled)
    }

    @Test func runConcurrentlyTracksAll() async throws {
        let (store, gate, log) = (TaskStore<String>(), Gate(), Log<String>())
        var tasks: [Task<Void, Never>] = []
        for number in 0..<5 { tasks.append(await add("\(number)", to: store, .runConcurrently, until: gate, log)) }
        #expect(store.count == 5 && store.runningKeys == ["key"])
        store.cancelTask(forKey: "key")
        #expect(store.count == 0 && tasks.filter(\.isCancelled).count == 5)
        gate.open()
        try await store.drain()
        #expect(log.values.filter { $0.hasSuffix("cancelled") }.count == 5)
    }

    @Test func preferPreviousReturnsTheRunningTask() async throws {
        let (store, gate, log) = (TaskStore<String>(), Gate(), Log<String>())
        let first = await add("first", to: store, .runConcurrently, until: gate, log)
        store.addTask(forKey: "key", duplicateKeyBehavior: .wait) { log.append("waiting") }
        let second = store.addTask(forKey: "key", duplicateKeyBehavior: .preferPrevious) { log.append("never") }
        #expect(first == second && store.count == 2)
        gate.open()
        try await store.drain()
        #expect(log.values == ["first begins", "first ends", "waiting"])
    }

    @Test func keepLatestKeepsTheRunningOneAndTheNewestOfThoseThatWait() async throws {
        let (store, gate, log) = (TaskStore<String>(), Gate(), Log<String>())
        let first = await add("first", to: store, .runConcurrently, until: gate, log)
        let waiting = (0..<5).map { number in
            store.addTask(forKey: "key", duplicateKeyBehavior: .keepLatest) { log.append("\(number)") }
        }
        #expect(store.count == 2 && !first.isCancelled)
        for task in waiting.dropLast() { await task.value }
        gate.open()
        await waiting.last?.value
        #expect(log.values == ["first begins", "first ends", "4"])
        #expect(waiting.map(\.isCancelled) == [true, true, true, true, false])
    }

    @Test func debounceStartsTheNewestAfterAQuietTimeAndCancelsWhatRunsThen() async throws {
        let clock = ManualClock()
        let (store, gate, log) = (TaskStore<String>(clock: clock), Gate(), Log<String>())
        let running = await add("running", to: store, .runConcurrently, until: gate, log)
        var debounced: [Task<Void, Never>] = []
        for number in 0..<3 {
            debounced.append(
                store.addTask(forKey: "key", duplicateKeyBehavior: .debounce(for: .seconds(1))) {
                    log.append("\(number)")
                }
            )
            await clock.hasSlept(number + 1)
            clock.advance(by: .milliseconds(600))
            #expect(!running.isCancelled, "not yet")
        }
        await debounced[0].value
        await debounced[1].value
        #expect(log.values == ["running begins"] && store.count == 2)
        clock.advance(by: .milliseconds(400))
        await debounced[2].value
        #expect(running.isCancelled && log.values == ["running begins", "2"])
        gate.open()
        try await store.drain()
    }

    @Test func aCallWithAnotherBehaviorCancelsWhatWaitsForItsQuietTime() async throws {
        let clock = ManualClock()
        let (store, log) = (TaskStore<Int>(clock: clock), Log<String>())
        let debounced = store.addTask(forKey: 1, duplicateKeyBehavior: .debounce(for: .seconds(1))) {
            log.append("never")
        }
        await clock.hasSlept(1)
        store.addTask(forKey: 1) { log.append("new") }
        await debounced.value
        try await store.drain()
        #expect(log.values == ["new"])
    }

    // MARK: Cancelling

    @Test func cancellingANewTaskSparesThePreviousOne() async throws {
        let behaviors: [TaskStoreDuplicateKeyBehavior] = [
            .wait, .runConcurrently, .keepLatest, .debounce(for: .seconds(1)),
        ]
        for behavior in behaviors {
            let (store, gate, log) = (TaskStore<String>(clock: ManualClock()), Gate(), Log<String>())
            let previous = await add("previous", to: store, .runConcurrently, until: gate, log)
            let new = store.addTask(forKey: "key", duplicateKeyBehavior: behavior) { await Gate().wait() }
            new.cancel()
            await new.value
            #expect(!previous.isCancelled && store.count == 1)
            gate.open()
            try await store.drain()
        }
    }

    @Test func aWaitingTaskThatIsCancelledNeverRunsAndItsAwaiterGoesOnAtOnce() async throws {
        let (store, gate, log) = (TaskStore<String>(), Gate(), Log<String>())
        _ = await add("running", to: store, .runConcurrently, until: gate, log)
        let waiting = store.addTask(forKey: "key", duplicateKeyBehavior: .wait) { log.append("never") }
        let after = store.addTask(forKey: "key", duplicateKeyBehavior: .wait) { log.append("after") }
        waiting.cancel()
        // The running one has not ended: only its own waiter can let this go on.
        await waiting.value
        #expect(store.count == 2)
        gate.open()
        await after.value
        #expect(log.values == ["running begins", "running ends", "after"])
    }

    @Test func aTaskThatIsCancelledInItsQuietTimeNeverRuns() async throws {
        let clock = ManualClock()
        let (store, log) = (TaskStore<String>(clock: clock), Log<String>())
        let debounced = store.addTask(forKey: "key", duplicateKeyBehavior: .debounce(for: .seconds(1))) {
            log.append("never")
        }
        await clock.hasSlept(1)
        debounced.cancel()
        await debounced.value
        #expect(log.values == [] && store.count == 0)
        try await store.drain()
    }

    @Test func cancelTaskCancelsWhatRunsAndWhatWaits() async throws {
        let (store, gate, log) = (TaskStore<String>(), Gate(), Log<String>())
        let running = await add("running", to: store, .runConcurrently, until: gate, log)
        let waiting = store.addTask(forKey: "key", duplicateKeyBehavior: .wait) { log.append("never") }
        let other = store.addTask(forKey: "other") { await Gate().wait() }
        store.cancelTask(forKey: "key")
        #expect(!store.taskIsRunning(forKey: "key") && store.taskIsRunning(forKey: "other"))
        #expect(running.isCancelled && waiting.isCancelled && !other.isCancelled)
        await waiting.value
        gate.open()
        store.cancelAll()
        try await store.drain()
        #expect(log.values == ["running begins", "running ends, cancelled"])
    }

    @Test func afterCancelTaskPreferPreviousStartsAnewAndWaitStillWaits() async throws {
        let (store, gate, log, began) = (TaskStore<String>(), Gate(), Log<String>(), Gate())
        _ = await add("old", to: store, .runConcurrently, until: gate, log)
        store.cancelTask(forKey: "key")
        let new = store.addTask(forKey: "key", duplicateKeyBehavior: .preferPrevious) {
            log.append("new")
            began.open()
        }
        await began.wait()
        await new.value
        let waiting = store.addTask(forKey: "key", duplicateKeyBehavior: .wait) { log.append("waited") }
        #expect(log.values == ["old begins", "new"])
        gate.open()
        await waiting.value
        #expect(log.values == ["old begins", "new", "old ends, cancelled", "waited"])
    }

    @Test func aTaskThatWasCancelledThroughItsHandleIsNotPreferred() async throws {
        let (store, gate, log) = (TaskStore<String>(), Gate(), Log<String>())
        let old = await add("old", to: store, .runConcurrently, until: gate, log)
        old.cancel()
        let new = store.addTask(forKey: "key", duplicateKeyBehavior: .preferPrevious) { log.append("new") }
        #expect(new != old)
        await new.value
        gate.open()
        try await store.drain()
        #expect(log.values == ["old begins", "new", "old ends, cancelled"])
    }

    @Test func cancelAllFromAHandlerThatItTriggersNeitherDeadlocksNorMissesATask() async throws {
        let (store, ended) = (TaskStore<Int>(), Log<Int>())
        let started = (0..<20).map { _ in Gate() }
        for number in 0..<20 {
            store.addTask(forKey: number) {
                await withTaskCancellationHandler {
                    started[number].open()
                    await Gate().wait()
                    ended.append(number)
                } onCancel: {
                    store.cancelAll()
                    store.cancelTask(forKey: (number + 1) % 20)
                }
            }
        }
        for gate in started { await gate.wait() }
        store.cancelAll()
        try await store.drain()
        #expect(ended.values.sorted() == Array(0..<20))
    }

    @Test func theEndOfTheStoreCancelsWhatRunsAndWhatWaits() async {
        let (started, ended, log) = (Gate(), Gate(), Log<String>())
        var store: TaskStore<String>? = TaskStore()
        store!.addTask(forKey: "key") {
            started.open()
            await Gate().wait()
            ended.open()
        }
        let waiting = store!.addTask(forKey: "key", duplicateKeyBehavior: .wait) { log.append("never") }
        await started.wait()
        store = nil
        await ended.wait()
        await waiting.value
        #expect(log.values == [])
    }

    @Test func drainLeavesAtOnceWhenItsCallerIsCancelled() async throws {
        let (store, gate) = (TaskStore<Int>(), Gate())
        let task = store.addTask(forKey: 1) { await gate.wait() }
        let drain = Task { try await store.drain() }
        drain.cancel()
        await #expect(throws: CancellationError.self) { try await drain.value }
        #expect(!task.isCancelled)
        gate.open()
        try await store.drain()
        #expect(store.count == 0)
    }

    // MARK: What a task inherits

    @MainActor @Test func isolationTaskLocalsPriorityAndNameAreTheCallers() async {
        let (store, log) = (TaskStore<Int>(), Log<String>())
        for behavior in [TaskStoreDuplicateKeyBehavior.runConcurrently, .wait, .debounce(for: .zero)] {
            await Task(priority: .low) {
                await Self.$request.withValue("42") {
                    await store.addTask(forKey: 1, duplicateKeyBehavior: behavior, name: "reader") {
                        MainActor.assertIsolated()
                        log.append("\(Self.request) \(Diagnostics.currentTaskName ?? "-") \(Task.basePriority == .low)")
                    }.value
                }
            }.value
        }
        #expect(log.values == Array(repeating: "42 reader true", count: 3))
    }

    // MARK: Races

    /// An observer asks for a task with the same key while the first is being created: its handle does not exist yet.
    @Test(arguments: [false, true])
    func aTaskThatIsBeingCreatedIsStoodForByOneThatEndsWithItAndCancelsIt(isCancelling: Bool) async throws {
        let (store, started, gate, log) = (TaskStore<String>(), Gate(), Gate(), Log<String>())
        let (once, follower) = (Gate(), Log<Task<Void, Never>>())
        withObservationTracking {
            _ = store.count
        } onChange: {
            guard !once.isOpen else { return }
            once.open()
            follower.append(store.addTask(forKey: "key", duplicateKeyBehavior: .preferPrevious) { log.append("never") })
        }
        let followed = store.addTask(forKey: "key", duplicateKeyBehavior: .preferPrevious) {
            started.open()
            await gate.wait()
            log.append("ends, cancelled: \(Task.isCancelled)")
        }
        await started.wait()
        #expect(follower.values.count == 1 && follower.values[0] != followed)
        if isCancelling { follower.values[0].cancel() } else { gate.open() }
        await follower.values[0].value
        await followed.value
        #expect(log.values == ["ends, cancelled: \(isCancelling)"])
        try await store.drain()
    }

    /// An observer cancels it between its entry in the books and its creation; and its actor runs it at once, before its handle is there.
    @Test func aTaskThatIsCancelledWhileItIsBeingCreatedNeverRuns() async throws {
        let (store, log) = (TaskStore<String>(), Log<Bool>())
        withObservationTracking {
            _ = store.count
        } onChange: {
            store.cancelAll()
        }
        await EagerActor().add(to: store, log).value
        #expect(log.values == [])
        try await store.drain()
    }

    @Test func aTaskThatRunsBeforeItsHandleIsThereLeavesTheStore() async throws {
        let (store, log) = (TaskStore<String>(), Log<Bool>())
        await EagerActor().add(to: store, log).value
        #expect(log.values == [false] && store.count == 0)
        try await store.drain()
    }

    /// Runs what is enqueued before `enqueue` returns.
    private actor EagerActor {
        final class Executor: SerialExecutor {
            func enqueue(_ job: consuming ExecutorJob) {
                UnownedJob(job).runSynchronously(on: asUnownedSerialExecutor())
            }
        }

        private let executor = Executor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func add(to store: TaskStore<String>, _ log: Log<Bool>) -> Task<Void, Never> {
            store.addTask(forKey: "key") { self.note(Task.isCancelled, log) }
        }

        private func note(_ isCancelled: Bool, _ log: Log<Bool>) {
            log.append(isCancelled)
        }
    }

    /// Equal keys need not be one object. None of them is let go of under the lock: its `deinit` may call the store.
    @Test func aKeyMayCallTheStoreWhenItGoes() async throws {
        final class Key: Hashable, Sendable {
            let store: TaskStore<Key>
            let gone: Log<Int>
            init(_ store: TaskStore<Key>, _ gone: Log<Int>) {
                self.store = store
                self.gone = gone
            }
            deinit { gone.append(store.count) }
            static func == (one: Key, other: Key) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }
        let (store, gone) = (TaskStore<Key>(), Log<Int>())
        for behavior in RegistryDriver.behaviors where !behavior.isDebounce {
            let gates = [Gate(), Gate(), Gate()]
            for gate in gates {
                store.addTask(forKey: Key(store, gone), duplicateKeyBehavior: behavior) { await gate.wait() }
            }
            for gate in gates {
                gate.open()
                store.cancelTask(forKey: Key(store, gone))
            }
            try await store.drain()
        }
        #expect(store.runningKeys.isEmpty && gone.values.count == 36)
    }

    /// Many threads add, cancel and look at the same few keys; afterwards everything has ended and nothing is left.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func nothingIsLostUnderContention(seed: UInt64) async throws {
        let store = TaskStore<Int>()
        await withTaskGroup { group in
            for worker in 0..<4 as Range<UInt64> {
                group.addTask {
                    var random = SplitMix(seed: seed * 100 + worker)
                    for _ in 0..<500 {
                        let key = Int(random.next() % 3)
                        switch random.next() % 8 {
                        case 0: store.cancelTask(forKey: key)
                        case 1: _ = store.runningKeys
                        default:
                            let behavior = RegistryDriver.behaviors.filter { $0 != .debounce(for: .seconds(1)) }
                                .randomElement(using: &random)!
                            let task = store.addTask(forKey: key, duplicateKeyBehavior: behavior) {}
                            if random.next() % 4 == 0 { task.cancel() }
                            if random.next() % 16 == 0 { await task.value }
                        }
                    }
                }
            }
        }
        try await store.drain()
        #expect(store.count == 0 && store.runningKeys.isEmpty)
    }
}
