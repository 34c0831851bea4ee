@_spi(Observers) internal import TaskControl
internal import TaskControlTesting
internal import _TaskControlShared

/// An observer of the tasks, the turns of tasks in queues, and the calls that this library has begun on behalf of one
/// test and that have not ended. All of these are called subjects.
///
/// A task-local identifies the scope on whose behalf code runs, so that tests that run in parallel do not observe each other's tasks. A subject that
/// begins within a scope also belongs to all enclosing scopes.
final class TestScope: TaskObserver {
    @TaskLocal private static var current: TestScope?

    /// A task, a turn of a task in a queue, or a call of this library that has not ended.
    struct Subject {
        let primitive: TaskEvent.Primitive
        let number: UInt64
        let key: String?
        let ownerName: String?
        let isTask: Bool
        let origin: Origin?
        var taskName: String?
        var phase: TaskEvent.Phase
        var isCancelled = false
    }

    private struct State {
        var subjects: [TaskEvent.Identity: Subject] = [:]
        var count: UInt64 = 0
        /// The gate to open when the last task has ended; `nil` if no caller waits for this.
        var end: Gate?

        var tasks: [Subject] { subjects.values.filter(\.isTask).sorted { $0.number < $1.number } }
    }

    private let outer: TestScope?
    private let recordsOrigins: Bool
    private let state = Locked(State())

    private init(recordsOrigins: Bool) {
        outer = Self.current
        self.recordsOrigins = recordsOrigins
    }

    /// Calls a function with a new scope. The scope observes the tasks and calls (see ``Subject``) that begin in
    /// functions that run with ``run(_:)``, until the function returns.
    ///
    /// - Parameter recordsOrigins: Whether to record the source location at which each task is started.
    static func observing<Result>(
        recordsOrigins: Bool = false,
        _ body: (TestScope) async throws -> Result
    ) async rethrows -> Result {
        let scope = TestScope(recordsOrigins: recordsOrigins)
        let observation = TaskDiagnostics.observe(scope)
        defer { observation.end() }
        return try await body(scope)
    }

    /// Calls the function of a test. Tasks and calls (see ``Subject``) that begin in it belong to this scope.
    func run(_ function: @concurrent @Sendable () async throws -> Void) async throws {
        try await Self.$current.withValue(self) { try await function() }
    }

    /// Calls a function. Tasks and calls (see ``Subject``) that begin in it belong to no scope.
    static func unobserved<Result>(_ body: () throws -> Result) rethrows -> Result {
        try $current.withValue(nil) { try body() }
    }

    /// The tasks and turns of tasks (see ``Subject``) that have not ended, in the order in which they were started.
    var tasks: [Subject] { state.withLock { $0.tasks } }

    /// The identities of the tasks and calls (see ``Subject``) that have not ended. A `TaskSnapshot` contains the same
    /// identities.
    var identities: Set<TaskEvent.Identity> { state.withLock { Set($0.subjects.keys) } }

    /// Waits until all tasks of the scope have ended. Only one caller may wait at a time.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled.
    func waitForTasks() async throws {
        let end = Gate()
        let isEmpty = state.withLock { state in
            state.end = end
            return !state.subjects.values.contains { $0.isTask }
        }
        if !isEmpty { try await end.wait() }
    }

    // MARK: Observing

    func receive(_ event: TaskEvent) {
        guard let id = event.subject else { return }
        switch event.change {
        case .began: if isAround(Self.current) { begin(id, event) }
        case .entered, .noted: goOn(id, event)
        case .ended: end(id)
        }
    }

    private func isAround(_ scope: TestScope?) -> Bool {
        var scope = scope
        while let one = scope {
            if one === self { return true }
            scope = one.outer
        }
        return false
    }

    private func begin(_ id: TaskEvent.Identity, _ event: TaskEvent) {
        let isTask = event.startsTask
        let origin = recordsOrigins && isTask ? Origin.here : nil
        state.withLock { state in
            state.count += 1
            state.subjects[id] = Subject(
                primitive: event.primitive,
                number: state.count,
                key: event.key,
                ownerName: event.ownerName,
                isTask: isTask,
                origin: origin,
                taskName: event.taskName,
                phase: event.phase ?? .waiting
            )
        }
    }

    private func goOn(_ id: TaskEvent.Identity, _ event: TaskEvent) {
        state.withLock { state in
            guard var subject = state.subjects.removeValue(forKey: id) else { return }
            subject.taskName = subject.taskName ?? event.taskName
            subject.phase = event.phase ?? subject.phase
            if event.kind == .cancelled { subject.isCancelled = true }
            state.subjects[id] = subject
        }
    }

    private func end(_ id: TaskEvent.Identity) {
        let end = state.withLock { state -> Gate? in
            guard state.subjects.removeValue(forKey: id)?.isTask == true else { return nil }
            return state.subjects.values.contains { $0.isTask } ? nil : state.end
        }
        end?.open()
    }
}

extension TestScope.Subject: CustomStringConvertible {
    /// One line with the primitive (the type or function of this library), the names, the state and the origin of the
    /// subject.
    var description: String {
        var words = "\(primitive)"
        if let ownerName { words += " \"\(ownerName.flat)\"" }
        words += ", task"
        if let taskName { words += " \"\(taskName.flat)\"" } else { words += " without a name" }
        if let key { words += ", key \(key.flat)" }
        words += phase == .waiting ? ", waits" : ", runs"
        if isCancelled { words += " although it was cancelled" }
        if let place = origin?.place { words += ", started at \(place)" }
        return words
    }
}

extension TaskEvent {
    /// Whether the event begins a task or the turn of a task. `false` for a call within its caller's task, and for a wait.
    fileprivate var startsTask: Bool {
        // The task of a time limit is a child task, which its caller cannot leave behind.
        primitive.runsInOwnTask && primitive != .withTimeout && kind != .draining
    }
}
