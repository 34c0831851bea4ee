/// A record of something that happened in a type or function of this library, as a ``TaskObserver`` receives it.
///
/// ```swift
/// struct Failures: TaskObserver {
///     func receive(_ event: TaskEvent) {
///         if event.kind == .failed { print(event) }      // retry.failed attempt=1 error=ConnectionLost()
///     }
/// }
/// ```
///
/// An event identifies the instance that it comes from (``owner``), if there is one, and the task or call that it is
/// about (``subject``), if there is one. Each subject has one event that begins it and one that ends it: see
/// ``change``. If a subject began before the observer was added, only its later events are delivered.
///
/// ## Ordering
/// The ``sequence`` numbers of events follow the order in which the reported changes happened: for example, the end of
/// a queue's task has a lower number than the start of the next task. An event is emitted after the change has taken
/// effect, so events of different tasks may be delivered in another order than that of their numbers. The event that
/// begins a subject is delivered before the other events of the subject. Events of a subject that other tasks cause,
/// such as ``Kind/cancelled`` or ``Kind/joined``, may be delivered after the event that ends the subject. An observer
/// should usually ignore such a late event.
///
/// Which fields are set depends on the event: <doc:Events> lists all events with their fields.
public struct TaskEvent: Sendable {
    /// The type or function of this library that emitted the event, such as ``FIFOQueue`` or `retry`.
    public let primitive: Primitive
    /// The name of what happened, such as `started` or `cancelled`.
    public let kind: Kind
    /// The effect of the event on its ``subject``: whether the subject begins, changes its phase, or ends.
    public package(set) var change: Change
    /// The severity: ordinary operation, or a probable mistake in the program.
    public package(set) var severity = Severity.debug
    /// The number of the event in the order in which the reported changes happened, such as the start or the end of a
    /// task, across the process. The event of a later change has a higher number, but may be delivered earlier.
    public internal(set) var sequence: UInt64 = 0
    /// The identity of the instance that the event happened in, such as an ``AsyncLifetime`` or a ``FIFOQueue``; `nil`
    /// for events without an instance, such as those of `retry`.
    public let owner: Identity?
    /// The identity of the task or call that the event is about; `nil` for other events, such as those about the owner.
    public let subject: Identity?
    /// The identity of the Swift task that caused the event, which may be another task than the one that the event is
    /// about; `nil` outside tasks.
    ///
    /// - Note: Only with `@_spi(Observers) import TaskControl`.
    @_spi(Observers) public internal(set) var task: TaskIdentity?
    /// The time of the event, measured by ``TaskDiagnostics/Configuration/clock``. Only differences between times are
    /// meaningful.
    ///
    /// The time is taken when the event is emitted, and the ``sequence`` number earlier. So an event can have a later time
    /// than an event with a higher number.
    public package(set) var time: Duration = .zero

    /// The name of the owner, after redaction by ``TaskDiagnostics/Configuration/redact``; `nil` if the owner has none.
    public internal(set) var ownerName: String?
    /// The name of the task that the event is about, after redaction by ``TaskDiagnostics/Configuration/redact``; `nil`
    /// if the task has none.
    public internal(set) var taskName: String?
    /// The key of the task or call, for example in a ``TaskStore``, as text, after redaction by
    /// ``TaskDiagnostics/Configuration/redact``; `nil` if there is none. The text is the description of the key, made in
    /// the call that names the key. If no observer was registered then, it is what needs no code of the key's type: a
    /// string, an `Int`, the name of an enumeration's case without its values, or the name of the type.
    public internal(set) var key: String?
    /// The text of the error that the event reports, after redaction by ``TaskDiagnostics/Configuration/redact``; `nil`
    /// if the event reports none.
    public internal(set) var error: String?
    /// Details of the event, for example an HTTP request, a place in the source, or the cause of a cancellation, after
    /// redaction by ``TaskDiagnostics/Configuration/redact``; `nil` if there are none.
    public internal(set) var detail: String?
    /// A number whose meaning depends on the kind of event, such as the number of cancelled tasks or of requested
    /// permits; `nil` if the event has none.
    public internal(set) var count: Int?
    /// The number of the attempt, for example of a call of `retry`, counted from 1; `nil` for events without attempts.
    public internal(set) var attempt: Int?
    /// The status code of an HTTP response; `nil` if the event has none.
    public internal(set) var status: Int?
    /// The length of the wait that begins with this event, the time limit that was set, or the time after which a
    /// refused call may be repeated: zero to 100 years. `nil` if the event has none of them.
    public internal(set) var delay: Duration?
    /// The duration of a call, such as `retry` or a request, in the event that ends the call; `nil` in other events.
    public internal(set) var age: Duration?
    /// Whether the task or call that ends with this event had been cancelled. Always `false` in an event that does not
    /// end its subject.
    public internal(set) var isCancelled = false

    /// Creates an event. Each parameter is the value of the property with the same name, which is a text in the case of
    /// `error`. The sequence number, the time and the task are added when the event is delivered, and its texts are
    /// redacted then.
    @inline(never)
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
        // A client can pass any duration, such as a quiet time. Observers compute with this one, and must not overflow.
        self.delay = delay.map { max(.zero, $0).saturated }
        self.isCancelled = isCancelled
    }
}

extension TaskEvent: CustomStringConvertible {
    /// The names of the primitive and the kind of the event, such as `AsyncTask.created`.
    public var name: String { "\(primitive.rawValue).\(kind.rawValue)" }

    /// One line with the ``name`` of the event and the fields that are set, such as
    /// `retry.failed attempt=1 error=ConnectionLost()`.
    ///
    /// The fields have this order: ``ownerName`` (as `name`), ``taskName`` (as `task`), ``key``, ``count``,
    /// ``attempt``, ``status``, ``delay``, ``error``, ``detail``, ``age``, and ``isCancelled`` (as `cancelled`, only if
    /// `true`). Line breaks in their texts are replaced by spaces. Identities, ``sequence`` and ``time`` are not
    /// included.
    public var description: String {
        var line = name
        func add(_ field: String, _ value: (some Any)?) {
            guard let value else { return }
            // A text may contain line breaks, which are replaced by spaces.
            line += " \(field)=" + String(describing: value).split(whereSeparator: \.isNewline).joined(separator: " ")
        }
        add("name", ownerName)
        add("task", taskName)
        add("key", key)
        add("count", count)
        add("attempt", attempt)
        add("status", status)
        add("delay", delay)
        add("error", error)
        add("detail", detail)
        add("age", age)
        if isCancelled { add("cancelled", true) }
        return line
    }
}

extension TaskEvent.Primitive {
    /// Whether each task or call that the events of this primitive are about runs in a task of its own. `true` for the
    /// tasks of owners and queues, for the shared work of a ``SingleFlight``, and for the work of calls such as
    /// `withTimeout`. Also `true` for a primitive that was created from a name, because its ``Primitive/traits`` are
    /// not known.
    ///
    /// If `true`, the event with which a task or call enters ``TaskEvent/Phase/running`` happens in the task of its
    /// work: ``TaskEvent/task`` identifies that task. The exception is ``TaskEvent/Kind/adopted``, which happens in the
    /// task that adds the task to its owner. If `false`, as for `retry`, the work of a call runs in the task that makes
    /// the call.
    public var runsInOwnTask: Bool { !traits.contains(.call) || traits.contains(.awaited) }
}

/// An error whose text in events is not its description, for example because the description may contain secrets.
package protocol EventDescribable: Error {
    var eventText: String { get }
}
