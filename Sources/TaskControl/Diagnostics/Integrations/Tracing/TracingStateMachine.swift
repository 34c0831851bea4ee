#if Tracing
/// Which span belongs to which subject, and what an event means for it.
///
/// A caller that joins a flight has a span of its own, from when it joins until the flight ends, or it leaves. What is told of a subject that
/// is not there, because it has ended or began before somebody listened, means nothing.
struct TracingStateMachine<Span> {
    private struct Subject {
        let span: Span
        var joiners: [TaskEvent.TaskIdentity: Span] = [:]
        var joinedCount = 0
    }

    enum Action {
        case nothing
        /// Make a span, and bring it: see ``begin(_:_:)``.
        case begin(TaskEvent.Identity)
        /// Make a span that is linked to that of a flight, and bring it: see ``join(_:_:_:)``.
        case join(TaskEvent.Identity, TaskEvent.TaskIdentity, flight: Span)
        case mark(Span)
        /// A caller has left its flight.
        case leave(Span)
        case end(Span, joiners: [Span], joinedCount: Int)
    }

    private let primitives: Set<TaskEvent.Primitive>
    private var subjects: [TaskEvent.Identity: Subject] = [:]

    init(_ primitives: Set<TaskEvent.Primitive>) {
        self.primitives = primitives
    }

    /// How many spans there are, for subjects and those who have joined them.
    var count: Int { subjects.values.reduce(0) { $0 + 1 + $1.joiners.count } }

    mutating func receive(_ event: TaskEvent) -> Action {
        guard let identity = event.subject else { return .nothing }
        switch event.stage {
        case .begins:
            return primitives.contains(event.primitive) ? .begin(identity) : .nothing
        case .goesOn:
            // Not the whole subject: a copy of that would make one of its joiners too.
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
        case .ends:
            guard let subject = subjects.removeValue(forKey: identity) else { return .nothing }
            return .end(subject.span, joiners: Array(subject.joiners.values), joinedCount: subject.joinedCount)
        }
    }

    /// Brings the span that was made for a subject. Nothing else is told of that before its beginning has been heard.
    mutating func begin(_ identity: TaskEvent.Identity, _ span: Span) {
        subjects[identity] = Subject(span: span)
    }

    /// Brings the span that was made for one who has joined a flight.
    ///
    /// - Returns: Whether the flight is still there. If not, the span is to be ended.
    mutating func join(_ identity: TaskEvent.Identity, _ task: TaskEvent.TaskIdentity, _ span: Span) -> Bool {
        guard subjects[identity] != nil else { return false }
        subjects[identity]?.joiners[task] = span
        return true
    }

    /// Forgets all subjects.
    ///
    /// - Returns: Their spans.
    mutating func clear() -> [Span] {
        defer { subjects = [:] }
        return subjects.values.flatMap { [$0.span] + $0.joiners.values }
    }
}
#endif
