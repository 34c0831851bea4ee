/// A task of a simulation.
package struct SimulationTask: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The number of the task in the order of creation. The body of the simulation has the number 0.
    package let number: Int
    /// The name of the task; `nil` if it has none. The simulation itself names three kinds of tasks: "body" is the body
    /// of the simulation, "async let" is the task of an `async let`, and "a timer" is a task with which the runtime
    /// ends a sleep.
    package let name: String?
    /// The number of the task that created this task; `nil` if the creator is unknown.
    package let creator: Int?

    /// The number and the name of the task, such as `#3 worker`.
    package var description: String { "#\(number)" + (name.map { " \($0)" } ?? "") }
}

/// The state of a task after a step, or at the end of a simulation.
package enum SimulationTaskState: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The task can continue.
    case ready
    /// The task gave up its turn with `Task.yield()`, and can continue.
    case yielded
    /// The task sleeps until the given virtual time, measured from the beginning of the run.
    case sleeping(until: Duration)
    /// The task waits for another task, or for a task outside the simulation if the value is `nil`.
    case awaitingTask(SimulationTask?)
    /// The task waits for a continuation to be resumed.
    case awaitingContinuation
    /// The task waits for its child tasks.
    case awaitingChildTasks
    /// The task waits for its turn on an actor of the given type.
    case awaitingActor(String)
    /// The task has left the simulation for an executor of the given type.
    case outside(executor: String)
    /// The task has ended.
    case ended
    /// The task belongs to a process of a simulated network that has crashed.
    case lost
    /// The state cannot be read: either the memory of the task belongs to its parent, as for an `async let`, or the
    /// platform lacks `SimulationCapabilities.taskStates`.
    case unknown

    /// The state as a predicate, such as "waits for #3 worker".
    package var description: String {
        switch self {
        case .ready: "can continue"
        case .yielded: "yielded, and can continue"
        case .sleeping(let deadline): "sleeps until \(deadline.inMilliseconds)"
        case .awaitingTask(let task): "waits for \(task.map { "\($0)" } ?? "a task outside the simulation")"
        case .awaitingContinuation: "waits for a continuation to be resumed"
        case .awaitingChildTasks: "waits for its child tasks"
        case .awaitingActor(let actor): "waits for its turn on \(actor)"
        case .outside(let executor): "went to \(executor), outside the simulation"
        case .ended: "ended"
        case .lost: "was lost in a crash"
        case .unknown: "ran"
        }
    }
}

/// A task that had not ended when its simulation failed.
package struct SimulationUnfinishedTask: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The task that had not ended.
    package let task: SimulationTask
    /// The task that created ``task``; `nil` if the creator is unknown.
    package let creator: SimulationTask?
    /// The state of the task, which shows for what the task waits.
    package let state: SimulationTaskState

    /// One line with the task, its creator, and its state.
    package var description: String {
        let state = state == .unknown ? "has not ended" : "\(state)"
        return "\(task)" + (creator.map { " (created by \($0))" } ?? "") + " \(state)"
    }
}

/// One step of a schedule: a task ran up to its next suspension, an actor did work that belongs to no task, an action
/// of ``Simulation/atAnyPoint(_:)`` ran, a call blocked the thread, or the program added a note.
package struct SimulationStep: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The kind of a step, and its details.
    package enum Event: Sendable, Hashable, Codable {
        /// The task ran, and was in the given state afterwards.
        case ran(SimulationTaskState)
        /// An actor did work that belongs to no task, such as an isolated `deinit`.
        case actorTurn
        /// The program called ``Simulation/note(_:fileID:filePath:line:column:)`` with the given text.
        case note(String)
        /// The closure that was passed to ``Simulation/atAnyPoint(_:)``, or the cancellation of ``Simulation/cancelAtAnyPoint(_:)``, ran.
        case action
        /// The task blocked its thread, which took virtual time. The text contains the duration and the name of the call.
        case blocked(String)
    }

    /// The number of jobs that had started before the step: 0 for the first job, 1 for the second. A note or a blocking
    /// call happens within a job that has already started: within the first job, its number is 1.
    package let number: Int
    /// The virtual time at the end of the step, measured from the beginning of the run.
    package let time: Duration
    /// The task of the step: the task that ran, that blocked its thread, or that added the note. For
    /// ``Event/actorTurn``, the task that gave the work to the actor. `nil` if the step belongs to no task.
    package let task: SimulationTask?
    /// The name of the type of the actor on which the task ran or, for ``Event/actorTurn``, of the actor that did the
    /// work. `nil` if no actor took part in the step.
    package let actor: String?
    /// The kind of the step, and its details.
    package let event: Event
    /// The source location of a note in the form `path:line:column`; `nil` for a note of a network, and for other events.
    package let location: String?

    /// One line with the time, the task and the event. The line of a note begins with the location of the note, in the
    /// form of a compiler's message, so that editors turn the location into a link.
    package var description: String {
        "\(location.map { "\($0): note: " } ?? "")\(time.inMilliseconds)  \(text)"
    }

    /// The text after the time.
    var text: String {
        let place = actor.map { " on \($0)" } ?? ""
        let label = task.map { "\($0)" }
        return switch event {
        case .ran(let state): "\(label ?? "an actor")\(place) \(state)"
        case .actorTurn: "an actor\(place) took its turn" + (label.map { ", for \($0)" } ?? "")
        case .note(let text) where location == nil: "network: \(text)" + (label.map { ", by \($0)" } ?? "")
        case .note(let text): "“\(text)”" + (label.map { ", by \($0)" } ?? "")
        case .blocked(let how): "\(label ?? "an actor") blocks its thread \(how)"
        case .action: "an action of the program, at a moment that the seed decides"
        }
    }
}

extension Duration {
    /// The duration as a text such as `1.500 ms`.
    var inMilliseconds: String {
        let (seconds, attoseconds) = components
        let (microseconds, hasOverflown) = seconds.multipliedReportingOverflow(by: 1_000_000)
        if hasOverflown { return "\(self)" }
        let rounded = microseconds + attoseconds / 1_000_000_000_000
        let fraction = String(rounded % 1_000)
        return "\(rounded / 1_000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction) ms"
    }
}
