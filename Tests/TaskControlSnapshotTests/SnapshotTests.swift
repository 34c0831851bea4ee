import Foundation
import TaskControlTesting
import TestSupport
import Testing

@_spi(Observers) @testable import TaskControl
@testable import TaskControlSnapshot

/// Snapshots of real primitives.
@Suite(.timeLimit(.minutes(15)))
struct SnapshotTests {
    /// The state that the events of a body have led to.
    private final class Books: Sendable {
        private let books = Locked(TrackerStateMachine(limit: 10_000))
        private let time = Locked(Duration.zero)

        func receive(_ event: TaskEvent) {
            time.withLock { $0 = event.time }
            books.withLock { $0.receive(event) }
        }

        /// In the time of the last event.
        var snapshot: TaskSnapshot { books.withLock { $0 }.snapshot(at: time.withLock { $0 }) }
    }

    private func watched(_ body: (Books, OrderRecorder<TaskEvent>) async throws -> Void) async throws {
        let (books, recorder) = (Books(), OrderRecorder<TaskEvent>())
        _ = try await EventLog.events {
            books.receive($0)
            recorder.record($0)
        } of: {
            try await body(books, recorder)
        }
        let left = books.snapshot
        #expect(left.owners.allSatisfy(\.entries.isEmpty) && left.others.isEmpty, "\(left)")
    }

