import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct TaskStoreTests {
    @TaskLocal static var request = "none"

    /// Starts a task that logs when it begins and when it ends, and stays until its gate opens, whether it is cancelled or not.
    private func add(
        _ name: String,
        to store: TaskStore<String>,
        _ behavior: TaskStoreDuplicateKeyBehavior,
        until gate: Gate,
        _ log: OrderRecorder<String>
    ) async -> Task<Void, Never> {
        let started = Gate()
        let task = store.addTask(forKey: "key", duplicateKeyBehavior: behavior, name: name) {
            log.record("\(name) begins")
            started.open()
            await gate.waitIgnoringCancellation()
            log.record("\(name) ends\(Task.isCancelled ? ", cancelled" : "")")
        }
        if case .runConcurrently = behavior { try? await started.wait() }
        return task
    }

    // MARK: Behaviors

    @Test func cancelPreviousIsTheDefaultAndOverlaps() async throws {
        let (store, old, log, began) = (TaskStore<String>(), Gate(), OrderRecorder<String>(), Gate())
        let first = await add("old", to: store, .runConcurrently, until: old, log)
        let second = store.addTask(forKey: "key") {
            log.record("new begins")
            began.open()
        }
        try? await began.wait()
        #expect(first.isCancelled && !second.isCancelled)
        await second.value
        old.open()
        try await store.drain()
        #expect(log.events == ["old begins", "new begins", "old ends, cancelled"])
    }

    @Test func cancelPreviousAndWaitStartsWhenAllThatWasCancelledHasEnded() async throws {
        let (store, gates, log) = (TaskStore<String>(), [Gate(), Gate()], OrderRecorder<String>())
        _ = await add("one", to: store, .runConcurrently, until: gates[0], log)
        _ = await add("two", to: store, .runConcurrently, until: gates[1], log)
        let new = store.addTask(forKey: "key", duplicateKeyBehavior: .cancelPrevious(wait: true)) { log.record("new") }
        #expect(store.count == 1)
        gates[1].open()
        gates[0].open()
        await new.value
        #expect(log.events.last == "new" && log.events.count == 5)
    }

    @Test func waitStartsInTheOrderOfTheCallsWhateverThePriorities() async throws {
        let (store, gate, log) = (TaskStore<String>(), Gate(), OrderRecorder<String>())
        let first = await add("first", to: store, .runConcurrently, until: gate, log)
        let priorities: [TaskPriority] = [.background, .high, .low, .medium]
        for number in 0..<40 {
            store.addTask(forKey: "key", duplicateKeyBehavior: .wait, priority: priorities[number % 4]) {
                log.record("\(number)")
            }
        }
        #expect(store.count == 41)
        gate.open()
        try await store.drain()
        #expect(log.events == ["first begins", "first ends"] + (0..<40).map { "\($0)" })
        #expect(!first.isCancelled)
    }

    @Test func runConcurrentlyTracksAll() async throws {
        let (store, gate, log) = (TaskStore<String>(), Gate(), OrderRecorder<String>())
        var tasks: [Task<Void, Never>] = []
        for number in 0..<5 { tasks.append(await add("\(number)", to: store, .runConcurrently, until: gate, log)) }
        #expect(store.count == 5 && store.runningKeys == ["key"])
        store.cancelTask(forKey: "key")
        #expect(store.count == 0 && tasks.filter(\.isCancelled).count == 5)
        gate.open()
        try await store.drain()
        #expect(log.events.filter { $0.hasSuffix("cancelled") }.count == 5)
    }

    @Test func preferPreviousReturnsTheRunningTask() async throws {
        let (store, gate, log) = (TaskStore<String>(), Gate(), OrderRecorder<String>())
        let first = await add("first", to: store, .runConcurrently, until: gate, log)
        store.addTask(forKey: "key", duplicateKeyBehavior: .wait) { log.record("waiting") }
        let second = store.addTask(forKey: "key", duplicateKeyBehavior: .preferPrevious) { log.record("never") }
        #expect(first == second && store.count == 2)
        gate.open()
        try await store.drain()
        #expect(log.events == ["first begins", "first ends", "waiting"])
    }

    @Test func keepLatestKeepsTheRunningOneAndTheNewestOfThoseThatWait() async throws {
        let (store, gate, log) = (TaskStore<String>(), Gate(), OrderRecorder<String>())
        let first = await add("first", to: store, .runConcurrently, until: gate, log)
        let waiting = (0..<5).map { number in
            store.addTask(forKey: "key", duplicateKeyBehavior: .keepLatest) { log.record("\(number)") }
        }
        #expect(store.count == 2 && !first.isCancelled)
        for task in waiting.dropLast() { await task.value }
        gate.open()
        await waiting.last?.value
        #expect(log.events == ["first begins", "first ends", "4"])
        #expect(waiting.map(\.isCancelled) == [true, true, true, true, false])
    }

    @Test func drainingAKeyWaitsForItsTasksAlone() async throws {
        let (store, gate, log) = (TaskStore<String>(), Gate(), OrderRecorder<String>())
        try await store.drain(forKey: "key")
        let other = store.addTask(forKey: "other") { try? await Gate().wait() }
        let running = await add("running", to: store, .runConcurrently, until: gate, log)
        let waiting = store.addTask(forKey: "key", duplicateKeyBehavior: .wait) { log.record("waiting") }
        let (drain, cancelled) = (
            Task { try await store.drain(forKey: "key") }, Task { try await store.drain(forKey: "key") }
        )
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        // A cancelled task that still runs is waited for.
        running.cancel()
        gate.open()
        try await drain.value
        #expect(
            log.events == ["running begins", "running ends, cancelled", "waiting"] && store.runningKeys == ["other"]
        )
        await waiting.value
        other.cancel()
        await other.value
    }

    @Test func aQuietTimeMayHaveAnyLength() async throws {
        let clock = AnnouncingClock()
        let store = TaskStore<String>(clock: clock)
        let endless = store.addTask(forKey: "long", duplicateKeyBehavior: .debounce(for: .seconds(Int64.max))) {
            Issue.record("its quiet time is over")
        }
        try await clock.sleeps.wait()
        endless.cancel()
        await endless.value
        let hasRun = Gate()
        await store.addTask(forKey: "negative", duplicateKeyBehavior: .debounce(for: .seconds(Int64.min) * 4)) {
            hasRun.open()
        }.value
        #expect(hasRun.isOpen)
    }

    @Test func debounceStartsTheNewestAfterAQuietTimeAndCancelsWhatRunsThen() async throws {
        let clock = TestClock()
        let (store, gate, log) = (TaskStore<String>(clock: clock), Gate(), OrderRecorder<String>())
        let running = await add("running", to: store, .runConcurrently, until: gate, log)
        var debounced: [Task<Void, Never>] = []
        for number in 0..<3 {
            debounced.append(
                store.addTask(forKey: "key", duplicateKeyBehavior: .debounce(for: .seconds(1))) {
                    log.record("\(number)")
                }
            )
            // The one before has ended: the newest is the one that sleeps.
            if number > 0 { await debounced[number - 1].value }
            try await clock.waitForSleepers()
            await clock.advance(by: .milliseconds(600))
            #expect(!running.isCancelled && clock.sleeperCount == 1, "not yet")
        }
        #expect(log.events == ["running begins"] && store.count == 2)
        await clock.advance(by: .milliseconds(400))
        await debounced[2].value
        #expect(running.isCancelled && log.events == ["running begins", "2"])
        gate.open()
        try await store.drain()
    }

    @Test func aCallWithAnotherBehaviorCancelsWhatWaitsForItsQuietTime() async throws {
        let clock = TestClock()
        let (store, log) = (TaskStore<Int>(clock: clock), OrderRecorder<String>())
        let debounced = store.addTask(forKey: 1, duplicateKeyBehavior: .debounce(for: .seconds(1))) {
            log.record("never")
        }
        try await clock.waitForSleepers()
        store.addTask(forKey: 1) { log.record("new") }
        await debounced.value
        try await store.drain()
        #expect(log.events == ["new"])
    }

    // MARK: Cancelling

    @Test func cancellingANewTaskSparesThePreviousOne() async throws {
        let behaviors: [TaskStoreDuplicateKeyBehavior] = [
            .wait, .runConcurrently, .keepLatest, .debounce(for: .seconds(1)),
        ]
        for behavior in behaviors {
            let (store, gate, log) = (TaskStore<String>(clock: TestClock()), Gate(), OrderRecorder<String>())
            let previous = await add("previous", to: store, .runConcurrently, until: gate, log)
            let new = store.addTask(forKey: "key", duplicateKeyBehavior: behavior) { try? await Gate().wait() }
            new.cancel()
            await new.value
            #expect(!previous.isCancelled && store.count == 1)
            gate.open()
            try await store.drain()
        }
    }

    @Test func aWaitingTaskThatIsCancelledNeverRunsAndItsAwaiterGoesOnAtOnce() async throws {
        let (store, gate, log) = (TaskStore<String>(), Gate(), OrderRecorder<String>())
        _ = await add("running", to: store, .runConcurrently, until: gate, log)
        let waiting = store.addTask(forKey: "key", duplicateKeyBehavior: .wait) { log.record("never") }
        let after = store.addTask(forKey: "key", duplicateKeyBehavior: .wait) { log.record("after") }
        waiting.cancel()
        // The running one has not ended: only its own waiter can resume this one.
        await waiting.value
        #expect(store.count == 2)
        gate.open()
        await after.value
        #expect(log.events == ["running begins", "running ends", "after"])
    }

    @Test func aTaskThatIsCancelledInItsQuietTimeNeverRuns() async throws {
        let clock = TestClock()
        let (store, log) = (TaskStore<String>(clock: clock), OrderRecorder<String>())
        let debounced = store.addTask(forKey: "key", duplicateKeyBehavior: .debounce(for: .seconds(1))) {
            log.record("never")
        }
        try await clock.waitForSleepers()
        debounced.cancel()
        await debounced.value
        #expect(log.events == [] && store.count == 0)
        try await store.drain()
    }

    @Test func cancelTaskCancelsWhatRunsAndWhatWaits() async throws {
        let (store, gate, log) = (TaskStore<String>(), Gate(), OrderRecorder<String>())
        let running = await add("running", to: store, .runConcurrently, until: gate, log)
        let waiting = store.addTask(forKey: "key", duplicateKeyBehavior: .wait) { log.record("never") }
        let other = store.addTask(forKey: "other") { try? await Gate().wait() }
        store.cancelTask(forKey: "key")
        #expect(!store.taskIsRunning(forKey: "key") && store.taskIsRunning(forKey: "other"))
        #expect(running.isCancelled && waiting.isCancelled && !other.isCancelled)
        await waiting.value
        gate.open()
        store.cancelAll()
        try await store.drain()
        #expect(log.events == ["running begins", "running ends, cancelled"])
    }

    @Test func afterCancelTaskPreferPreviousStartsAnewAndWaitStillWaits() async throws {
        let (store, gate, log, began) = (TaskStore<String>(), Gate(), OrderRecorder<String>(), Gate())
        _ = await add("old", to: store, .runConcurrently, until: gate, log)
        store.cancelTask(forKey: "key")
        let new = store.addTask(forKey: "key", duplicateKeyBehavior: .preferPrevious) {
            log.record("new")
            began.open()
        }
        try? await began.wait()
        await new.value
        let waiting = store.addTask(forKey: "key", duplicateKeyBehavior: .wait) { log.record("waited") }
        #expect(log.events == ["old begins", "new"])
        gate.open()
        await waiting.value
        #expect(log.events == ["old begins", "new", "old ends, cancelled", "waited"])
    }

    @Test func aTaskThatWasCancelledThroughItsHandleIsNotPreferred() async throws {
        let (store, gate, log) = (TaskStore<String>(), Gate(), OrderRecorder<String>())
        let old = await add("old", to: store, .runConcurrently, until: gate, log)
        old.cancel()
        let new = store.addTask(forKey: "key", duplicateKeyBehavior: .preferPrevious) { log.record("new") }
        #expect(new != old)
        await new.value
        gate.open()
        try await store.drain()
        #expect(log.events == ["old begins", "new", "old ends, cancelled"])
    }

    @Test func cancelAllFromAHandlerThatItTriggersNeitherDeadlocksNorMissesATask() async throws {
        let (store, ended) = (TaskStore<Int>(), OrderRecorder<Int>())
        let started = (0..<20).map { _ in Gate() }
        for number in 0..<20 {
            store.addTask(forKey: number) {
                await withTaskCancellationHandler {
                    started[number].open()
                    try? await Gate().wait()
                    ended.record(number)
                } onCancel: {
                    store.cancelAll()
                    store.cancelTask(forKey: (number + 1) % 20)
                }
            }
        }
        for gate in started { try? await gate.wait() }
        store.cancelAll()
        try await store.drain()
        #expect(ended.events.sorted() == Array(0..<20))
    }

    @Test func theEndOfTheStoreCancelsWhatRunsAndWhatWaits() async {
        let (started, ended, log) = (Gate(), Gate(), OrderRecorder<String>())
        var store: TaskStore<String>? = TaskStore()
        store!.addTask(forKey: "key") {
            started.open()
            try? await Gate().wait()
            ended.open()
        }
        let waiting = store!.addTask(forKey: "key", duplicateKeyBehavior: .wait) { log.record("never") }
        try? await started.wait()
        store = nil
        try? await ended.wait()
        await waiting.value
        #expect(log.events == [])
    }

    @Test func drainLeavesAtOnceWhenItsCallerIsCancelled() async throws {
        let (store, gate) = (TaskStore<Int>(), Gate())
        let task = store.addTask(forKey: 1) { try? await gate.wait() }
        let drain = Task { try await store.drain() }
        drain.cancel()
        await #expect(throws: CancellationError.self) { try await drain.value }
        #expect(!task.isCancelled)
        gate.open()
        try await store.drain()
        #expect(store.count == 0)
    }

    @Test func cancelTaskSaysWhetherThereWasATaskAndTheTaskReadsTheReason() async throws {
        let (store, begun, causes) = (TaskStore<String>(), Gate(), OrderRecorder<CancellationCause?>())
        #expect(!store.cancelTask(forKey: "key"))
        store.addTask(forKey: "key") {
            begun.open()
            try? await Gate().wait()
            causes.record(Task.cancellationCause)
        }
        try await begun.wait()
        #expect(!store.cancelTask(forKey: "other", because: "not this"))
        #expect(store.cancelTask(forKey: "key", because: "logged out"))
        // It may still run, but the store has cancelled it.
        #expect(!store.cancelTask(forKey: "key", because: "again"))
        try await store.drain()
        #expect(causes.events == [.requested(reason: "logged out")])
        #expect(!store.cancelTask(forKey: "key"))
    }

    // MARK: What a task inherits

    @MainActor @Test func isolationTaskLocalsPriorityAndNameAreTheCallers() async {
        let (store, log) = (TaskStore<Int>(), OrderRecorder<String>())
        for behavior in [TaskStoreDuplicateKeyBehavior.runConcurrently, .wait, .debounce(for: .zero)] {
            await Task(priority: .low) {
                await Self.$request.withValue("42") {
                    await store.addTask(forKey: 1, duplicateKeyBehavior: behavior, name: "reader") {
                        MainActor.assertIsolated()
                        log.record("\(Self.request) \(Diagnostics.currentTaskName ?? "-") \(Task.basePriority == .low)")
                    }.value
                }
            }.value
        }
        #expect(log.events == Array(repeating: "42 \(readable("reader") ?? "-") true", count: 3))
    }
}
