internal import TaskControl
public import TaskControlTrace

extension Simulation.Failure {
    /// Writes the steps of the failure to a file: as an HTML page with one row per task, or as a trace for the viewer
    /// Perfetto.
    ///
    /// If a shorter schedule was found (``shortestSchedule``), these are the steps of that schedule; otherwise, those of the
    /// failed run.
    ///
    /// The time axis shows virtual time plus one microsecond per step: virtual time does not change between most steps,
    /// and the order of the steps must remain visible.
    ///
    /// - Parameters:
    ///   - format: An HTML page for a browser, or JSON for Perfetto.
    ///   - path: The path of the file. It is relative to the working directory if it does not begin with `/`. An
    ///     existing file is replaced.
    /// - Throws: `TraceRecorder.WriteError` if the file cannot be written.
    public func writeTrace(_ format: TraceRecorder.Format = .html, to path: String) throws(TraceRecorder.WriteError) {
        try recorder.write(format, to: path, title: title)
    }

    /// Returns the content that ``writeTrace(_:to:)`` writes to a file, for example to attach it to a test.
    ///
    /// - Parameter format: An HTML page for a browser, or JSON for Perfetto.
    public func trace(as format: TraceRecorder.Format = .html) -> String {
        recorder.text(as: format, title: title)
    }

    private var title: String { "seed \(seed): \(reason)" }

    private var recorder: TraceRecorder {
        let events = SimulationTrace(steps: shrunk?.steps ?? steps).events
        let recorder = TraceRecorder(capacity: max(events.count, 1))
        for event in events { recorder.receive(event) }
        return recorder
    }
}

/// The steps of a schedule, converted to events from which a trace is drawn: one bar per task shows when the task runs
/// and waits.
struct SimulationTrace {
    private(set) var events: [TaskEvent] = []
    private var begun: Set<Int> = []

    private static let owner = TaskEvent.Identity(1)
    private static let length = Duration.microseconds(1)

    init(steps: [SimulationStep]) {
        for step in steps { append(step) }
    }

    private mutating func append(_ step: SimulationStep) {
        guard let task = step.task else { return }
        let time = step.time + Self.length * step.number
        if begun.insert(task.number).inserted { append(.enqueued, .began(.waiting), of: task, at: time) }
        switch step.event {
        case .note(let text):
            append(.noted, .noted, of: task, at: time, text)
        case .blocked(let how):
            append(.noted, .noted, of: task, at: time, "blocks its thread \(how)")
        case .ran(let state):
            append(.running, .entered(.running), of: task, at: time)
            append(.noted, .noted, of: task, at: time, (step.actor.map { "on \($0), then " } ?? "") + "\(state)")
            let end = time + Self.length
            if state == .ended {
                append(.completed, .ended(.completed), of: task, at: end)
            } else {
                append(.waiting, .entered(.waiting), of: task, at: end)
            }
        case .actorTurn, .action: break
        }
    }

    private mutating func append(
        _ kind: TaskEvent.Kind,
        _ change: TaskEvent.Change,
        of task: SimulationTask,
        at time: Duration,
        _ text: String? = nil
    ) {
        var event = TaskEvent(
            .simulation,
            kind,
            change,
            owner: Self.owner,
            subject: TaskEvent.Identity(UInt64(task.number) + 1, of: 1),
            taskName: "\(task)",
            detail: text
        )
        event.time = time
        events.append(event)
    }
}
