import Observation
import TaskControl
import TaskControlTesting
import Testing

// MARK: The document's types

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@Observable
// Changed for language mode 6: what its tasks change is on the main actor.
#if swift(>=6) && !MAIN_ACTOR_BY_DEFAULT
@MainActor
#endif
private final class MyModel {
    private enum TaskKey: Hashable {
        case doThing
        case viewTask
    }

    private(set) var isDoing = false
    private(set) var thing: String?

    private let taskStore = TaskStore<TaskKey>()

    func doThing() -> Task<Void, Never> {
        isDoing = true
        return taskStore.addTask(forKey: .doThing) {
            self.thing = try? await Backend.answer("thing")
            self.isDoing = false
        }
    }

    func viewTask() -> Task<Void, Never> {
        taskStore.addTask(forKey: .viewTask) {
            await doWork()
        }
    }

    func emptyViewTask() -> Task<Void, Never> {
        taskStore.addTask(forKey: .viewTask) {
            // Nothing yet.
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
private struct MyView: View {
    @Bindable var model: MyModel

    var body: some View {
        VStack {
            // Content.
        }
        .task {
            await model.viewTask().cancellableValue
        }
    }
}

// MARK: - Models and views

@Suite(.timeLimit(.minutes(15)))
#if swift(>=6) && !MAIN_ACTOR_BY_DEFAULT
@MainActor
#endif
struct TaskStoreModelDocumentTests {
    let backend = HeldBackend()

    @Test @MainActor @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func theTaskOfAViewThatDisappearsIsCancelled() async throws {
        let body = try #require(MyView(model: MyModel()).body as? TaskView)
        let appearance = backend.serving { body.appear() }
        try await backend.begun.wait()

        appearance.cancel()

        try await backend.cancelled.wait()
        await appearance.value
    }

    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func cancellingWhoAwaitsACancellableValueCancelsTheTask() async throws {
        let model = MyModel()
        let waiting = backend.serving {
            Task { await model.viewTask().cancellableValue }
        }
        try await backend.begun.wait()

        waiting.cancel()

        try await backend.cancelled.wait()
        await waiting.value
    }

    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func aTaskWithNothingToDoEnds() async {
        let model = MyModel()
        let task = model.emptyViewTask()

        await task.value

        #expect(!task.isCancelled)
        withExtendedLifetime(model) {}
    }

    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func theStateCanBeReadWhileATaskRunsAndWhenItHasEnded() async throws {
        let model = MyModel()
        let task = backend.serving { model.doThing() }
        try await backend.begun.wait()
        #expect(model.isDoing)
        #expect(model.thing == nil)

        backend.released.open()
        await task.value

        #expect(!model.isDoing)
        #expect(model.thing == "thing")
    }
}

// MARK: - Duplicate keys

@Suite(.timeLimit(.minutes(15)))
struct DuplicateKeyDocumentTests {
    let log = OrderRecorder<String>()
    let previous = HeldBackend()
    let store = TaskStore<String>()

    @Test func byDefaultThePreviousTaskIsCancelled() async throws {
        let first = try await startPrevious()

        let second = store.addTask(forKey: "key") { log.record("new") }
        try await previous.cancelled.wait()
        await first.value
        await second.value

        #expect(Set(log.events) == ["previous ended", "new"])
    }

    @Test func cancelPreviousWithoutWaitingLetsThemOverlap() async throws {
        let begun = Gate()
        let slow = Gate()
        let newEnded = Gate()
        let first = store.addTask(forKey: "key") {
            begun.open()
            try? await Gate().wait()
            log.record("cancelled")
            // Not cancelled itself: the previous task takes its time.
            await Task { try? await slow.wait() }.value
            log.record("previous ended")
        }
        try await begun.wait()

        let second = store.addTask(forKey: "key", duplicateKeyBehavior: .cancelPrevious(wait: false), priority: nil) {
            log.record("new")
            newEnded.open()
        }
        try await newEnded.wait()
        slow.open()
        await first.value
        await second.value

        #expect(log.events.last == "previous ended")
        #expect(Set(log.events) == ["cancelled", "new", "previous ended"])
    }

    @Test func cancelPreviousAndWaitStartsTheNewTaskWhenTheOldHasEnded() async throws {
        try await startPrevious()

        let second = store.addTask(forKey: "key", duplicateKeyBehavior: .cancelPrevious(wait: true), priority: .high) {
            log.record("new")
        }
        try await previous.cancelled.wait()
        await second.value

        #expect(log.events == ["previous ended", "new"])
    }

    @Test func waitStartsTheNewTaskWhenTheOldHasEndedUncancelled() async throws {
        let first = try await startPrevious()

        let second = store.addTask(forKey: "key", duplicateKeyBehavior: .wait) { log.record("new") }
        previous.released.open()
        await second.value

        #expect(!first.isCancelled)
        #expect(log.events == ["previous ended", "new"])
    }

    @Test func runConcurrentlyStartsTheNewTaskBesideTheOld() async throws {
        let first = try await startPrevious()

        let newEnded = Gate()
        let second = store.addTask(forKey: "key", duplicateKeyBehavior: .runConcurrently) {
            log.record("new")
            newEnded.open()
        }
        try await newEnded.wait()
        previous.released.open()
        await first.value
        await second.value

        #expect(!first.isCancelled)
        #expect(log.events == ["new", "previous ended"])
    }

    @Test func preferPreviousRunsNoNewTask() async throws {
        try await startPrevious()

        let second = store.addTask(forKey: "key", duplicateKeyBehavior: .preferPrevious) { log.record("new") }
        previous.released.open()
        await second.value
        try await store.drain()

        #expect(log.events == ["previous ended"])
    }

    @Test func aBehaviorIsAHashableValue() {
        let behaviors: [TaskStoreDuplicateKeyBehavior] = [
            .cancelPrevious(wait: true), .cancelPrevious(wait: false), .wait, .runConcurrently, .preferPrevious,
        ]

        #expect(Set(behaviors + behaviors).count == 5)
    }

    @Test func theOptionsOfABehaviorAreThoseOfTheDocument() {
        func options(_ behavior: TaskStoreDuplicateKeyBehavior) -> [Bool] {
            [behavior.preferPrevious, behavior.cancelPrevious, behavior.waitForPrevious, behavior.runNewTask]
        }

        #expect(options(.wait) == [false, false, true, true])
        #expect(options(.cancelPrevious(wait: true)) == [false, true, true, true])
        #expect(options(.cancelPrevious(wait: false)) == [false, true, false, true])
        #expect(options(.runConcurrently) == [false, false, false, true])
        #expect(options(.preferPrevious) == [true, false, true, false])
    }

    /// The parameter is deprecated: this test is, too, so that the call is no warning.
    @available(*, deprecated)
    @Test func theIsolationCanBePassed() async {
        @discardableResult
        func addTask(
            forKey key: String,
            duplicateKeyBehavior: TaskStoreDuplicateKeyBehavior = .cancelPrevious(wait: false),
            priority: TaskPriority? = nil,
            isolation: isolated (any Actor)? = #isolation,
            operation: @escaping @Sendable () async -> Void
        ) -> Task<Void, Never> {
            store.addTask(
                forKey: key,
                duplicateKeyBehavior: duplicateKeyBehavior,
                priority: priority,
                isolation: isolation,
                operation: operation
            )
        }

        await addTask(forKey: "key") { [log] in log.record("new") }.value
        await store.addTask(forKey: "key", isolation: nil) { [log] in log.record("newer") }.value

        #expect(log.events == ["new", "newer"])
    }

    @Test func aStoreTakesOperationsThatAreSendableFunctions() async {
        // Changed for the default isolation: a stored function says that it runs on no actor.
        #if MAIN_ACTOR_BY_DEFAULT
        let operation: @concurrent @Sendable () async -> Void = { [log] in log.record("new") }
        #else
        let operation: @Sendable () async -> Void = { [log] in log.record("new") }
        #endif

        await store.addTask(forKey: "key", operation: operation).value

        #expect(log.events == ["new"])
    }

    /// Starts a task under the key, which then waits for `previous` to be released.
    @discardableResult
    private func startPrevious() async throws -> Task<Void, Never> {
        let task = previous.serving {
            store.addTask(forKey: "key") {
                await doWork()
                log.record("previous ended")
            }
        }
        try await previous.begun.wait()
        return task
    }
}
