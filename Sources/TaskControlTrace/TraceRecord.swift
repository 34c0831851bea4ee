@_spi(Observers) internal import TaskControl
internal import _TaskControlShared

/// The fields of an event that a trace keeps. Texts longer than 512 bytes are shortened.
struct TraceRecord: Sendable {
    let primitive: TaskEvent.Primitive
    let kind: TaskEvent.Kind
    let owner: TaskEvent.Identity?
    let subject: TaskEvent.Identity?
    let task: TaskEvent.TaskIdentity?
    let change: TaskEvent.Change
    let isCancelled: Bool
    let ownerName: String?
    let taskName: String?
    let key: String?
    let error: String?
    let detail: String?
    let time: Duration
    let count: Int?
    let attempt: Int?
    let status: Int?
    /// The delay before the next attempt of a retry, in nanoseconds; `nil` if the event has none.
    let delay: Int64?
    let age: Int64?

    @inline(__always)
    init(_ event: TaskEvent) {
        primitive = event.primitive
        kind = event.kind
        owner = event.owner
        subject = event.subject
        task = event.task
        change = event.change
        isCancelled = event.isCancelled
        ownerName = Self.clip(event.ownerName)
        taskName = Self.clip(event.taskName)
        key = Self.clip(event.key)
        error = Self.clip(event.error)
        detail = Self.clip(event.detail)
        time = event.time
        count = event.count
        attempt = event.attempt
        status = event.status
        delay = event.delay?.nanoseconds
        age = event.age?.nanoseconds
    }

    private static var textLimit: Int { 512 }

    @inline(__always)
    private static func clip(_ text: String?) -> String? {
        guard let text, text.utf8.count > textLimit else { return text }
        return clipped(text)
    }

    @inline(never)
    private static func clipped(_ text: String) -> String {
        // A copy, since a slice would keep the whole text. A character that is cut is shown as a replacement character.
        String(decoding: text.utf8.prefix(textLimit), as: UTF8.self) + "…"
    }
}

extension TraceRecord {
    /// The phase that the task or call (subject) enters with the event; `nil` if the event does not change the phase,
    /// or ends the subject.
    var phase: TaskEvent.Phase? {
        switch change {
        case .began(let phase), .entered(let phase): phase
        case .noted, .ended: nil
        }
    }

    /// Whether the event was reported by its subject (the task or call that it is about) or by the creator of its
    /// subject. An event that another task reports about the subject may come after the subject has ended.
    var isOfItself: Bool { change != .noted }

    /// Whether the event is shown as a mark (a point on the bar of its subject): an event that does not change the
    /// phase, or an error that does not end the subject, such as that of an attempt.
    var isMark: Bool {
        switch change {
        case .noted: true
        case .began, .entered: error != nil
        case .ended: false
        }
    }

    /// Whether the event reports that the work of its subject (the task or call that it is about) begins to run, in a
    /// task of its own. Then ``task`` is the task that runs the work.
    var isInWorkingTask: Bool { change == .entered(.running) && primitive.runsInOwnTask }

    /// Whether the event reports that the work of a task threw an error. If the owner of the task handles the error,
    /// the task completes nevertheless.
    var isErrorOfWork: Bool { kind == .workFailed || kind == .unhandledError }
}