    @Test func aTurnShowsWhoRunsBeforeIt() async throws {
        try await watched { books, recorder in
            let (queue, gate) = (FIFOQueue(name: "saves"), Gate())
            let first = Task(name: "first", on: queue) { try await gate.wait() }
            let second = Task(name: "second", on: queue) {}
            try await recorder.wait {
                $0.named("FIFOQueue.started").count == 1 && $0.named("FIFOQueue.waiting").count == 1
            }
            let owner = try #require(books.snapshot.owners.first)
            #expect(owner.name == "saves" && owner.primitive == .fifoQueue && owner.entries.count == 2)
            #expect(owner.entries[0].phase == .running && owner.entries[0].name == "first")
            #expect(owner.entries[1].phase == .waiting && owner.entries[1].waitsFor == [owner.entries[0].id])
            gate.open()
            _ = await (first.result, second.value)
            try await recorder.wait { $0.named("FIFOQueue.completed").count == 2 }
        }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(1e20), .milliseconds(-250), .seconds(-1e20)])
    func anyQuietTimeIsShown(_ quietTime: Duration) async throws {
        try await watched { books, recorder in
            let store = TaskStore<String>(clock: TestClock())
            let task = store.addTask(forKey: "k", duplicateKeyBehavior: .debounce(for: quietTime)) {}
            try await recorder.wait { !$0.named("TaskStore.waiting").isEmpty }
            // With a negative quiet time, the task may have ended.
            #expect(books.snapshot.description.contains("key k") || quietTime < .zero)
            let delay = try #require(recorder.events.named("TaskStore.waiting")[0].delay)
            #expect(delay == min(max(.zero, quietTime), .longestWait))
            task.cancel()
            await task.value
        }
    }

    @Test func aDecodedSnapshotIsShown() {
        #expect(TaskSnapshot.Warning.waitsForItself([]).description == "nothing waits for itself: ")
        for age in [Duration.seconds(Int64.max), .seconds(1e20), .milliseconds(-250)] {
            #expect(
                "\(TaskSnapshot.Circuit.open(for: age))".hasSuffix(
                    age < .zero ? "0.000 s" : "9223372036854775807.000 s"
                )
            )
        }
    }

    @Test func aCallIsWithinTheTaskThatMakesIt() async throws {
        try await watched { books, recorder in
            let (lifetime, gate, clock) = (AsyncLifetime(), Gate(), TestClock())
            AsyncTask(name: "load") {
                try await retry(attempts: 2, backoff: .fixed(.zero)) { attempt in
                    if attempt == 1 { throw MarkedError() }
                    try await withTimeout(.seconds(9), clock: clock) {
                        try await withSingleFlight(key: "SnapshotTests") { try await gate.wait() }
                    }
                }
            }
            .bind(to: lifetime)
            try await recorder.wait { $0.named("withSingleFlight.running").count == 1 }
            let snapshot = books.snapshot
            let task = try #require(snapshot.owners.first { $0.primitive == .asyncLifetime }?.entries.first)
            let flight = try #require(snapshot.owners.first { $0.primitive == .withSingleFlight }?.entries.first)
            #expect(task.name == "load" && task.calls.map(\.primitive) == [.retry])
            #expect(task.calls[0].attempt == 2 && task.calls[0].phase == .running)
            #expect(task.calls[0].calls.map(\.primitive) == [.withTimeout])
            #expect(task.calls[0].calls[0].waitsFor == [flight.id] && flight.waiterCount == 1)
            #expect(flight.begunIn == task.calls[0].calls[0].id && task.calls[0].begunIn == nil)
            #expect(try JSONDecoder().decode(TaskSnapshot.self, from: JSONEncoder().encode(snapshot)) == snapshot)
            gate.open()
            try await lifetime.drain()
            // The flight resumes its caller first, and then emits its end.
            try await recorder.wait { $0.named("withSingleFlight.completed").count == 1 }
        }
    }

    @Test func theKeysOfAStoreAreLanesOfTheirOwn() async throws {
        try await watched { books, recorder in
            let (store, gate) = (TaskStore<String>(), Gate())
            store.addTask(forKey: "a") { _ = try? await gate.wait() }
            store.addTask(forKey: "b") { _ = try? await gate.wait() }
            store.addTask(forKey: "b", duplicateKeyBehavior: .wait) {}
            try await recorder.wait {
                $0.named("TaskStore.started").count == 2 && $0.named("TaskStore.waiting").count == 1
            }
            let entries = try #require(books.snapshot.owners.first).entries
            #expect(entries.map(\.key) == ["a", "b", "b"])
            #expect(entries.map(\.waitsFor) == [[], [], [entries[1].id]])
            gate.open()
            try await store.drain()
        }
    }

    @Test func whoWasCancelledAndStillRunsIsAWarning() async throws {
        try await watched { books, recorder in
            let (bag, gate) = (TaskBag(), Gate())
            bag.addTask { await gate.waitIgnoringCancellation() }
            try await recorder.wait { $0.named("TaskBag.started").count == 1 }
            #expect(books.snapshot.warnings == [])
            bag.cancelAll(because: "signed out")
            let snapshot = books.snapshot
            let entry = try #require(snapshot.owners.first?.entries.first)
            #expect(entry.cancellationCause == "requested: signed out")
            #expect(snapshot.warnings == [.cancelledButRunning(entry.id, since: entry.cancelledAge!)])
            gate.open()
            try await bag.registry.drain()
        }
    }

    @Test func whoWasDroppedIsAWarningAsLongAsItRuns() async throws {
        Diagnostics.keepQuiet()
        try await watched { books, recorder in
            let gate = Gate()
            var task: AsyncTask? = AsyncTask { await gate.waitIgnoringCancellation() }
            try await recorder.wait { $0.named("AsyncTask.started").count == 1 }
            #expect(books.snapshot.warnings == [])
            withExtendedLifetime(task) {}
            task = nil
            let snapshot = books.snapshot
            let entry = try #require(snapshot.others.first)
            #expect(snapshot.warnings.contains(.dropped(entry.id)) && snapshot.droppedCount == 1)
            gate.open()
            try await recorder.wait { $0.named("AsyncTask.completed").count == 1 }
            #expect(books.snapshot.warnings == [] && books.snapshot.droppedCount == 1)
        }
    }

    @Test func aPermitWithinItselfIsACircle() async throws {
        try await watched { books, recorder in
            let semaphore = AsyncSemaphore(value: 1)
            let task = Task(name: "greedy") {
                try await semaphore.withPermit { try await semaphore.withPermit {} }
            }
            try await recorder.wait { $0.named("AsyncSemaphore.waiting").count == 1 }
            let snapshot = books.snapshot
            let entries = try #require(snapshot.owners.first).entries
            #expect(entries.map(\.phase) == [.running, .waiting] && entries.allSatisfy { $0.name == "greedy" })
            guard case .waitsForItself(let ids) = snapshot.warnings.first else { Issue.record("\(snapshot)"); return }
            #expect(Set(ids) == Set(entries.map(\.id)))
            task.cancel()
            _ = await task.result
        }
    }

    /// The permit may have moved to another task, which releases it.
    @Test func aPermitThatIsAValueIsNoCircle() async throws {
        try await watched { books, recorder in
            let semaphore = AsyncSemaphore(value: 1)
            for isBusy in [false, true] {
                if isBusy { try await semaphore.acquire() }
                let task = Task {
                    let permit = try await semaphore.acquirePermit()
                    try await semaphore.withPermit {}
                    permit.release()
                }
                if isBusy {
                    try await recorder.wait { $0.named("AsyncSemaphore.waiting").count == 2 }
                    semaphore.release()
                }
                try await recorder.wait { $0.named("AsyncSemaphore.waiting").count == (isBusy ? 3 : 1) }
                #expect(books.snapshot.warnings == [], "\(books.snapshot)")
                task.cancel()
                _ = await task.result
            }
        }
    }

    @Test func aWaitForAPermitUntilALimitIsNoCircle() async throws {
        try await watched { books, recorder in
            let (semaphore, clock) = (AsyncSemaphore(value: 1), TestClock())
            let task = Task {
                try await semaphore.withPermit { try await semaphore.acquire(within: .seconds(1), clock: clock) }
            }
            try await recorder.wait { $0.named("AsyncSemaphore.waiting").count == 1 }
            #expect(books.snapshot.warnings == [], "\(books.snapshot)")
            #expect(books.snapshot.owners[0].entries.map(\.phase) == [.running, .waiting])
            try await clock.waitForSleepers(count: 1)
            await clock.advance(by: .seconds(1))
            await #expect(throws: TimeoutError.self) { try await task.value }
        }
    }

    @Test func aCircleWithATimeLimitInsideIsNoCircle() async throws {
        try await watched { books, recorder in
            let (first, second, clock) = (AsyncSemaphore(value: 1), AsyncSemaphore(value: 1), TestClock())
            let held = Gate()
            let one = Task {
                try await first.withPermit {
                    try await held.wait()
                    try await second.withPermit {}
                }
            }
            let other = Task {
                try await withTimeout(.seconds(1), clock: clock) {
                    try await second.withPermit {
                        held.open()
                        try await first.withPermit {}
                    }
                }
            }
            try await recorder.wait { $0.named("AsyncSemaphore.waiting").count == 2 }
            #expect(books.snapshot.warnings == [], "\(books.snapshot)")
            try await clock.waitForSleepers(count: 1)
            await clock.advance(by: .seconds(1))
            _ = await other.result
            try await one.value
        }
    }

    /// A flight of one kind begins one of another, which asks the first: neither knows of the other.
    @Test func aTaskThatDrainsItsOwnLifetimeIsACircle() async throws {
        try await watched { books, recorder in
            let lifetime = AsyncLifetime()
            AsyncTask { try await lifetime.drain() }.bind(to: lifetime)
            try await recorder.wait { $0.named("AsyncLifetime.draining").count == 1 }
            let warnings = books.snapshot.warnings
            guard case .waitsForItself(let ids) = warnings.first else { Issue.record("\(warnings)"); return }
            #expect(ids.count == 2)
            lifetime.cancelAll()
            try await recorder.wait { $0.contains { $0.primitive == .asyncTask && $0.outcome != nil } }
        }
    }

    /// A wait that a time limit ends is no deadlock, and neither is a wait that code outside the snapshot may end.
    @Test func whatCanGoOnIsNoCircle() async throws {
        try await watched { books, recorder in
            let (semaphore, clock) = (AsyncSemaphore(value: 1), TestClock())
            let task = Task {
                try await semaphore.withPermit {
                    try await withTimeout(.seconds(1), clock: clock) { try await semaphore.withPermit {} }
                }
            }
            try await recorder.wait { $0.named("AsyncSemaphore.waiting").count == 1 }
            #expect(books.snapshot.warnings == [])
            try await clock.waitForSleepers(count: 1)
            await clock.advance(by: .seconds(1))
            _ = await task.result
        }
        let outer = AsyncSemaphore(value: 2)
        let (held, gate) = (Gate(), Gate())
        let before = Task {
            try await outer.withPermit {
                held.open()
                try await gate.wait()
            }
        }
        try await held.wait()
        try await watched { books, recorder in
            let task = Task { try await outer.withPermit { try await outer.withPermit {} } }
            try await recorder.wait { $0.named("AsyncSemaphore.waiting").count == 1 }
            #expect(books.snapshot.warnings == [], "one of the two was got before anybody listened")
            gate.open()
            _ = await (before.result, task.result)
        }
    }

    @Test func whoWasDetachedIsNotWaitedForByTheLifetime() async throws {
        try await watched { books, recorder in
            let (lifetime, gate) = (AsyncLifetime(), Gate())
            // First the task that is waited for: a drain of an empty lifetime ends at once.
            AsyncTask { try await gate.wait() }.bind(to: lifetime)
            AsyncTask { try await lifetime.drain() }.bind(to: lifetime).detached()
            try await recorder.wait { $0.named("AsyncLifetime.draining").count == 1 }
            let snapshot = books.snapshot
            #expect(snapshot.warnings == [] && snapshot.others.count == 1, "\(snapshot)")
            gate.open()
            try await recorder.wait { $0.filter { $0.primitive == .asyncTask && $0.outcome != nil }.count == 2 }
        }
    }

    @Test func itIsATreeForPeople() async throws {
        let machine = { () -> TrackerStateMachine in
            var machine = TrackerStateMachine(limit: 100)
            let store = TaskEvent.Identity(3)
            func tell(
                _ kind: TaskEvent.Kind,
                _ change: TaskEvent.Change,
                _ number: UInt64,
                _ task: UInt?,
                _ milliseconds: Int,
                detail: String? = nil
            ) {
                var event = TaskEvent(
                    .taskStore,
                    kind,
                    change,
                    owner: store,
                    subject: TaskEvent.Identity(number, of: 3),
                    ownerName: "documents",
                    taskName: "save",
                    key: "draft",
                    detail: detail
                )
                event.task = task.map { TaskEvent.TaskIdentity(address: $0) }
                event.time = .milliseconds(milliseconds)
                event.sequence = UInt64(milliseconds)
                machine.receive(event)
            }
            tell(.added, .began(.waiting), 1, nil, 0)
            tell(.started, .entered(.running), 1, 1, 8_100)
            tell(.added, .began(.waiting), 2, nil, 10_900)
            tell(.waiting, .entered(.waiting), 2, 2, 10_900)
            tell(.cancelled, .noted, 1, nil, 9_100, detail: "requested: signed out")
            let id = TaskEvent.Identity(7)
            var retry = TaskEvent(.retry, .failed, .began(.running), subject: id, taskName: "save", attempt: 1)
            retry.task = TaskEvent.TaskIdentity(address: 1)
            retry.time = .milliseconds(8_400)
            retry.sequence = 8_400
            machine.receive(retry)
            var again = TaskEvent(.retry, .retrying, .entered(.running), subject: id, taskName: "save", attempt: 2)
            again.task = retry.task
            again.time = .milliseconds(8_900)
            again.sequence = 8_900
            machine.receive(again)
            return machine
        }()
        #expect(
            machine.snapshot(at: .milliseconds(12_100)).description == """
                1 owner, 3 tasks and calls
                ! #3.1 "save" was cancelled 3.000 s ago, and still runs
                TaskStore "documents" #3, for 12.100 s
                ├ #3.1 "save" key draft runs for 4.000 s, cancelled 3.000 s ago (requested: signed out)
                │ └ #7 retry "save" runs for 3.200 s, attempt 2
                └ #3.2 "save" key draft waits for 1.200 s, for #3.1
                """
        )
    }

    @Test func aCircleIsShownWithTheNamesOfItsTasks() {
        let (first, second) = (TaskEvent.Identity(1, of: 3), TaskEvent.Identity(2, of: 3))
        func entry(_ id: TaskEvent.Identity, _ name: String?, waitsFor other: TaskEvent.Identity) -> TaskSnapshot.Entry
        {
            TaskSnapshot.Entry(
                id: id,
                primitive: .retry,
                name: name,
                key: nil,
                detail: nil,
                begunIn: nil,
                attempt: nil,
                phase: .running,
                age: .seconds(2),
                phaseAge: .seconds(1),
                delay: nil,
                cancelledAge: nil,
                cancellationCause: nil,
                waitsFor: [other],
                waiterCount: 0,
                calls: []
            )
        }
        let snapshot = TaskSnapshot(
            owners: [],
            others: [entry(first, "outer", waitsFor: second), entry(second, nil, waitsFor: first)],
            warnings: [.waitsForItself([first, second])],
            droppedCount: 0,
            omittedCount: 0,
            isTracking: true
        )
        #expect(
            snapshot.description == """
                0 owners, 2 tasks and calls
                ! #3.1 "outer" waits for itself: #3.1 "outer" → #3.2 → #3.1 "outer"
                without an owner
                ├ #3.1 retry "outer" runs for 1.000 s, waits for #3.2
                └ #3.2 retry runs for 1.000 s, waits for #3.1
                """
        )
    }

    @Test func itCanBeSentElsewhere() async throws {
        try await watched { books, recorder in
            let (queue, gate) = (FIFOQueue(name: "saves"), Gate())
            let task = Task(name: "first", on: queue) { try await gate.wait() }
            try await recorder.wait { $0.named("FIFOQueue.started").count == 1 }
            let snapshot = books.snapshot
            let data = try JSONEncoder().encode(snapshot)
            #expect(try JSONDecoder().decode(TaskSnapshot.self, from: data) == snapshot)
            #expect(String(decoding: data, as: UTF8.self).contains(#""\#(snapshot.owners[0].id)""#))
            gate.open()
            _ = await task.result
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([TaskEvent.Identity].self, from: Data(#"["7.12"]"#.utf8))
        }
    }

    @Test func aSnapshotOfAnotherVersionCanBeRead() throws {
        let later = """
            {
                "schemaVersion": 7, "weather": "fine",
                "owners": [
                    {"id": "#3", "primitive": "Crowd", "size": 5, "circuit": {"kind": "melted", "age": [0, 5]}},
                    {"id": "#4", "primitive": "CircuitBreaker", "circuit": {"kind": "open", "age": [0, 5]}}
                ],
                "others": [{"id": "#5", "primitive": "retry", "phase": "dreaming"}],
                "warnings": [{"kind": "bored", "tasks": ["#5"]}, {"kind": "dropped", "tasks": ["#5"]}]
            }
            """
        let snapshot = try JSONDecoder().decode(TaskSnapshot.self, from: Data(later.utf8))
        #expect(snapshot.owners.map(\.primitive.rawValue) == ["Crowd", "CircuitBreaker"])
        #expect(snapshot.owners[0].circuit == nil && snapshot.owners[1].circuit != nil)
        #expect(snapshot.others[0].phase == .running && snapshot.others[0].calls.isEmpty)
        #expect(snapshot.warnings == [.dropped(snapshot.others[0].id)])
        #expect(snapshot.droppedCount == 0)
        let written = try JSONEncoder().encode(snapshot)
        #expect(String(decoding: written, as: UTF8.self).contains(#""schemaVersion":1"#))
        #expect(try JSONDecoder().decode(TaskSnapshot.self, from: written) == snapshot)
        #expect(try JSONDecoder().decode(TaskSnapshot.self, from: Data("{}".utf8)).owners.isEmpty)
    }

    @Test func eachWarningAndEachCircuitCanBeSentElsewhere() throws {
        let id = try JSONDecoder().decode([TaskEvent.Identity].self, from: Data(##"["#7"]"##.utf8))[0]
        let warnings: [TaskSnapshot.Warning] = [
            .dropped(id), .waitsForItself([id, id]), .cancelledButRunning(id, since: .seconds(3)),
        ]
        let data = try JSONEncoder().encode(warnings)
        #expect(try JSONDecoder().decode([TaskSnapshot.Warning].self, from: data) == warnings)
        let circuits: [TaskSnapshot.Circuit] = [.open(for: .seconds(1)), .halfOpen(for: .seconds(2))]
        let other = try JSONEncoder().encode(circuits)
        #expect(try JSONDecoder().decode([TaskSnapshot.Circuit].self, from: other) == circuits)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([TaskSnapshot.Warning].self, from: Data(#"[{"kind":"dropped","tasks":[]}]"#.utf8))
        }
    }

    @Test func anOwnerIsShownWithItsName() async throws {
        let events = await EventLog.events {
            let lifetime = AsyncLifetime(name: "feed")
            await AsyncTask {}.bind(to: lifetime).value
        }
        var tracker = TrackerStateMachine(limit: 10)
        for event in events where event.kind != .deallocated { tracker.receive(event) }
        #expect(tracker.snapshot(at: .zero).owners.map(\.name) == ["feed"])
    }

    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func theProcessIsTrackedFromTheFirstRequestOnAndAnObserverMayTakeASnapshot() async throws
    {
        await #expect(processExitsWith: .success) {
            precondition(!TaskSnapshot.current().isTracking && "\(TaskSnapshot.current())".contains("startTracking"))
            TaskSnapshot.startTracking()
            let seen = OrderRecorder<Int>()
            struct Looking: TaskObserver {
                let seen: OrderRecorder<Int>
                func receive(_ event: TaskEvent) { seen.record(TaskSnapshot.current().owners.count) }
            }
            let observation = TaskDiagnostics.observe(Looking(seen: seen))
            do {
                let queue = FIFOQueue()
                await Task(on: queue) {}.value
                // A second request changes nothing, and neither does a configuration.
                TaskSnapshot.startTracking()
                TaskDiagnostics.configure(TaskDiagnostics.Configuration(reportsMistakes: false))
                precondition(TaskSnapshot.current().owners.count == 1)
            }
            precondition(seen.events.contains(1))
            observation.end()
            precondition(TaskSnapshot.current().owners.isEmpty && TaskSnapshot.current().isTracking)
        }
    }

    @Test func aTrackerKnowsTheTasksOfItsObservation() async throws {
        let (before, queue) = (AsyncLifetime(name: "before"), FIFOQueue(name: "aTrackerKnows"))
        let tracker = TaskTracker()
        #expect(tracker.snapshot().isTracking && tracker.snapshot().owners.isEmpty)
        let observation = TaskDiagnostics.observe(tracker)
        let gate = Gate()
        let task = Task(name: "first", on: queue) { try await gate.wait() }
        let owners = tracker.snapshot().owners
        #expect(owners.filter { $0.name == "aTrackerKnows" }.map(\.entries.count) == [1])
        #expect(!owners.contains { $0.name == "before" })
        observation.end()
        gate.open()
        _ = await task.result
        withExtendedLifetime(before) {}
    }
    #endif
}
