internal import CTaskControl

/// Delivers events to observers: adds the time and the task, redacts texts, and holds back the events about a subject
/// (a task or a call) until the event that begins the subject has been delivered.
///
/// Observers are called in the task and on the thread of the event, so that they can read its task-local values. They are never called while a lock
/// is held, and never in a cancellation or escalation handler, in which the runtime holds a lock of the task.
enum EventDelivery {
    /// An event that is held back until the event that begins its subject has been delivered, and the ``ObserverCall``
    /// during which it happened, if any.
    private struct HeldEvent {
        let event: TaskEvent
        let call: ObserverCall?
    }

    /// The state of a subject (a task or a call) for which `open(_:)` was called, but whose first event has not been
    /// delivered yet.
    private struct Opening {
        let moment: EventMoment
        /// The events about the subject that are held back, in the order in which they came.
        var held: [HeldEvent] = []
    }

    private struct State {
        var observation = Observation()
        var openings: [TaskEvent.Identity: Opening] = [:]

        /// Updates the atomic flag that makes code emit events. It is set while an observer is registered or events are
        /// held back. Called under the lock, after each change of `observation` or `openings`.
        func setFlag() { tc_setObserved(!observation.observers.isEmpty || !openings.isEmpty) }
    }

    private static let state = Locked(State())

    // MARK: Observers

    static var current: Observation { state.withLock { $0.observation } }

    /// Replaces the current observation: the registered observers and the configuration.
    ///
    /// - Parameter change: Returns the new observation for the current one. Called under the lock.
    /// - Returns: The former observation.
    @discardableResult
    static func replace(_ change: (Observation) -> Observation) -> Observation {
        // The old observation is released after the lock, because its observers may then be deallocated.
        let old = state.withLock { state in
            let old = state.observation
            state.observation = change(old)
            state.setFlag()
            return old
        }
        return old
    }

    // MARK: Beginnings

    static func open(_ subject: TaskEvent.Identity) {
        let moment = EventMoment()
        state.withLock { state in
            if state.observation.observers.isEmpty { return }
            state.openings[subject] = Opening(moment: moment)
        }
    }

    /// Delivers the event that begins a subject to the observers that were registered when `open(_:)` was called for
    /// the subject, and then the events that were held back. Does nothing if no observer was registered then.
    ///
    /// - Parameter isInside: Whether the current task is the subject; its name is then added to the event.
    static func deliverBeginning(_ event: consuming TaskEvent, _ isInside: Bool) {
        guard let subject = event.subject,
            let moment = state.withLock({ $0.openings[subject]?.moment })
        else { return }
        complete(&event, moment, isInside)
        let finished = event
        if isInsideHandler { return performOutsideHandler { begin(finished, subject) } }
        begin(finished, subject)
    }

    private static func begin(_ event: TaskEvent, _ subject: TaskEvent.Identity) {
        let call = ObserverCall.current
        if let event = prepare(event, current, call) { hand(event, call) }
        guard let held = takeHeld(subject) else { return }
        // Inside a call of an observer, the held events must reach this observer too, because they happened elsewhere.
        // So they are delivered outside the call.
        if call != nil {
            performOutsideHandler { ObserverCall.perform(in: nil) { deliver(held, of: subject) } }
        } else {
            deliver(held, of: subject)
        }
    }

    /// Delivers events that were held back, and then the events about the same subject that come during this delivery.
    private static func deliver(_ held: [HeldEvent], of subject: TaskEvent.Identity) {
        var next: [HeldEvent]? = held
        while let held = next {
            for held in held { hand(held.event, held.call) }
            next = takeHeld(subject)
        }
    }

    /// Removes and returns the events about a subject that were held back. If there are none, later events about the
    /// subject are delivered at once from then on.
    ///
    /// - Returns: The events; `nil` if there were none.
    private static func takeHeld(_ subject: TaskEvent.Identity) -> [HeldEvent]? {
        // Released after the lock, because objects may then be deallocated.
        var opening: Opening?
        let held: [HeldEvent]? = state.withLock { state in
            if let held = state.openings[subject]?.held, !held.isEmpty {
                state.openings[subject]?.held = []
                return held
            }
            opening = state.openings.removeValue(forKey: subject)
            state.openings.shrinkIfMostlyEmpty()
            state.setFlag()
            return nil
        }
        withExtendedLifetime(opening) {}
        return held
    }

    // MARK: Other events

    static func deliver(_ event: consuming TaskEvent, _ moment: EventMoment, _ isInside: Bool) {
        complete(&event, moment, isInside)
        let finished = event
        if isInsideHandler { return performOutsideHandler { deliver(finished) } }
        deliver(finished)
    }

    private static func deliver(_ event: TaskEvent) {
        let call = ObserverCall.current
        let (observation, isHeld) = state.withLock { state in
            (state.observation, !state.openings.isEmpty && event.subject.map { state.openings[$0] != nil } ?? false)
        }
        guard let event = prepare(event, observation, call) else { return }
        if isHeld, hold(HeldEvent(event: event, call: call)) { return }
        hand(event, call)
    }

    /// Holds an event back, if the first event of its subject has not been delivered yet.
    ///
    /// - Returns: Whether the event is held back; if `false`, the code that called this function must deliver it.
    private static func hold(_ held: HeldEvent) -> Bool {
        guard let subject = held.event.subject else { return false }
        return state.withLock { $0.openings[subject]?.held.append(held) != nil }
    }

