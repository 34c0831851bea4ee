/// The intervals of the behavior `throttle`: in each interval, at most one task with this behavior begins in a ``Lane``
/// (the tasks of one key).
extension TaskRegistryStateMachine {
    /// Identifies an interval by the serial number of the task that has begun it, and the slot of the ``Lane`` of its
    /// key.
    typealias IntervalID = Ticket

    /// The interval of a ``Lane``. The interval begins when a task with the behavior `throttle` begins. Until then, the
    /// task claims the interval: no other task with that behavior can begin.
    struct Interval {
        enum Start {
            case claimed(by: Slot)
            case begun(IntervalID)
        }

        var start: Start
        /// The slot of the task that waits for the end of the interval; `nil` if there is none. At most one task waits.
        var waiting: Slot?
        /// The task that sleeps until the end of the interval; `nil` before the interval begins, and while the timer is
        /// being created.
        var timer: Job?
    }

    /// Records a new task with the behavior `throttle`: in the phase `admitted`, the task claims the interval of its
    /// ``Lane``; otherwise it waits for the end of the interval.
    mutating func takePlace(_ slot: Slot, _ phase: Phase) {
        let lane = entries[slot].lane
        if phase == .admitted {
            intervals[lane] = Interval(start: .claimed(by: slot))
        } else {
            intervals[lane]?.waiting = slot
        }
    }

    /// Records that a task will not begin or has ended: the task no longer claims an interval, or waits for the end of
    /// one. The caller must then call `promote`, because another task may now start.
    mutating func givePlaceUp(_ slot: Slot) {
        if intervals.isEmpty { return }
        let lane = entries[slot].lane
        guard lane != Chain.none, let interval = intervals[lane] else { return }
        if interval.waiting == slot { intervals[lane]?.waiting = nil }
        if case .claimed(by: slot) = interval.start { end(lane) }
    }

    /// Begins the interval of a ``Lane``, because the task that has claimed the interval begins. If the interval has no
    /// length, ends it at once. Has no effect for a task that has not claimed the interval.
    mutating func beginInterval(_ id: ID, _ effects: inout Effects) {
        let (lane, time) = (entries[id.slot].lane, sides[id.slot]?.time ?? .zero)
        guard case .claimed(by: id.slot)? = intervals[lane]?.start else { return }
        if time > .zero {
            let interval = IntervalID(serial: entries[id.slot].serial, slot: lane)
            intervals[lane]?.start = .begun(interval)
            effects.begin(interval, lasting: time)
        } else {
            end(lane)
            admit(lane, &effects)
        }
    }

    /// Attaches the handle of the timer of an interval. Cancels the timer if the interval has ended, or if the registry
    /// is closed and each of its tasks has finished or was cancelled.
    mutating func attachTimer(_ id: IntervalID, _ timer: Job, _ effects: inout Effects) {
        guard hasInterval(id) else { return effects.stop(timer) }
        intervals[id.slot]?.timer = timer
        if isClosed, liveCount == 0 { effects.stop(timer) }
    }

    /// Ends an interval: the task that waits for its end may then start. Has no effect if the interval has ended
    /// before.
    ///
    /// - Returns: The key of the interval, if the machine no longer stores it; otherwise `nil`. The caller must keep
    ///   the key until it has released the lock.
    mutating func intervalEnded(_ id: IntervalID, _ effects: inout Effects) -> Key? {
        guard hasInterval(id) else { return nil }
        end(id.slot)
        admit(id.slot, &effects)
        return removeIfUnused(id.slot)
    }

    private func hasInterval(_ id: IntervalID) -> Bool {
        if case .begun(id)? = intervals[id.slot]?.start { true } else { false }
    }

    /// Ends the interval of a ``Lane``. The task that waits for the end claims the next interval, but does not start
    /// before `admit` is called.
    private mutating func end(_ lane: Slot) {
        guard let waiting = intervals[lane]?.waiting else {
            intervals[lane] = nil
            return intervals.shrinkIfMostlyEmpty()
        }
        intervals[lane] = Interval(start: .claimed(by: waiting), waiting: waiting)
    }

    /// Lets the task that has claimed the interval of a ``Lane`` start, if the task still waits.
    mutating func admit(_ lane: Slot, _ effects: inout Effects) {
        guard case .claimed(by: let slot)? = intervals[lane]?.start, entries[slot].phase == .throttled else { return }
        intervals[lane]?.waiting = nil
        start(slot, as: .admitted, &effects)
    }
}
