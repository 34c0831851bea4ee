/// The last steps of a schedule, recorded without text: the steps of all schedules are recorded, and hardly any are read.
struct ScheduleLog {
    /// The state of a task, as in ``SimulationTaskState``, with the number of an awaited task and the type of an actor.
    enum State {
        case ready, yielded, awaitingContinuation, awaitingChildTasks, ended, unknown
        case sleeping(until: Duration)
        case awaitingTask(Int?)
        case awaitingActor(any Any.Type)
        case outside(executor: String)
    }

    enum Event {
        case ran(State)
        case actorTurn
        case note(String, location: String)
        case action
        case blocked(String)
    }

    private struct Entry {
        let number: Int
        let time: Duration
        let task: Int?
        let actor: (any Any.Type)?
        let event: Event
    }

    /// At least this many of the last steps are kept: all steps of a schedule with the default of `maxSteps`.
    private static let capacity = 100_000

    private var entries: [Entry] = []
    /// The tasks by their numbers. Set when the schedule has ended.
    var tasks: [SimulationTask] = []

    mutating func append(_ event: Event, of task: Int?, on actor: (any Any.Type)?, number: Int, at time: Duration) {
        if entries.count == 2 * Self.capacity { entries.removeFirst(Self.capacity) }
        entries.append(Entry(number: number, time: time, task: task, actor: actor, event: event))
    }

    // MARK: Text

    var steps: [SimulationStep] { entries.map(step) }

    private func step(_ entry: Entry) -> SimulationStep {
        var location: String?
        let event: SimulationStep.Event
        switch entry.event {
        case .ran(let state): event = .ran(self.state(state))
        case .actorTurn: event = .actorTurn
        case .action: event = .action
        case .blocked(let how): event = .blocked(how)
        case .note(let text, let place):
            event = .note(text)
            location = place
        }
        return SimulationStep(
            number: entry.number,
            time: entry.time,
            task: entry.task.map { tasks[$0] },
            actor: entry.actor.map { "\($0)" },
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
        case .sleeping(let deadline): .sleeping(until: deadline)
        case .awaitingTask(let number): .awaitingTask(number.map { tasks[$0] })
        case .awaitingActor(let type): .awaitingActor("\(type)")
        case .outside(let executor): .outside(executor: executor)
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
