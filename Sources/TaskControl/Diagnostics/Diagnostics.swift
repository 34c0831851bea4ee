internal import CTaskControl

/// The functions through which the types and functions of this library emit events. A function that emits an event must
/// not be called while holding a lock; ``moment`` and ``open(_:)`` may be.
///
/// An instance emits its events through its ``EventSource``, a call such as `retry` through its ``CallEvents``. The
/// `emit` of this type is for events of other origins. No ``TaskEvent`` and no text is made while no observer is
/// registered:
///
/// ```swift
/// source.emit(.joined, about: subject(id), key: key?.text, at: moment)
/// ```
///
/// Code that makes a decision under a lock first carries out its effects, such as resuming tasks, and then emits its
/// event: no observer delays the effects. To keep the order of the decisions, such code reads ``moment`` while it holds
/// the lock, and passes the value to `emit`. If other threads can see a task before the event that
/// begins it is emitted, the code also calls ``open(_:)`` while it holds the lock.
@usableFromInline
package enum Diagnostics {
    /// Whether an observer is registered. Costs one relaxed atomic load.
    @inline(__always)
    private static var isOn: Bool { tc_isObserved() }

    /// Returns a number that is unique in this process. Never 0.
    package static func nextNumber() -> UInt64 { tc_nextNumber() }

    // MARK: Events

    /// Emits an event. While no observer is registered, this is one relaxed atomic load, and `event` is not evaluated.
    ///
    /// - Parameters:
    ///   - isInside: Whether the current task is the subject of the event; its name is then added to the event.
    ///   - event: Creates the event.
    @inline(__always)
    package static func emit(isInside: Bool = false, _ event: @autoclosure () -> TaskEvent) {
        if isOn { deliver(nil, isInside, event()) }
    }

    /// Emits the event of a decision that was made earlier. Does nothing if no observer was registered at that time.
    ///
    /// - Parameters:
    ///   - moment: The ``moment`` of the decision; `nil` if no observer was registered then.
    ///   - isInside: Whether the current task is the subject of the event; its name is then added to the event.
    ///   - event: Creates the event. Not called if `moment` is `nil`.
    @inline(__always)
    package static func emit(at moment: Moment?, isInside: Bool = false, _ event: @autoclosure () -> TaskEvent) {
        if let moment { deliver(moment, isInside, event()) }
    }

    /// Emits the event that begins a subject for which ``open(_:)`` was called, and then the events about that subject
    /// that were held back.
    ///
    /// - Parameters:
    ///   - isInside: Whether the current task is the subject of the event; its name is then added to the event.
    ///   - event: Creates the event that begins the subject. Not called while no observer is registered.
    @inline(__always)
    package static func emitBeginning(isInside: Bool = false, _ event: @autoclosure () -> TaskEvent) {
        if isOn { deliverBeginning(isInside, event()) }
    }

    /// Holds back the events about a subject until `emitBeginning(isInside:_:)` is called, which must follow.
    ///
    /// Called where a task or call is registered, before other threads can see it; a lock may be held. If no observer is registered at that time, no
    /// observer will receive the event that begins the subject.
    @inline(__always)
    package static func open(_ subject: @autoclosure () -> TaskEvent.Identity) {
        if isOn { EventDelivery.open(subject()) }
    }

    /// The moment of a decision that is being made now; `nil` while no observer is registered. May be read while holding a lock.
    @inline(__always)
    package static var moment: EventMoment? { isOn ? EventMoment() : nil }

    /// Whether no observer is registered, so that a call may omit its events. Costs one relaxed atomic load.
    @inline(__always)
    package static var isUnobserved: Bool { !isOn }

    /// Returns a value that only observers need; `nil` while no observer is registered.
    @inline(__always)
    package static func whileObserved<Value>(_ value: @autoclosure () -> Value) -> Value? { isOn ? value() : nil }

    @inline(never)
    private static func deliver(_ moment: EventMoment?, _ isInside: Bool, _ event: TaskEvent) {
        EventDelivery.deliver(event, moment ?? EventMoment(), isInside)
    }

    @inline(never)
    private static func deliverBeginning(_ isInside: Bool, _ event: TaskEvent) {
        EventDelivery.deliverBeginning(event, isInside)
    }

    package typealias Moment = EventMoment

    // MARK: Mistakes

    /// Emits an event about a mistake in the program, and writes `advice` to the system's log, in debug and release
    /// builds. Nothing is written if ``TaskDiagnostics/Configuration/reportsMistakes`` is `false`, or if
    /// ``TaskDiagnostics/Configuration/debugLogging`` is `true`, because the debug log then contains the event.
    ///
    /// - Parameters:
    ///   - event: The event, whose severity becomes ``TaskEvent/Severity/warning``.
    ///   - error: The error that the mistake concerns. Its text may contain data of the program.
    ///   - advice: A sentence that states what happened and what to do about it, without data of the program.
    package static func report(_ event: TaskEvent, error: (any Error)? = nil, advice: String) {
        var event = event
        event.severity = .warning
        emit(event)
        let (observation, taskName) = (Observation.current, event.taskName)
        guard observation.writesMistakes else { return }
        if isInsideHandler {
            performOutsideHandler { write(advice, error, taskName, observation) }
        } else {
            write(advice, error, taskName, observation)
        }
    }

    private static func write(
        _ advice: String,
        _ error: (any Error)?,
        _ taskName: String?,
        _ observation: Observation
    ) {
        ObserverCall.excludingEverybody.perform {
            let redact = observation.configuration?.redact ?? { $0 }
            SystemLog.report(advice, error: error.map { redact(text(of: $0)) }, taskName: taskName.map(redact))
        }
    }

    // MARK: Texts

    /// The name of the current task; `nil` if it has none. Also `nil` before macOS 26, iOS 26 and the other Apple
    /// systems of that year, on which a name cannot be read.
    package static var currentTaskName: String? {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { Task.name } else { nil }
    }

    /// Returns the text of an error in events and logs.
    ///
    /// The text is the ``EventDescribable/eventText`` of an error that has one. For a `DecodingError` or an
    /// `EncodingError` it is the type and the case, because the description may contain the coded data. For another
    /// error whose domain is not its type, such as an error of Foundation, it is the type, the domain and the code,
    /// because the description may contain data of the program, such as the URL of a request. For an error that
    /// contains other errors it is the type and the texts of these errors, and for any other error the description.
    ///
    /// At most four levels of errors that contain errors are searched: errors that are classes can contain each other.
    package static func text(of error: any Error) -> String { text(of: error, levels: 4) }

    /// Returns the text of an error for readers outside the process: ``text(of:)`` after
    /// ``TaskDiagnostics/Configuration/redact``, as observers receive it.
    package static func redactedText(of error: any Error) -> String {
        var text = text(of: error)
        if let redact = Observation.current.configuration?.redact {
            ObserverCall.excludingEverybody.perform { text = redact(text) }
        }
        return text
    }

    private static func text(of error: any Error, levels: Int) -> String {
        if let error = error as? any EventDescribable { return error.eventText }
        let (type, domain, mirror) = (type(of: error), error._domain, Mirror(reflecting: error))
        if error is DecodingError || error is EncodingError {
            return "\(type).\(mirror.children.first?.label ?? "error")"
        }
        guard domain == String(reflecting: type) else { return "\(type)(\(domain) \(error._code))" }
        let carried = errors(within: mirror, depth: 3, levels: levels - 1)
        return carried.isEmpty ? String(describing: error) : "\(type)(\(carried.joined(separator: ", ")))"
    }

    /// Returns the texts of the errors that are stored in the properties of an error.
    ///
    /// - Parameters:
    ///   - mirror: The mirror of the error.
    ///   - depth: The number of levels of stored values that are searched.
    ///   - levels: The number of levels of errors that are searched. At the lowest, the text of an error is its type.
    private static func errors(within mirror: Mirror, depth: Int, levels: Int) -> [String] {
        guard depth > 0 else { return [] }
        return mirror.children.flatMap { child in
            if let error = child.value as? any Error {
                return [levels > 0 ? text(of: error, levels: levels) : "\(type(of: error))"]
            }
            return errors(within: Mirror(reflecting: child.value), depth: depth - 1, levels: levels)
        }
    }
}

extension Diagnostics {
    /// Stops writing mistakes to the system's log for the rest of the process. For tests, which make mistakes on purpose.
    package static func keepQuiet() { Observation.keepQuiet() }
}
