internal import CTaskControl

/// The interface through which primitives report events. Never called while holding a lock, except ``moment`` and ``open(_:)``.
///
/// An engine states an event in one expression. The event is built only while an observer is registered:
///
/// ```swift
/// Diagnostics.emit(source.event(.closed))
/// ```
///
/// The effects of a decision come before its event: no observer delays them. Where effects lie between a decision and its event, the engine
/// takes the ``moment`` of the decision; a subject that others can see before its beginning is emitted, it opens: see ``open(_:)``.
@usableFromInline
package enum Diagnostics {
    /// Whether an observer is registered: one relaxed load.
    @inline(__always)
    private static var isOn: Bool { tc_isObserved() }

    /// Returns a number that is unique in this process. Never 0.
    package static func nextNumber() -> UInt64 { tc_nextNumber() }

    // MARK: Events

    /// Emits an event. While no observer is registered, this is one relaxed load, and `event` is not evaluated.
    ///
    /// - Parameter isInside: Whether it happens in the task that it is about, which then provides the task name.
    @inline(__always)
    package static func emit(isInside: Bool = false, _ event: @autoclosure () -> TaskEvent) {
        if isOn { deliver(nil, isInside, event) }
    }

    /// Emits the event of a decision that was made earlier, unless no observer was registered then.
    @inline(__always)
    package static func emit(at moment: Moment?, isInside: Bool = false, _ event: @autoclosure () -> TaskEvent) {
        if let moment { deliver(moment, isInside, event) }
    }

    /// Emits the beginning of a subject that was opened, and then the events about it that have come since; see ``open(_:)``.
    @inline(__always)
    package static func emitBeginning(isInside: Bool = false, _ event: @autoclosure () -> TaskEvent) {
        if isOn { deliverBeginning(isInside, event) }
    }

    /// Holds back the events about a subject until `emitBeginning`, which must follow.
    ///
    /// Called where the subject is registered, before others can see it, perhaps while holding a lock. A subject that was registered while
    /// no observer was registered has no beginning.
    @inline(__always)
    package static func open(_ subject: @autoclosure () -> TaskEvent.Identity) {
        if isOn { EventDelivery.open(subject()) }
    }

    /// The moment of a decision; `nil` while no observer is registered. May be taken while holding a lock.
    @inline(__always)
    package static var moment: EventMoment? { isOn ? EventMoment() : nil }

    /// Whether no observer is registered, so that a call may take a path without events: one relaxed load.
    @inline(__always)
    package static var isUnobserved: Bool { !isOn }

    /// Returns a value that only observers need; `nil` while no observer is registered.
    @inline(__always)
    package static func whileObserved<Value>(_ value: @autoclosure () -> Value) -> Value? { isOn ? value() : nil }

    @inline(never)
    private static func deliver(_ moment: EventMoment?, _ isInside: Bool, _ event: () -> TaskEvent) {
        EventDelivery.deliver(event(), moment ?? EventMoment(), isInside)
    }

    @inline(never)
    private static func deliverBeginning(_ isInside: Bool, _ event: () -> TaskEvent) {
        EventDelivery.deliverBeginning(event(), isInside)
    }

    package typealias Moment = EventMoment

    // MARK: Mistakes

    /// Emits an event about a mistake, and writes it to the system's log, in debug and release builds, unless the configuration turns that off
    /// or has a log of its own that shows it.
    ///
    /// - Parameters:
    ///   - event: Its severity becomes ``TaskEvent/Severity/warning``.
    ///   - error: The error that it is about. Its text may contain data of the program.
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

    /// The name of the current task, where the platform lets it be read.
    package static var currentTaskName: String? {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { Task.name } else { nil }
    }

    /// Returns the text of an error in events and logs.
    ///
    /// An error of Foundation is described by its type and code, since its own description shows everything that it carries, such as the
    /// URL of a request; so is an error of a decoder, whose description shows what it read. An error that carries other errors is described by its
    /// type and theirs.
    package static func text(of error: any Error) -> String {
        if let error = error as? any EventDescribable { return error.eventText }
        let (type, domain, mirror) = (type(of: error), error._domain, Mirror(reflecting: error))
        if error is DecodingError || error is EncodingError {
            return "\(type).\(mirror.children.first?.label ?? "error")"
        }
        guard domain == String(reflecting: type) else { return "\(type)(\(domain) \(error._code))" }
        let carried = errors(within: mirror, depth: 3)
        return carried.isEmpty ? String(describing: error) : "\(type)(\(carried.joined(separator: ", ")))"
    }

    /// The texts of the errors that another one carries.
    private static func errors(within mirror: Mirror, depth: Int) -> [String] {
        guard depth > 0 else { return [] }
        return mirror.children.flatMap { child in
            if let error = child.value as? any Error { return [text(of: error)] }
            return errors(within: Mirror(reflecting: child.value), depth: depth - 1)
        }
    }
}
