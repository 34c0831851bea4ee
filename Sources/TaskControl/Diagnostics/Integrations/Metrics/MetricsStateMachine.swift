#if Metrics
/// Makes measurements of events, and remembers of each subject what its next event needs: what it does, and since when.
///
///              begins              .running               .waiting
///     (nothing) ───► waiting ─────────────────► running ─────────────────► waiting …
///                       │ time waited               │ time run
///                       └─────────► (nothing) ◄─────┘
///                            ends
///
/// Whatever moves up has come from this table, and moves down when it leaves it. So an event that comes after its subject's end, or
/// whose subject began before somebody listened, moves nothing.
struct MetricsStateMachine {
    private struct Subject {
        let dimensions: [MetricName.Dimension]
        var phase: TaskEvent.Phase
        var since: Duration
    }

    private let hasOwnerNames: Bool
    private var subjects: [TaskEvent.Identity: Subject] = [:]

    init(hasOwnerNames: Bool) {
        self.hasOwnerNames = hasOwnerNames
    }

    /// How many subjects are in flight.
    var count: Int { subjects.count }

    mutating func receive(_ event: TaskEvent) -> [Measurement] {
        var measurements = byItself(event)
        guard let subject = event.subject else { return measurements }
        switch event.stage {
        case .begins: begin(subject, event, &measurements)
        case .goesOn: move(subject, event, &measurements)
        case .ends: end(subject, event, &measurements)
        }
        return measurements
    }

    /// Forgets all subjects.
    ///
    /// - Returns: What takes back what they have raised.
    mutating func clear() -> [Measurement] {
        defer { subjects = [:] }
        return subjects.values.flatMap { subject in
            let inFlight = Measurement.lower(MetricName(.inFlight, subject.dimensions))
            return subject.phase == .waiting
                ? [inFlight, .lower(MetricName(.waiting, subject.dimensions))] : [inFlight]
        }
    }

    // MARK: Subjects

    private mutating func begin(
        _ identity: TaskEvent.Identity,
        _ event: TaskEvent,
        _ measurements: inout [Measurement]
    ) {
        let subject = Subject(
            dimensions: dimensions(event, event.activity),
            phase: event.phase ?? .running,
            since: event.time
        )
        subjects[identity] = subject
        measurements.append(.count(MetricName(.started, subject.dimensions)))
        measurements.append(.raise(MetricName(.inFlight, subject.dimensions)))
        if subject.phase == .waiting { measurements.append(.raise(MetricName(.waiting, subject.dimensions))) }
    }

    private mutating func move(
        _ identity: TaskEvent.Identity,
        _ event: TaskEvent,
        _ measurements: inout [Measurement]
    ) {
        guard let phase = event.phase, let subject = subjects[identity], subject.phase != phase else { return }
        subjects[identity]?.phase = phase
        subjects[identity]?.since = event.time
        leave(subject, event, &measurements)
        if phase == .waiting { measurements.append(.raise(MetricName(.waiting, subject.dimensions))) }
    }

    private mutating func end(
        _ identity: TaskEvent.Identity,
        _ event: TaskEvent,
        _ measurements: inout [Measurement]
    ) {
        guard let subject = subjects.removeValue(forKey: identity) else { return }
        leave(subject, event, &measurements)
        measurements.append(.lower(MetricName(.inFlight, subject.dimensions)))
        let outcome = MetricName.Dimension(name: "outcome", value: event.outcome)
        measurements.append(.count(MetricName(.ended, subject.dimensions + [outcome])))
    }

    /// A phase is over.
    private func leave(_ subject: Subject, _ event: TaskEvent, _ measurements: inout [Measurement]) {
        let time = max(.zero, event.time - subject.since)
        switch subject.phase {
        case .running:
            measurements.append(.time(MetricName(.runTime, subject.dimensions), time))
        case .waiting:
            measurements.append(.lower(MetricName(.waiting, subject.dimensions)))
            // A wait that was given up is not one that was so long.
            if event.kind != .skipped, event.kind != .left {
                measurements.append(.time(MetricName(.waitTime, subject.dimensions), time))
            }
        }
    }

    // MARK: Events

    /// What an event means whether or not its subject is there.
    private func byItself(_ event: TaskEvent) -> [Measurement] {
        if event.isMistake {
            let kind = MetricName.Dimension(name: "kind", value: event.kind.rawValue)
            return [.count(MetricName(.mistakes, dimensions(event, event.primitive.rawValue) + [kind]))]
        }
        if event.kind == .joined {
            return [.count(MetricName(.joined, dimensions(event, event.primitive.rawValue)))]
        }
        if event.kind == .running, event.primitive == .retry { return [.count(MetricName(.retries))] }
        if event.stage == .ends, let status = event.status {
            let group = (100..<600).contains(status) ? "\(status / 100)xx" : "other"
            return [.count(MetricName(.httpResponses, [MetricName.Dimension(name: "status", value: group)]))]
        }
        return []
    }

    /// Never a key, the name of a task or a request: of those there are too many.
    private func dimensions(_ event: TaskEvent, _ activity: String) -> [MetricName.Dimension] {
        let primitive = MetricName.Dimension(name: "primitive", value: activity)
        // The same names for all, as some systems demand.
        return hasOwnerNames
            ? [primitive, MetricName.Dimension(name: "owner", value: event.ownerName ?? "")] : [primitive]
    }
}

extension TaskEvent {
    /// How a subject has ended, in a word: the kind of its end, or that it was cancelled.
    fileprivate var outcome: String {
        switch kind {
        case .left: Kind.cancelled.rawValue
        case .failed, .gaveUp: isCancelled ? Kind.cancelled.rawValue : kind.rawValue
        default: kind.rawValue
        }
    }
}
#endif