    // MARK: Steps

    /// Adds the sequence number and the current task to an event. If the current task is the subject of the event, also
    /// adds its name and, to an event that ends the subject, whether it was cancelled. Calls no code of the client.
    ///
    /// - Parameters:
    ///   - moment: The moment of the decision that the event reports.
    ///   - isInside: Whether the current task is the subject of the event.
    private static func complete(_ event: inout TaskEvent, _ moment: EventMoment, _ isInside: Bool) {
        event.sequence = moment.sequence
        event.task = .current
        guard isInside else { return }
        if event.taskName == nil { event.taskName = Diagnostics.currentTaskName }
        guard case .ended(let outcome) = event.change else { return }
        // The state at the moment of the decision is used, because the task may have been cancelled since then.
        event.isCancelled = event.isCancelled || moment.isCancelled
        if event.isCancelled, outcome == .failed { event.change = .ended(.cancelled) }
    }

    /// Adds the time to an event, and redacts its texts.
    ///
    /// - Parameters:
    ///   - observation: The registered observers, the clock, and the redaction closure.
    ///   - call: The observer call during which the event happened; `nil` if there is none.
    /// - Returns: The event for the observers; `nil` if no observer will receive it.
    private static func prepare(_ event: TaskEvent, _ observation: Observation, _ call: ObserverCall?) -> TaskEvent? {
        if !observation.observers.contains(where: { $0.receives(in: call) }) { return nil }
        var event = event
        event.time = observation.time
        if let begun = event.age { event.age = event.time - begun }
        if let redact = observation.configuration?.redact {
            ObserverCall.excludingEverybody.perform { event.redactTexts(redact) }
        }
        return event
    }

    /// Calls the observers that were registered before the decision that the event reports, and are still registered.
    /// Observers are numbered from the same counter as events, so an event that is held back need not retain its
    /// observers.
    ///
    /// - Parameter call: The observer call during which the event happened; `nil` if there is none. The observer of
    ///   this call, and those of the calls around it, are not called.
    private static func hand(_ event: TaskEvent, _ call: ObserverCall?) {
        for observer in current.observers
        where observer.number < event.sequence && observer.receives(in: call) {
            ObserverCall.of(observer.number, within: call).perform { observer.observer.receive(event) }
        }
    }
}

extension Observation.Observer {
    /// Whether the observer receives an event of the current code.
    ///
    /// - Parameter call: The observer call during which the event happened; `nil` if there is none.
    fileprivate func receives(in call: ObserverCall?) -> Bool {
        if let simulation, simulation != ProcessValues.simulation { return false }
        return !(call?.excludes(number) ?? false)
    }
}

extension TaskEvent {
    fileprivate mutating func redactTexts(_ redact: (String) -> String) {
        ownerName = ownerName.map(redact)
        taskName = taskName.map(redact)
        key = key.map(redact)
        error = error.map(redact)
        detail = detail.map(redact)
    }
}

/// The moment of a decision that an event reports: the sequence number of the event, and whether the current task was
/// cancelled at that moment.
package struct EventMoment: Sendable {
    let sequence: UInt64
    let isCancelled: Bool

    /// Records the current moment. Calls neither a clock nor an observer, so it may be called while holding a lock and
    /// in a cancellation handler.
    @inline(never)
    package init() {
        sequence = tc_nextNumber()
        isCancelled = Task.isCancelled
    }
}

/// A call of an observer that runs on the current thread. Events that the observer's code causes on this thread are not delivered to that observer.
///
/// Stored in a thread-local variable: reading a task-local value takes ten times as long, and takes a lock of the task.
final class ObserverCall: Sendable {
    /// The number of the observer that is called; `nil` if no observer may receive the events that the call causes.
    private let number: UInt64?
    /// The call of another observer inside which this call was made; `nil` if there is none.
    private let outer: ObserverCall?

    private init(_ number: UInt64?, within outer: ObserverCall?) {
        self.number = number
        self.outer = outer
    }

    /// The observer call inside which the current code runs on this thread; `nil` if there is none.
    static var current: ObserverCall? {
        tc_observerCall().map { Unmanaged<ObserverCall>.fromOpaque($0).takeUnretainedValue() }
    }

    static func of(_ observer: UInt64, within outer: ObserverCall?) -> ObserverCall {
        ObserverCall(observer, within: outer)
    }

    /// The value of ``current`` while the library calls the client's redaction closure or configured clock, or writes
    /// to the system's log. These are not calls of an observer, but no observer receives the events that they cause.
    static let excludingEverybody = ObserverCall(nil, within: nil)

    /// Returns whether an observer must not receive the events that this call causes.
    ///
    /// - Parameter observer: The number of the observer.
    func excludes(_ observer: UInt64) -> Bool {
        guard let number else { return true }
        return number == observer || outer?.excludes(observer) ?? false
    }

    func perform(_ body: () -> Void) { Self.perform(in: self, body) }

    /// Runs `body` as part of a call of an observer; if `call` is `nil`, as code that runs outside any observer call.
    static func perform(in call: ObserverCall?, _ body: () -> Void) {
        let former = tc_observerCall()
        withExtendedLifetime(call) {
            tc_setObserverCall(call.map { Unmanaged.passUnretained($0).toOpaque() })
            body()
            tc_setObserverCall(former)
        }
    }
}
