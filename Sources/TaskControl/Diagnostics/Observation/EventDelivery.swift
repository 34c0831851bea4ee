internal import CTaskControl

/// Delivers events to observers: completes and redacts them, and holds those about a subject back until its beginning has been delivered.
///
/// Observers are called in the task and on the thread of the event, so that they see its task-locals; never while holding a lock, and
/// never in a handler of the runtime, which holds a lock of its task.
enum EventDelivery {
    /// An event that is complete, and the call of an observer that it happened in.
    private struct HeldEvent {
        let event: TaskEvent
        let call: ObserverCall?
    }

    /// The beginning of a subject that has been decided and not delivered yet.
    private struct Opening {
        let moment: EventMoment
        /// The later events of the subject.
        var held: [HeldEvent] = []
    }

    private struct State {
        var observation = Observation()
        var openings: [TaskEvent.Identity: Opening] = [:]

        /// Called after each change of either, while holding the lock: an opening is closed even if no observer is registered any more.
        func setFlag() { tc_setObserved(!observation.observers.isEmpty || !openings.isEmpty) }
    }

    private static let state = Locked(State())

    // MARK: Observers

    static var current: Observation { state.withLock { $0.observation } }

    /// - Returns: The former observation.
    @discardableResult
    static func replace(_ change: (Observation) -> Observation) -> Observation {
        // Observers that are released are released without the lock.
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

    /// Delivers a beginning to the observers that were registered when it was decided, and then the events that were held back.
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
        // In the call of an observer, held events would reach the same observer in its own call, though they happened elsewhere.
        if call != nil {
            performOutsideHandler { ObserverCall.perform(in: nil) { deliver(held, of: subject) } }
        } else {
            deliver(held, of: subject)
        }
    }

    /// Delivers what has been held back, and what comes meanwhile.
    private static func deliver(_ held: [HeldEvent], of subject: TaskEvent.Identity) {
        var next: [HeldEvent]? = held
        while let held = next {
            for held in held { hand(held.event, held.call) }
            next = takeHeld(subject)
        }
    }

    /// - Returns: The events that have come since; `nil`: none, and the events of the subject are delivered at once from now on.
    private static func takeHeld(_ subject: TaskEvent.Identity) -> [HeldEvent]? {
        // Objects are released without the lock.
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

    /// - Returns: Whether it is held: the beginning of the subject has not been delivered meanwhile.
    private static func hold(_ held: HeldEvent) -> Bool {
        guard let subject = held.event.subject else { return false }
        return state.withLock { $0.openings[subject]?.held.append(held) != nil }
    }

    // MARK: Steps

    /// Adds what is known at the place of the event, without a call of foreign code.
    private static func complete(_ event: inout TaskEvent, _ moment: EventMoment, _ isInside: Bool) {
        event.sequence = moment.sequence
        event.task = .current
        guard isInside else { return }
        if event.taskName == nil { event.taskName = Diagnostics.currentTaskName }
        guard case .ended(let outcome) = event.change else { return }
        // As it was when the end was decided: effects may cancel the task since.
        event.isCancelled = event.isCancelled || moment.isCancelled
        if event.isCancelled, outcome == .failed { event.change = .ended(.cancelled) }
    }

    /// Adds the time, and redacts.
    ///
    /// - Returns: `nil` if no observer must receive it.
    private static func prepare(_ event: TaskEvent, _ observation: Observation, _ call: ObserverCall?) -> TaskEvent? {
        if observation.observers.allSatisfy({ call?.excludes($0.number) ?? false }) { return nil }
        var event = event
        event.time = observation.time
        if let begun = event.age { event.age = event.time - begun }
        if let redact = observation.configuration?.redact {
            ObserverCall.excludingEverybody.perform { event.redactTexts(redact) }
        }
        return event
    }

    /// Calls the observers that were registered when the event was decided, and still are: observers are numbered from the same counter as events.
    /// So an event that is held back keeps no observer alive.
    private static func hand(_ event: TaskEvent, _ call: ObserverCall?) {
        for observer in current.observers
        where observer.number < event.sequence && !(call?.excludes(observer.number) ?? false) {
            ObserverCall.of(observer.number, within: call).perform { observer.observer.receive(event) }
        }
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
