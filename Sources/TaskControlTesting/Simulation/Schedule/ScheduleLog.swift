/// The last steps of a schedule, recorded without text: the steps of all schedules are recorded, and hardly any are read.
final class ScheduleLog {
    /// The state of a task, as in ``SimulationTaskState``, with the number of an awaited task and the type of an actor.
    ///
    /// A time is in nanoseconds. This type and its like are trivial, so that a step is recorded fast in a debug build, too.
    enum State {
        case ready, yielded, awaitingContinuation, awaitingChildTasks, ended, unknown
        case sleeping(until: Int64)
        case awaitingTask(Int?)
        case awaitingActor(TypeID)
        case outside(executor: TypeID)
    }

    enum Event {
        case ran(State)
        case actorTurn
        case action
        /// A note, by the index of its text and its location.
        case note(Int)
        /// A blocked call, by the index of its text.
        case blocked(Int)
    }

    private struct Entry {
        let number: Int
        let time: Int64
        let task: Int?
        let actor: TypeID?
        let event: Event
    }

    /// At least this many of the last steps are kept: all steps of a schedule with the default of `maxSteps`.
    private static let capacity = 100_000

    // Exclusivity is not checked, as for the state of a step in the engine.
    @exclusivity(unchecked) private var entries = FlatArray<Entry>()
    private var texts: [(text: String, location: String?)] = []
    /// The tasks by their numbers. Set when the schedule has ended.
    var tasks: [SimulationTask] = []

    func append(_ event: Event, of task: Int?, on actor: TypeID?, number: Int, at time: Int64) {
        if entries.count == 2 * Self.capacity { entries.removeFirst(Self.capacity) }
        entries.append(Entry(number: number, time: time, task: task, actor: actor, event: event))
    }

    /// Keeps a text, and returns its index for an event.
    func text(_ text: String, location: String? = nil) -> Int {
        texts.append((text, location))
        return texts.count - 1
    }

    // MARK: Text

    var steps: [SimulationStep] { (0..<entries.count).map { step(entries[$0]) } }

    private func step(_ entry: Entry) -> SimulationStep {
        var location: String?
        let event: SimulationStep.Event
        switch entry.event {
        case .ran(let state): event = .ran(self.state(state))
        case .actorTurn: event = .actorTurn
        case .action: event = .action
        case .blocked(let index): event = .blocked(texts[index].text)
        case .note(let index):
            event = .note(texts[index].text)
            location = texts[index].location
        }
        return SimulationStep(
            number: entry.number,
            time: .nanoseconds(entry.time),
            task: entry.task.map { tasks[$0] },
            actor: entry.actor.map { "\($0.type)" },
            event: event,
            location: location
        )
    }

    func state(_ state: State) -> SimulationTaskState {
        switch state {
        case .ready: .ready
        case .yielded: .yielded
        case .awaitingContinuation: .awaitingContinuation
        case .awaitingChildTasks: .awaitingChildTasks
        case .ended: .ended
        case .unknown: .unknown
        case .sleeping(let deadline): .sleeping(until: .nanoseconds(deadline))
        case .awaitingTask(let number): .awaitingTask(number.map { tasks[$0] })
        case .awaitingActor(let id): .awaitingActor("\(id.type)")
        case .outside(let id): .outside(executor: "\(id.type)")
        }
    }

    /// Describes the first step in which two runs differ.
    func divergence(from other: ScheduleLog) -> String {
        let (one, two) = (steps, other.steps)
        let index = zip(one, two).enumerated().first { $1.0 != $1.1 }?.offset ?? min(one.count, two.count)
        func text(_ steps: [SimulationStep]) -> String {
            index < steps.count ? "\(steps[index])" : "ended after \(steps.count) steps"
        }
        return "the runs part at step \(index):\n  the first: \(text(one))\n  the second: \(text(two))\n"
    }
}
