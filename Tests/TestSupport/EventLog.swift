package import TaskControl
package import TaskControlTesting

/// The events that a test causes: those that happen in its task, and in the tasks that stem from that.
package final class EventLog: TaskObserver {
    private static let shared: EventLog = {
        let log = EventLog()
        Diagnostics.keepQuiet()
        TaskDiagnostics.install(log)
        return log
    }()

    /// Detached tasks have none: what they do is looked for by its owner.
    @TaskLocal private static var witness: Witness?

    /// A closure that is called with an event when it comes, on its thread.
    private struct Witness: Sendable {
        let recorder = OrderRecorder<TaskEvent>()
        var reaction: (@Sendable (TaskEvent) -> Void)?

        /// Whether the event is the end of an object without an earlier event here. The task that delivers an event can hold the last reference to
        /// an observer of another test, and with it to that test's objects.
        func isOfAnotherTest(_ event: TaskEvent) -> Bool {
            event.kind == .deallocated && !recorder.events.contains { $0.owner == event.owner }
        }
    }

    package func receive(_ event: TaskEvent) {
        guard let witness = Self.witness, !witness.isOfAnotherTest(event) else { return }
        witness.recorder.record(event)
        witness.reaction?(event)
    }

    /// Returns the events that `body` and its tasks cause, until `body` has returned.
    package static func events(
        reaction: (@Sendable (TaskEvent) -> Void)? = nil,
        of body: () async throws -> Void
    ) async rethrows -> [TaskEvent] {
        _ = shared
        let witness = Witness(reaction: reaction)
        try await $witness.withValue(witness, operation: body)
        return witness.recorder.events
    }

    /// Returns the events that `body` and its tasks cause; `body` receives the recorder, to wait for events.
    package static func recording(_ body: (OrderRecorder<TaskEvent>) async throws -> Void) async rethrows {
        _ = shared
        let witness = Witness()
        try await $witness.withValue(witness) { try await body(witness.recorder) }
    }

    /// In a simulation, where nothing suspends on the way.
    package static func events(in body: () throws -> Void) rethrows -> [TaskEvent] {
        _ = shared
        let witness = Witness()
        try $witness.withValue(witness, operation: body)
        return witness.recorder.events
    }
}

extension [TaskEvent] {
    /// The lines, without what differs between runs.
    package var lines: [String] {
        map { event in
            guard let age = event.age else { return event.description }
            return event.description.replacing(" age=\(age)", with: "")
        }
    }

    /// The events of each subject, by its first event.
    package var bySubject: [[TaskEvent]] {
        var order: [TaskEvent.Identity] = []
        var lists: [TaskEvent.Identity: [TaskEvent]] = [:]
        for event in self {
            guard let subject = event.subject else { continue }
            if lists[subject] == nil { order.append(subject) }
            lists[subject, default: []].append(event)
        }
        return order.map { lists[$0]! }
    }

    /// The kinds of events that other tasks cause and emit: perhaps after the end of the subject.
    private static var doneByOthers: Set<TaskEvent.Kind> {
        [.cancelled, .joined, .left, .duplicate, .boundToLifetime, .stored, .detached]
    }

    /// The mistakes in the beginnings and ends: each subject must have one of both, in that order.
    package var unpaired: [String] {
        bySubject.compactMap { events in
            let changes = events.filter { $0.change != .noted || !Self.doneByOthers.contains($0.kind) }
            let isPaired =
                changes.first?.isBeginning == true && changes.last?.outcome != nil
                && changes.filter(\.isBeginning).count == 1 && changes.filter { $0.outcome != nil }.count == 1
            return isPaired ? nil : events.lines.joined(separator: ", ")
        }
    }

    package func named(_ name: String) -> [TaskEvent] { filter { $0.name == name } }
}
