#if Tracing
@_spi(Observers) internal import TaskControl

/// The spans of the tasks and calls (subjects) that have not ended. Decides whether an event begins a span, is added to one, or ends one. A pure
/// state machine.
///
/// A caller that joins a flight has a separate span, from the time at which it joins until the flight ends or the caller leaves. Events of a subject
/// without a span are ignored: the subject has ended, or began before the observer was added.
struct TracingStateMachine<Span> {
    private struct Subject {
        let span: Span
        var joiners: [TaskEvent.TaskIdentity: Span] = [:]
        var joinedCount = 0
    }

    enum Action {
        case nothing
        /// Create a span for the task or call (subject) with the given identity, and pass it to ``begin(_:_:)``.
        case begin(TaskEvent.Identity)
        /// Create a span for a caller that joins a flight (one run of an operation that several callers share), with a
        /// link to the span `flight`, and pass it to ``join(_:_:_:)``. The values are the identity of the flight, the
        /// identity of the caller's task, and the span of the flight.
        case join(TaskEvent.Identity, TaskEvent.TaskIdentity, flight: Span)
        case mark(Span)
        /// End the span of a caller that has left its flight.
        case leave(Span)
        case end(Span, TaskEvent.Outcome, joiners: [Span], joinedCount: Int)
    }

    /// The primitives (types and functions of TaskControl) whose tasks and calls have spans; `nil` for all.
    private let primitives: Set<TaskEvent.Primitive>?
    private var subjects: [TaskEvent.Identity: Subject] = [:]

    init(_ primitives: Set<TaskEvent.Primitive>?) {
        self.primitives = primitives
    }

    /// The number of spans that have not ended: those of tasks and calls, and those of callers that have joined
    /// flights.
    var count: Int { subjects.values.reduce(0) { $0 + 1 + $1.joiners.count } }

    mutating func receive(_ event: TaskEvent) -> Action {
        guard let identity = event.subject else { return .nothing }
        switch event.change {
        case .began:
            return primitives?.contains(event.primitive) ?? true ? .begin(identity) : .nothing
        case .entered, .noted:
            // Only the span is read: a copy of the whole subject would copy the joiners too.
            guard let span = subjects[identity]?.span else { return .nothing }
            if let task = event.task {
                if event.kind == .joined {
                    subjects[identity]?.joinedCount += 1
                    return .join(identity, task, flight: span)
                }
                if event.kind == .left, let joiner = subjects[identity]?.joiners.removeValue(forKey: task) {
                    return .leave(joiner)
                }
            }
            return .mark(span)
        case .ended(let outcome):
            guard let subject = subjects.removeValue(forKey: identity) else { return .nothing }
            return .end(subject.span, outcome, joiners: Array(subject.joiners.values), joinedCount: subject.joinedCount)
        }
    }

    /// Adds the span of the task or call (subject) with the given identity. Must be called before another event of the
    /// subject is received.
    mutating func begin(_ identity: TaskEvent.Identity, _ span: Span) {
        subjects[identity] = Subject(span: span)
    }

    /// Adds the span of a caller that has joined a flight.
    ///
    /// - Parameters:
    ///   - identity: The identity of the flight.
    ///   - task: The identity of the caller's task.
    ///   - span: The span of the caller.
    /// - Returns: Whether the flight still exists. If it does not, the caller must end the span.
    mutating func join(_ identity: TaskEvent.Identity, _ task: TaskEvent.TaskIdentity, _ span: Span) -> Bool {
        guard subjects[identity] != nil else { return false }
        subjects[identity]?.joiners[task] = span
        return true
    }

    /// Removes the spans of all tasks and calls, and of the callers that have joined flights.
    ///
    /// - Returns: The removed spans, which the caller must end.
    mutating func clear() -> [Span] {
        defer { subjects = [:] }
        return subjects.values.flatMap { [$0.span] + $0.joiners.values }
    }
}
#endif
