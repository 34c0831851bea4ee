@_spi(Observers) @testable import TaskControl
@testable import TaskControlTrace

/// Events as a test writes them down: with times in milliseconds, and subjects and owners by numbers.
struct Recording {
    private(set) var events: [TaskEvent] = []

    mutating func tell(
        _ primitive: TaskEvent.Primitive,
        _ kind: TaskEvent.Kind,
        _ change: TaskEvent.Change = .noted,
        at milliseconds: Int,
        of subject: UInt64? = nil,
        in owner: UInt64? = nil,
        named ownerName: String? = nil,
        task: String? = nil,
        key: String? = nil,
        error: String? = nil,
        detail: String? = nil,
        isCancelled: Bool = false,
        from runningTask: UInt? = nil
    ) {
        var event = TaskEvent(
            primitive,
            kind,
            change,
            owner: owner.map { TaskEvent.Identity($0) },
            subject: subject.map { TaskEvent.Identity($0) },
            ownerName: ownerName,
            taskName: task,
            key: key,
            detail: detail
        )
        event.time = .milliseconds(milliseconds)
        event.error = error
        event.isCancelled = isCancelled
        event.task = runningTask.map { TaskEvent.TaskIdentity(address: $0) }
        events.append(event)
    }

    /// A task of a queue: put there, started and ended at three times.
    mutating func turn(
        _ subject: UInt64,
        _ times: (Int, Int, Int),
        in queue: UInt64 = 1,
        named queueName: String? = nil,
        task: String? = nil,
        end: TaskEvent.Outcome = .completed,
        error: String? = nil
    ) {
        tell(.fifoQueue, .enqueued, .began(.waiting), at: times.0, of: subject, in: queue, named: queueName, task: task)
        tell(.fifoQueue, .waiting, .entered(.waiting), at: times.0, of: subject, in: queue)
        tell(.fifoQueue, .started, .entered(.running), at: times.1, of: subject, in: queue)
        let kind = TaskEvent.Kind(rawValue: end.rawValue)
        tell(
            .fifoQueue,
            kind,
            .ended(end),
            at: times.2,
            of: subject,
            in: queue,
            error: error,
            isCancelled: end == .skipped
        )
    }

    func model(capacity: Int = 1_000_000, now: Int? = nil) -> TraceModel { events.model(capacity: capacity, now: now) }
}

extension [TaskEvent] {
    /// As a recorder of that capacity makes it, by now.
    func model(capacity: Int = 1_000_000, now: Int? = nil) -> TraceModel {
        let recorder = TraceRecorder(capacity: capacity)
        for event in self { recorder.receive(event) }
        return TraceModel(recorder.events, now: now.map { .milliseconds($0) })
    }
}

extension TraceModel.Bar {
    /// As in `waiting 10 running 5 completed`, in milliseconds.
    var story: String {
        (stretches.map { "\($0.phase) \($0.range.count / 1_000_000)" } + ["\(outcome)"]).joined(separator: " ")
    }
}
