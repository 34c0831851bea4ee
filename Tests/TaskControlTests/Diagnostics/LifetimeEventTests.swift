import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The events of tasks and of their owners: each event by name and field, in order.
@Suite(.timeLimit(.minutes(15)))
struct LifetimeEventTests {
    // MARK: AsyncTask

    @Test func aTaskIsToldFromItsCreationToItsEnd() async {
        let lifetime = AsyncLifetime()
        let events = await EventLog.events {
            let task = AsyncTask(name: "load") {}
            task.bind(to: lifetime)
            await task.value
        }
        #expect(
            events.filter { $0.kind != .boundToLifetime }.lines == [
                "AsyncTask.created task=load", "AsyncTask.started task=load", "AsyncTask.completed task=load",
            ]
        )
        #expect(events.named("AsyncTask.boundToLifetime").map(\.owner) == [lifetime.identity])
        #expect(Set(events.map(\.subject)).count == 1 && events.unpaired == [])
    }

    @Test func theEndOfABoundTaskNamesItsLifetime() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        let events = await EventLog.events {
            let task = AsyncTask { try await gate.wait() }.bind(to: lifetime)
            gate.open()
            await task.value
        }
        #expect(events.named("AsyncTask.completed").map(\.owner) == [lifetime.identity])
    }

    @Test func aFailureIsToldWithItsErrorHandledOrNot() async {
        let unhandled = await EventLog.events { await AsyncTask { throw MarkedError("no") }.detached().value }
        #expect(
            unhandled.filter { $0.kind != .detached }.lines == [
                "AsyncTask.created", "AsyncTask.started",
                #"AsyncTask.unhandledError error=MarkedError(mark: "no") detail=AsyncTask"#,
                #"AsyncTask.failed error=MarkedError(mark: "no")"#,
            ]
        )
        #expect(unhandled.named("AsyncTask.detached").count == 1 && unhandled.unpaired == [])
        let handled = await EventLog.events {
            await AsyncTask {
                throw MarkedError("no")
            } onError: { _ in
            }.detached().value
        }
        #expect(
            handled.filter { $0.kind != .detached }.lines == [
                "AsyncTask.created", "AsyncTask.started", #"AsyncTask.failed error=MarkedError(mark: "no")"#,
            ]
        )
    }

    @MainActor @Test func aTaskThatIsCancelledBeforeItStartsIsSkipped() async {
        let events = await EventLog.events {
            let task = AsyncTask { Issue.record("never") }
            task.cancel()
            task.cancel()
            await task.value
        }
        #expect(
            events.lines == [
                "AsyncTask.created", "AsyncTask.cancelled detail=requested", "AsyncTask.skipped cancelled=true",
            ]
        )
        #expect(events.unpaired == [])
    }

    @MainActor @Test func aTaskThatEndsWithAnotherErrorWhenItWasCancelledIsToldSo() async throws {
        let gate = Gate()
        let events = try await EventLog.events {
            let task = AsyncTask {
                try? await gate.wait()
                throw MarkedError("late")
            }
            try await gate.waitForWaiters()
            task.cancel()
            await task.value
        }
        #expect(
            events.lines == [
                "AsyncTask.created", "AsyncTask.started", "AsyncTask.cancelled detail=requested",
                #"AsyncTask.errorAfterCancellation error=MarkedError(mark: "late") detail=AsyncTask"#,
                #"AsyncTask.failed error=MarkedError(mark: "late") cancelled=true"#,
            ]
        )
    }

    @MainActor @Test func aDroppedTaskIsTold() async {
        let lines = await EventLog.events {
            var task: AsyncTask? = AsyncTask {}
            let end = task?.task
            task = nil
            await end?.value
        }
        #expect(lines.lines == ["AsyncTask.created", "AsyncTask.dropped", "AsyncTask.skipped cancelled=true"])
        #expect(lines.unpaired == [])
    }

    @MainActor @Test func aTaskThatIsStoredIsToldAndCancelledWithItsSet() async {
        let events = await EventLog.events {
            var set: Set<AnyCancellable> = []
            let task = AsyncTask {}.store(in: &set)
            set.cancelAll()
            await task.value
        }
        #expect(
            events.lines == [
                "AsyncTask.created", "AsyncTask.stored", "AsyncTask.cancelled detail=requested",
                "AsyncTask.skipped cancelled=true",
            ]
        )
    }

    #if SUBPROCESSES
    /// A task is bound, moved or detached while no observer is registered: the events of an observer that comes later name one subject.
    @Test(.oneProcessAtATime) func aTaskThatWasBoundUnobservedIsKnownByOneSubject() async {
        await #expect(processExitsWith: .success) {
            let place = await subject { task, lifetime, _ in task.bind(to: lifetime) }
            let moved = await subject { $0.bind(to: $1).bind(to: $2) }
            precondition(place.owner == place.subject.split(separator: ".")[0] && moved.owner != place.owner)
            let returned = await subject { $0.bind(to: $1).detached().bind(to: $2) }
            precondition(returned.subject.contains("."))
            let numbered = await subject(isObservedAtFirst: true) { $0.bind(to: $1).bind(to: $2) }
            precondition(!numbered.subject.contains("."))

            /// Binds a task in this way, begins to observe, and cancels it through itself or its lifetime.
            @Sendable func subject(
                isObservedAtFirst: Bool = false,
                _ bind: (AsyncTask, AsyncLifetime, AsyncLifetime) -> AsyncTask
            ) async -> (owner: Substring?, subject: String) {
                var found: [(Substring?, String)] = []
                for cancelsAll in [false, true] {
                    let (one, other, begun, gate) = (AsyncLifetime(), AsyncLifetime(), Gate(), Gate())
                    let collector = Collector { $0.subject != nil }
                    precondition(!(Diagnostics.moment != nil))
                    let first = isObservedAtFirst ? TaskDiagnostics.observe(collector) : nil
                    let task = AsyncTask {
                        begun.open()
                        await gate.waitIgnoringCancellation()
                    }
                    await begun.waitIgnoringCancellation()
                    first?.end()
                    let bound = bind(task, one, other)
                    let observation = TaskDiagnostics.observe(collector)
                    if cancelsAll {
                        one.cancelAll()
                        other.cancelAll()
                    } else {
                        bound.cancel()
                    }
                    gate.open()
                    await task.value
                    observation.end()
                    let (events, kinds) = (collector.events, collector.events.map(\.kind))
                    precondition(Set(events.compactMap(\.subject)).count == 1, "\(events)")
                    precondition(kinds == (isObservedAtFirst ? [.created, .started] : []) + [.cancelled, .completed])
                    found.append((events.last?.owner?.description[...], events[0].subject?.description ?? ""))
                }
                return found[0]
            }
        }
    }
    #endif

    // MARK: AsyncLifetime

    @MainActor @Test func theLifetimeTellsWhatItCancelsAndItsEnd() async {
        let events = await EventLog.events {
            var lifetime: AsyncLifetime? = AsyncLifetime()
            let tasks = (0..<3).map { _ in AsyncTask {} }
            for task in tasks { task.bind(to: lifetime!) }
            lifetime?.cancelAll()
            lifetime = nil
            for task in tasks { await task.value }
        }
        #expect(
            events.filter { $0.primitive == .asyncLifetime }.lines == [
                "AsyncLifetime.created", "AsyncLifetime.cancelledAll count=3", "AsyncLifetime.deallocated",
            ]
        )
        #expect(events.named("AsyncTask.cancelled").count == 3)
        #expect(Set(events.compactMap(\.owner)).count == 1)
        #expect(events.named("AsyncTask.skipped").count == 3 && events.unpaired == [])
    }

    @MainActor @Test func aLifetimeThatGoesWithoutTasksSaysNothingOfCancelling() async {
        let events = EventLog.events { _ = AsyncLifetime() }
        #expect(events.lines == ["AsyncLifetime.created", "AsyncLifetime.deallocated"])
    }

    @MainActor @Test func aClosedLifetimeRefuses() async {
        let lifetime = AsyncLifetime()
        let events = await EventLog.events {
            lifetime.close()
            let task = AsyncTask {}.bind(to: lifetime)
            await task.value
            _ = await lifetime.run(for: lifetime, name: "late") {
            } deliver: { _, _ in
            }.value
        }
        #expect(
            events.lines == [
                "AsyncLifetime.closed", "AsyncTask.created", "AsyncTask.cancelled detail=shutdown",
                "AsyncLifetime.refused",
                "AsyncTask.skipped cancelled=true", "AsyncLifetime.refused task=late",
            ]
        )
    }

    @MainActor @Test func workForAnOwnerIsToldWithItsFailure() async {
        let lifetime = AsyncLifetime()
        let events = await EventLog.events {
            _ = await lifetime.run(for: lifetime, name: "feed") {
                throw MarkedError("no")
            } deliver: { _, _ in
            } onError: { _, _ in
            }.value
        }
        // The work runs at the same time as its task is announced, and the error is no event of the task: its delivery may come first.
        #expect(
            events.sorted { $0.sequence < $1.sequence }.lines == [
                "AsyncLifetime.added task=feed", "AsyncLifetime.started task=feed",
                #"AsyncLifetime.workFailed task=feed error=MarkedError(mark: "no") detail=AsyncLifetime.run"#,
                "AsyncLifetime.completed task=feed",
            ]
        )
        #expect(events.compactMap(\.owner) == Array(repeating: lifetime.identity, count: 3))
        #expect(events.unpaired == [])
    }

    @MainActor @Test func workOfAStoreForAnOwnerIsToldWithItsFailure() async {
        let (store, owner) = (TaskStore<String>(name: "feeds"), AsyncLifetime())
        let events = await EventLog.events {
            _ = await store.run(forKey: "feed", for: owner, name: "load") {
                throw MarkedError("no")
            } deliver: { _, _ in
            } onError: { _, _ in
            }.value
        }
        // The work runs at the same time as its task is announced, and the error is no event of the task: its delivery may come first.
        #expect(
            events.sorted { $0.sequence < $1.sequence }.lines == [
                "TaskStore.added name=feeds task=load key=feed", "TaskStore.started name=feeds task=load",
                #"TaskStore.workFailed task=load error=MarkedError(mark: "no") detail=TaskStore.run"#,
                "TaskStore.completed name=feeds task=load",
            ]
        )
        #expect(events.unpaired == [])
    }

    @Test func whoDrainsIsToldFromBeginningToEnd() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        try await EventLog.recording { recorder in
            let task = AsyncTask { try await gate.wait() }.bind(to: lifetime)
            let patient = Task { try await lifetime.drain() }
            try await recorder.wait { $0.named("AsyncLifetime.draining").count == 1 }
            let other = Task { try await lifetime.drain() }
            try await recorder.wait { $0.named("AsyncLifetime.draining").count == 2 }
            other.cancel()
            _ = await other.result
            gate.open()
            try await patient.value
            await task.value
            let drains = recorder.events.filter { $0.primitive == .asyncLifetime }
            #expect(drains.map(\.kind) == [.draining, .draining, .left, .drained])
            #expect(recorder.events.unpaired == [])
        }
    }

    // MARK: Bags and stores

    @MainActor @Test func aBagTellsOfItsTasks() async throws {
        let bag = TaskBag()
        let gate = Gate()
        let events = try await EventLog.events {
            bag.addTask(name: "one") { gate.open() }
            try await gate.wait()
            try await bag.registry.drain()
            bag.addTask(name: "two") {}
            bag.cancel()
            try await bag.registry.drain()
        }
        #expect(
            events.filter { ![.draining, .drained].contains($0.kind) }.lines == [
                "TaskBag.added task=one", "TaskBag.started task=one", "TaskBag.completed task=one",
                "TaskBag.added task=two", "TaskBag.cancelledAll count=1", "TaskBag.cancelled detail=requested",
                "TaskBag.skipped task=two cancelled=true",
            ]
        )
        #expect(
            events.allSatisfy { $0.owner == TaskEvent.Identity(bag.registry.source.number) } && events.unpaired == []
        )
    }

    @MainActor @Test func aDuplicateIsToldWithItsKeyAndTheTaskThatStands() async throws {
        let bag = IdentifiableTaskBag<String>()
        let events = try await EventLog.events {
            bag.addTask(id: "a") {}
            bag.addTask(id: "a") {}
            bag.cancel(id: "a")
            try await bag.registry.drain()
        }.filter { ![.draining, .drained].contains($0.kind) }
        #expect(
            events.lines == [
                "IdentifiableTaskBag.added key=a", "IdentifiableTaskBag.duplicate key=a",
                "IdentifiableTaskBag.cancelled detail=requested",
                "IdentifiableTaskBag.skipped cancelled=true",
            ]
        )
        #expect(Set(events.map(\.subject)).count == 1)
    }

    @Test func anAdoptedTaskIsToldFromThenOn() async throws {
        let (bag, gate) = (TaskBag(), Gate())
        // Its end is seen by a detached task, which no test can mark: it is looked for by its owner.
        let number = bag.registry.source.number
        let observer = Collector { $0.owner == TaskEvent.Identity(number) }
        let observation = TaskDiagnostics.observe(observer)
        Task { try? await gate.wait() }.stored(in: bag)
        gate.open()
        try await bag.registry.drain()
        // Events are delivered after the effects of what they report.
        try await observer.wait { $0.contains { $0.kind == .completed } }
        observation.end()
        let events = observer.events.filter { $0.subject != nil && ![.draining, .drained].contains($0.kind) }
        #expect(events.lines == ["TaskBag.adopted", "TaskBag.completed"])
        #expect(events.unpaired == [])
    }

    @MainActor @Test func aStoreTellsWhoWaitsForWhat() async throws {
        let clock = TestClock()
        let store = TaskStore<String>(clock: clock)
        try await EventLog.recording { recorder in
            let gate = Gate()
            store.addTask(forKey: "a", duplicateKeyBehavior: .wait, name: "first") { try? await gate.wait() }
            store.addTask(forKey: "a", duplicateKeyBehavior: .wait, name: "second") {}
            try await recorder.wait { $0.named("TaskStore.waiting").count == 1 }
            gate.open()
            try await store.registry.drain()
            #expect(
                recorder.events.filter { $0.taskName == "second" }.lines == [
                    "TaskStore.added task=second key=a", "TaskStore.waiting task=second",
                    "TaskStore.started task=second",
                    "TaskStore.completed task=second",
                ]
            )
            store.addTask(forKey: "b", duplicateKeyBehavior: .debounce(for: .seconds(1)), name: "third") {}
            try await recorder.wait { $0.filter { $0.taskName == "third" }.count == 2 }
            store.cancelTask(forKey: "b")
            try await store.registry.drain()
            let third = recorder.events.filter { $0.taskName == "third" }
            #expect(
                third.lines == [
                    "TaskStore.added task=third key=b", "TaskStore.waiting task=third delay=1.0 seconds",
                    "TaskStore.skipped task=third cancelled=true",
                ]
            )
            #expect(recorder.events.unpaired == [])
        }
    }

    @MainActor @Test func aTaskThatGivesWayToANewerOneIsToldSo() async throws {
        let store = TaskStore<Int>()
        let events = try await EventLog.events {
            store.addTask(forKey: 1, name: "old") {}
            store.addTask(forKey: 1, name: "new") {}
            try await store.drain()
        }
        let cancelled = try #require(events.named("TaskStore.cancelled").first)
        let old = try #require(events.first { $0.taskName == "old" })
        #expect(cancelled.detail?.hasPrefix("superseded") == true)
        #expect(cancelled.subject == old.subject && events.named("TaskStore.cancelled").count == 1)
        #expect(events.named("TaskStore.skipped").map(\.subject) == [old.subject])
        #expect(events.unpaired == [])
    }
}

extension AsyncLifetime {
    fileprivate var identity: TaskEvent.Identity { TaskEvent.Identity(registry.source.number) }
}
