import TaskControlTesting

@testable import TaskControl

/// The events that a test causes: those that happen in its task, and in the tasks that stem from that.
final class EventLog: TaskObserver {
    private static let shared: EventLog = {
        let log = EventLog()
        _ = Incidents.shared
        AsyncGuard.addObserver(log)
        return log
    }()

    /// Detached tasks have none: what they do is looked for by its owner.
    @TaskLocal private static var witness: Witness?

    /// What is done with an event when it comes, on the spot.
    struct Witness: Sendable {
        let recorder = OrderRecorder<TaskEvent>()
        var reaction: (@Sendable (TaskEvent) -> Void)?
    }

    func receive(_ event: TaskEvent) {
        guard let witness = Self.witness else { return }
        witness.recorder.record(event)
        witness.reaction?(event)
    }

    /// What `body` and its tasks cause, until it has returned.
    static func events(
        reaction: (@Sendable (TaskEvent) -> Void)? = nil,
        of body: () async throws -> Void
    ) async rethrows -> [TaskEvent] {
        _ = shared
        let witness = Witness(reaction: reaction)
        try await $witness.withValue(witness, operation: body)
        return witness.recorder.events
    }

    /// As the other, with the recorder at hand, to wait for events.
    static func recording(_ body: (OrderRecorder<TaskEvent>) async throws -> Void) async rethrows {
        _ = shared
        let witness = Witness()
        try await $witness.withValue(witness) { try await body(witness.recorder) }
    }

    /// In a simulation, where nothing suspends on the way.
    static func events(in body: () throws -> Void) rethrows -> [TaskEvent] {
        _ = shared
        let witness = Witness()
        try $witness.withValue(witness, operation: body)
        return witness.recorder.events
    }
}

extension [TaskEvent] {
    /// The lines, without what differs from run to run.
    var lines: [String] {
        map { event in
            var event = event
            event.age = nil
            return event.description
        }
    }

    /// What each subject has been told of, by its first mention.
    var bySubject: [[TaskEvent]] {
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
    var unpaired: [String] {
        bySubject.compactMap { events in
            let stages = events.filter { $0.stage != .goesOn || !Self.doneByOthers.contains($0.kind) }.map(\.stage)
            let isPaired =
                stages.first == .begins && stages.last == .ends && stages.filter { $0 == .begins }.count == 1
                && stages.filter { $0 == .ends }.count == 1 && stages.count >= 2
            return isPaired ? nil : events.lines.joined(separator: ", ")
        }
    }

    func named(_ name: String) -> [TaskEvent] { filter { $0.name == name } }
}
