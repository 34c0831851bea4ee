@_spi(Observers) internal import TaskControl

extension TrackerStateMachine {
    /// Returns the waits that began at or before a time. A wait that only lasts until a time, such as the delay of a
    /// retry, is not among them.
    ///
    /// - Complexity: O(*n*) for *n* tasks and calls, and their callers.
    func waits(since latest: Duration) -> [HangStateMachine.Wait] {
        subjects.compactMap { id, subject in
            guard let since = subject.waitsSince, since <= latest else { return nil }
            let number = subject.primitive.isAwaited ? subject.order : subject.phaseOrder
            return HangStateMachine.Wait(id: id, number: number, since: since)
        }
    }

    /// Returns the tasks and calls that hold a thread, or wait for one, as far as events show: the first of them, at
    /// most a number.
    func active(atMost count: Int) -> [TaskEvent.Identity] {
        let active = subjects.filter { !$0.value.hasToWait && $0.value.delay == nil }
        return active.sorted { $0.value.order < $1.value.order }.prefix(count).map(\.key)
    }
}

extension TrackerStateMachine.Subject {
    /// The time since which the subject waits, or since which a caller waits for its end; `nil` if neither is the case,
    /// and if the wait ends by itself after a time.
    fileprivate var waitsSince: Duration? {
        if delay != nil || primitive.traits.contains(.limited) { return nil }
        if primitive.isAwaited { return callers.values.lazy.map(\.since).min() }
        return phase == .waiting ? phaseSince : nil
    }
}
