#if Metrics
internal import TaskControl
internal import _TaskControlShared

/// Converts events to measurements. For each subject (a task or a call that has not ended), it stores the current phase and the time at which the
/// phase began. A pure state machine.
///
///              begins              .running               .waiting
///     (nothing) ───► waiting ─────────────────► running ─────────────────► waiting …
///                       │ time waited               │ time run
///                       └─────────► (nothing) ◄─────┘
///                            ends
///
/// A subject that has raised a meter is stored, and lowers the meter when it is removed. An event changes no meter if it is delivered after the end
/// of its subject, or if the subject began before the observer was added.
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

    /// The number of tasks and calls that have begun and not ended.
    var count: Int { subjects.count }

    mutating func receive(_ event: TaskEvent) -> [Measurement] {
        var measurements = byItself(event)
        guard let subject = event.subject else { return measurements }
        switch event.change {
        case .began(let phase): begin(subject, phase, event, &measurements)
        case .entered(let phase): move(subject, phase, event, &measurements)
        case .noted: break
        case .ended(let outcome): end(subject, outcome, event, &measurements)
        }
        return measurements
    }

    /// Removes all stored tasks and calls.
    ///
    /// - Returns: The measurements that lower all meters that these tasks and calls have raised.
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
        _ phase: TaskEvent.Phase,
        _ event: TaskEvent,
        _ measurements: inout [Measurement]
    ) {
        let subject = Subject(
            dimensions: dimensions(event, event.activity),
            phase: phase,
            since: event.time
        )
        subjects[identity] = subject
        measurements.append(.count(MetricName(.started, subject.dimensions)))
        measurements.append(.raise(MetricName(.inFlight, subject.dimensions)))
        if subject.phase == .waiting { measurements.append(.raise(MetricName(.waiting, subject.dimensions))) }
    }

    private mutating func move(
        _ identity: TaskEvent.Identity,
        _ phase: TaskEvent.Phase,
        _ event: TaskEvent,
        _ measurements: inout [Measurement]
    ) {
        guard let subject = subjects[identity], subject.phase != phase else { return }
        subjects[identity]?.phase = phase
        subjects[identity]?.since = event.time
        leave(subject, event, &measurements)
        if phase == .waiting { measurements.append(.raise(MetricName(.waiting, subject.dimensions))) }
    }

    private mutating func end(
        _ identity: TaskEvent.Identity,
        _ outcome: TaskEvent.Outcome,
        _ event: TaskEvent,
        _ measurements: inout [Measurement]
    ) {
        guard let subject = subjects.removeValue(forKey: identity) else { return }
        // The time of a wait that was cancelled is not recorded.
        let isGivenUp = subject.phase == .waiting && (outcome == .cancelled || outcome == .skipped)
        leave(subject, event, &measurements, isTimed: !isGivenUp)
        measurements.append(.lower(MetricName(.inFlight, subject.dimensions)))
        let outcome = MetricName.Dimension(name: "outcome", value: outcome.rawValue)
        measurements.append(.count(MetricName(.ended, subject.dimensions + [outcome])))
    }

    /// Adds the measurements for the end of a phase of a task or call.
    ///
    /// - Parameters:
    ///   - subject: The task or call, with the phase that has ended.
    ///   - event: The event that ended the phase.
    ///   - measurements: Receives the measurements.
    ///   - isTimed: Whether the duration of the phase is recorded.
    private func leave(
        _ subject: Subject,
        _ event: TaskEvent,
        _ measurements: inout [Measurement],
        isTimed: Bool = true
    ) {
        let isWaiting = subject.phase == .waiting
        if isWaiting { measurements.append(.lower(MetricName(.waiting, subject.dimensions))) }
        guard isTimed else { return }
        let time = max(.zero, event.time - subject.since)
        measurements.append(.time(MetricName(isWaiting ? .waitTime : .runTime, subject.dimensions), time))
    }

    // MARK: Events

    /// Returns the measurements that depend only on the event, and not on its subject.
    private func byItself(_ event: TaskEvent) -> [Measurement] {
        if event.severity == .warning {
            let kind = MetricName.Dimension(name: "kind", value: event.kind.rawValue)
            return [.count(MetricName(.mistakes, dimensions(event, event.primitive.rawValue) + [kind]))]
        }
        if event.kind == .joined {
            return [.count(MetricName(.joined, dimensions(event, event.primitive.rawValue)))]
        }
        if event.kind == .retrying { return [.count(MetricName(.retries))] }
        if event.outcome != nil, let status = event.status {
            let group = (100..<600).contains(status) ? "\(status / 100)xx" : "other"
            return [.count(MetricName(.httpResponses, [MetricName.Dimension(name: "status", value: group)]))]
        }
        return []
    }

    /// Returns the dimensions of the metrics for an event. They never contain a key, the name of a task or a request,
    /// since the number of different keys, names and requests is not bounded.
    ///
    /// - Parameter activity: The value of the dimension `primitive`.
    private func dimensions(_ event: TaskEvent, _ activity: String) -> [MetricName.Dimension] {
        let primitive = MetricName.Dimension(name: "primitive", value: activity)
        // The same names for all metrics: some systems require it.
        return hasOwnerNames
            ? [primitive, MetricName.Dimension(name: "owner", value: event.ownerName ?? "")] : [primitive]
    }
}
#endif
