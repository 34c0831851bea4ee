/// Something that happened in a primitive of this library: what a ``TaskObserver`` is told.
///
/// ```swift
/// struct Failures: TaskObserver {
///     func receive(_ event: TaskEvent) {
///         if event.kind == .failed { print(event) }      // retry.failed attempt=1 error=ConnectionLost()
///     }
/// }
/// ```
///
/// Every event says which instance it comes from (``owner``) and which task or call it is about (``subject``). For each subject one event
/// begins it and one ends it, whatever becomes of it: see ``stage``. Of what had begun before the observer was there, only the rest is told.
///
/// ## Ordering
/// What a task does is told in the order in which it does it, and before whatever it causes: a queue's task has ended before the next one
/// has started (but `queue.run` tells its end when it has passed the turn on). What others do to it, as ``Kind/cancelled``, ``Kind/joined`` or
/// ``Kind/boundToLifetime``, is told by them, and may come
/// after its end, or a moment before its beginning; so an event about a subject that is not there is most often to be ignored.
///
/// What a field holds depends on the event; `Documentation/Events.md` lists them all.
public struct TaskEvent: Sendable {
    /// What kind of thing it happened in.
    public let primitive: Primitive
    /// What happened.
    public let kind: Kind
    /// What it means for the life of the subject.
    public let stage: Stage
    /// The instance that it happened in, as a lifetime or a queue; `nil` for calls that have none, as `retry`.
    public let owner: Identity?
    /// The task or the call that it is about; `nil` if it is about the owner, or about none.
    public let subject: Identity?
    /// The task that it happened in, among those that live: the one that *does*, not always the one that it is done to. `nil` outside tasks.
    public internal(set) var task: TaskIdentity?
    /// When, in the time of the configured clock: only differences mean something.
    public package(set) var time: Duration = .zero

    /// The name that the owner was given.
    public internal(set) var ownerName: String?
    /// The name of the task that it is about.
    public internal(set) var taskName: String?
    /// The key, redacted.
    public internal(set) var key: String?
    /// The error, redacted.
    public internal(set) var error: String?
    /// The request without its secrets, or the place in the source, redacted.
    public internal(set) var detail: String?
    /// How many: tasks that were cancelled, permits that were asked for, callers that were told.
    public internal(set) var count: Int?
    /// Which attempt, counted from 1.
    public internal(set) var attempt: Int?
    /// The status of a response.
    public internal(set) var status: Int?
    /// How long the wait will be that begins now, or the limit that was set.
    public internal(set) var delay: Duration?
    /// At the end of a call, as of `retry` or a request: how long it took.
    public internal(set) var age: Duration?
    /// At an end: whether its task was cancelled by then.
    public internal(set) var isCancelled = false
    /// Whether it reports a mistake, such as an error that nobody receives. Decided when it happens: redaction does not change it.
    var isMistake = false

    /// Made with what the emitter does not know by itself: it adds time and task, and redacts what is text.
    package init(
        _ primitive: Primitive,
        _ kind: Kind,
        _ stage: Stage = .goesOn,
        owner: Identity? = nil,
        subject: Identity? = nil,
        ownerName: String? = nil,
        taskName: String? = nil,
        key: String? = nil,
        error: String? = nil,
        detail: String? = nil,
        count: Int? = nil,
        attempt: Int? = nil,
        status: Int? = nil,
        delay: Duration? = nil,
        begun: Moment? = nil
    ) {
        self.primitive = primitive
        self.kind = kind
        self.stage = stage
        self.owner = owner
        self.subject = subject
        self.ownerName = ownerName
        self.taskName = taskName
        self.key = key
        self.error = error
        self.detail = detail
        self.count = count
        self.attempt = attempt
        self.status = status
        self.delay = delay
        // Becomes an age when the time is known.
        age = begun?.time
    }

    /// What an event means for the life of its subject.
    public enum Stage: String, Hashable, Sendable, Codable, CaseIterable {
        /// The first of a subject.
        case begins
        /// One of those between; or about no subject.
        case goesOn
        /// The last of a subject, but for what others have done to it and tell only now.
        case ends
    }
}
