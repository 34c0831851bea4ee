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
/// Every event names the instance it comes from (``owner``) and the task or call it is about (``subject``). Each subject has one event that begins it
/// and one that ends it: see ``change``. Of a subject that began before the observer was added, only the later events are delivered.
///
/// ## Ordering
/// ``sequence`` is the order of the library's decisions: for example, the end of a queue's task has a lower number than the start of the next task.
/// An event is emitted after the effects of its decision, so events of different tasks may be delivered in another order than that of their numbers.
/// The event that begins a subject is always delivered before the other events of the subject. Events that other tasks cause, such as
/// ``Kind/cancelled`` or ``Kind/joined``, are emitted by those tasks and may be delivered after the end of the subject: usually such an event should
/// be ignored.
///
/// The content of a field depends on the event; <doc:Events> lists them all.
public struct TaskEvent: Sendable {
    /// The type or function of this library that emitted the event, such as ``FIFOQueue`` or `retry`.
    public let primitive: Primitive
    /// The name of what happened, such as `started` or `cancelled`.
    public let kind: Kind
    /// The effect of the event on its ``subject``: whether the subject begins, changes its phase, or ends.
    public package(set) var change: Change
    /// The severity: ordinary operation, or a probable mistake.
    public package(set) var severity = Severity.debug
    /// The number of the event in the order of the library's decisions, across the process. A later decision has a higher number.
    public internal(set) var sequence: UInt64 = 0
    /// The instance that the event happened in, such as a lifetime or a queue; `nil` for calls without an instance, such as `retry`.
    public let owner: Identity?
    /// The task or call that the event is about; `nil` for other events, such as those about the owner.
    public let subject: Identity?
    /// The task that caused the event, which may be another task than the one that the event is about. `nil` outside tasks.
    public internal(set) var task: TaskIdentity?
    /// The time in terms of the configured clock: only differences are meaningful.
    ///
    /// The time is taken when the event is emitted, so it may be later than the time of an event with a higher ``sequence``.
    public package(set) var time: Duration = .zero

    /// The name of the owner, redacted; `nil` if it has none.
    public internal(set) var ownerName: String?
    /// The name of the task that the event is about, redacted; `nil` if it has none.
    public internal(set) var taskName: String?
    /// The key of the task or call, such as that of a ``TaskStore``, redacted; `nil` if it has none.
    public internal(set) var key: String?
    /// The description of the error, redacted; `nil` if the event has none.
    public internal(set) var error: String?
    /// Details of the event, redacted: for example an HTTP request, a place in the source, or the cause of a cancellation.
    public internal(set) var detail: String?
    /// A number whose meaning depends on the kind of event, such as the number of cancelled tasks or of requested permits.
    public internal(set) var count: Int?
    /// The number of the attempt, counted from 1.
    public internal(set) var attempt: Int?
    /// The status code of an HTTP response.
    public internal(set) var status: Int?
    /// The length of the wait that begins with this event, the time limit that was set, or the time after which a refused call may be repeated.
    public internal(set) var delay: Duration?
    /// The duration of a call, such as `retry` or a request, at its end.
    public internal(set) var age: Duration?
    /// Whether the task was cancelled before its end. Set only in an event that ends its subject.
    public internal(set) var isCancelled = false

    /// Creates an event from the values that the emitting code has. The time and the task are added later, when the event is delivered, and its texts
    /// are redacted then.
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
