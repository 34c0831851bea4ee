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

    /// What is done with an event when it comes, on the spot.
    private struct Witness: Sendable {
        let recorder = OrderRecorder<TaskEvent>()
        var reaction: (@Sendable (TaskEvent) -> Void)?

        /// Whether it tells the end of an object that has not been heard of here. The task that delivers an event can hold the last reference to
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

    /// What `body` and its tasks cause, until it has returned.
    package static func events(
        reaction: (@Sendable (TaskEvent) -> Void)? = nil,
        of body: () async throws -> Void
    ) async rethrows -> [TaskEvent] {
        _ = shared
        let witness = Witness(reaction: reaction)
        try await $witness.withValue(witness, operation: body)
        return witness.recorder.events
    }

    /// As the other, with the recorder at hand, to wait for events.
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

    /// What each subject has been told of, by its first mention.
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

    /// What others do to a subject, and tell when they have done it: perhaps after its end.
    private static var doneByOthers: Set<TaskEvent.Kind> {
        [.cancelled, .joined, .left, .duplicate, .boundToLifetime, .stored, .detached]
    }

    /// What is wrong with the beginnings and ends, if anything: each subject has one of both, in that order.
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
