/// A record of something that happened in a primitive of this library, as a ``TaskObserver`` receives it.
///
/// ```swift
/// struct Failures: TaskObserver {
///     func receive(_ event: TaskEvent) {
///         if event.kind == .failed { print(event) }      // retry.failed attempt=1 error=ConnectionLost()
///     }
/// }
/// ```
///
/// Every event names the instance it comes from (``owner``) and the task or call it is about (``subject``). Each subject has one event
/// that begins it and one that ends it: see ``change``. Of a subject that began before the observer was added, only the rest is reported.
///
/// ## Ordering
/// ``sequence`` is the order in which the library decided: a queue's task has ended before the next one started, and its event has the
/// lower number. Effects come first and events after them, so events of different tasks may be delivered in another order than their
/// numbers. Of one subject, the beginning is always delivered first. Events that other tasks cause, such as ``Kind/cancelled`` or
/// ``Kind/joined``, are emitted by those tasks and may be delivered after the end of the subject: usually such an event should be ignored.
///
/// The content of a field depends on the event; `Documentation/Events.md` lists them all.
public struct TaskEvent: Sendable {
    /// The primitive that the event happened in.
    public let primitive: Primitive
    /// The name of what happened.
    public let kind: Kind
    /// The effect of the event on the life of the subject.
    public package(set) var change: Change
    /// The attention that the event deserves.
    public package(set) var severity = Severity.debug
    /// The order in which the library decided, process-wide. Higher is later.
    public internal(set) var sequence: UInt64 = 0
    /// The instance that it happened in, such as a lifetime or a queue; `nil` for calls that have none, such as `retry`.
    public let owner: Identity?
    /// The task or call that it is about; `nil` if it is about the owner, or about neither.
    public let subject: Identity?
    /// The task that it happened in, among those that live: the acting task, which is not always the one acted upon. `nil` outside tasks.
    public internal(set) var task: TaskIdentity?
    /// The time in terms of the configured clock: only differences are meaningful.
    ///
    /// Taken when the event is emitted, after the effects of what it reports, so it may be later than that of an event with a higher ``sequence``.
    public package(set) var time: Duration = .zero

    /// The name of the owner.
    public internal(set) var ownerName: String?
    /// The name of the task that it is about.
    public internal(set) var taskName: String?
    /// The key, redacted.
    public internal(set) var key: String?
    /// The error, redacted.
    public internal(set) var error: String?
    /// The request without its secrets, or the place in the source, redacted.
    public internal(set) var detail: String?
    /// The number of cancelled tasks, or of requested permits.
    public internal(set) var count: Int?
    /// The number of the attempt, counted from 1.
    public internal(set) var attempt: Int?
    /// The status of a response.
    public internal(set) var status: Int?
    /// The length of the wait that begins with this event, the time limit that was set, or the time after which a refused call may be repeated.
    public internal(set) var delay: Duration?
    /// The duration of a call, such as `retry` or a request, at its end.
    public internal(set) var age: Duration?
    /// Whether the task was cancelled by the end, at an end.
    public internal(set) var isCancelled = false

    /// Creates an event from what its emitter knows. Diagnostics add the time and the task, and redact the texts.
    package init(
        _ primitive: Primitive,
        _ kind: Kind,
        _ change: Change = .noted,
        owner: Identity? = nil,
        subject: Identity? = nil,
        ownerName: String? = nil,
        taskName: String? = nil,
        key: String? = nil,
        error: (any Error)? = nil,
        detail: String? = nil,
        count: Int? = nil,
        attempt: Int? = nil,
        status: Int? = nil,
        delay: Duration? = nil,
        isCancelled: Bool = false
    ) {
        self.primitive = primitive
        self.kind = kind
        self.change = change
        self.owner = owner
        self.subject = subject
        self.ownerName = ownerName
        self.taskName = taskName
        self.key = key
        self.error = error.map(Diagnostics.text)
        self.detail = detail
        self.count = count
        self.attempt = attempt
        self.status = status
        self.delay = delay
        self.isCancelled = isCancelled
    }
}
