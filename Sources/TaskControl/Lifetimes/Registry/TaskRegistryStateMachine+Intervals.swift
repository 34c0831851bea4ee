/// Intervals: at most one throttled task of a lane begins in each.
extension TaskRegistryStateMachine {
    /// The serial of the task that has begun it, and the slot of its lane.
    typealias IntervalID = Ticket

    /// The interval of a lane. It begins when a throttled task begins; until then that task claims it.
    struct Interval {
        enum Start {
            case claimed(by: Slot)
            case begun(IntervalID)
        }

        var start: Start
        /// The only entry that waits for the end.
        var waiting: Slot?
        /// The task that sleeps until the end; `nil` while it is being created.
        var timer: Job?
    }

    /// A throttled task has been added: it claims the interval of its lane, or waits for the end of it.
    mutating func takePlace(_ slot: Slot, _ phase: Phase) {
        let lane = entries[slot].lane
        if phase == .admitted {
            intervals[lane] = Interval(start: .claimed(by: slot))
        } else {
            intervals[lane]?.waiting = slot
        }
    }

    /// An entry does not begin: it no longer claims an interval, or waits for one. The caller promotes.
    mutating func givePlaceUp(_ slot: Slot) {
        if intervals.isEmpty { return }
        let lane = entries[slot].lane
        guard lane != Chain.none, let interval = intervals[lane] else { return }
        if interval.waiting == slot { intervals[lane]?.waiting = nil }
        if case .claimed(by: slot) = interval.start { end(lane) }
    }

    /// The task that has claimed the interval of its lane begins.
    mutating func beginInterval(_ id: ID, _ effects: inout Effects) {
        let (lane, time) = (entries[id.slot].lane, sides[id.slot]?.time ?? .zero)
        if time > .zero {
            let interval = IntervalID(serial: entries[id.slot].serial, slot: lane)
            intervals[lane]?.start = .begun(interval)
            effects.begin(interval, lasting: time)
        } else {
            end(lane)
            admit(lane, &effects)
        }
    }

    /// The timer of an interval exists. If the interval has ended, or the registry is closed and has no task that could wait for it, the timer is cancelled.
    mutating func attachTimer(_ id: IntervalID, _ timer: Job, _ effects: inout Effects) {
        guard hasInterval(id) else { return effects.stop(timer) }
        intervals[id.slot]?.timer = timer
        if isClosed, liveCount == 0 { effects.stop(timer) }
    }

    /// An interval has ended: the entry that waits for it may start. A second report has no effect.
    ///
    /// - Returns: A key of the user, which must be released with the lock free.
    mutating func intervalEnded(_ id: IntervalID, _ effects: inout Effects) -> Key? {
        guard hasInterval(id) else { return nil }
        end(id.slot)
        admit(id.slot, &effects)
        return removeIfUnused(id.slot)
    }

    private func hasInterval(_ id: IntervalID) -> Bool {
        if case .begun(id)? = intervals[id.slot]?.start { true } else { false }
    }

    /// Ends the interval of a lane; the entry that waits for it stays known until `admit`.
    private mutating func end(_ lane: Slot) {
        guard let waiting = intervals[lane]?.waiting else {
            intervals[lane] = nil
            return intervals.shrinkIfMostlyEmpty()
        }
        intervals[lane] = Interval(start: .claimed(by: waiting), waiting: waiting)
    }

    /// Lets the entry that has claimed the interval of its lane start, if it waits.
    mutating func admit(_ lane: Slot, _ effects: inout Effects) {
        guard case .claimed(by: let slot)? = intervals[lane]?.start, entries[slot].phase == .throttled else { return }
        intervals[lane]?.waiting = nil
        entries[slot].phase = .admitted
        effects.wake(takeParked(slot))
    }
}
