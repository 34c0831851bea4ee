internal import TaskControlSupervision

/// The ticks of a schedule, decided from readings of the wall clock, which may be set forward and back. Pure: a value
/// without a lock, task or clock.
///
/// The wall clock is read again after each minute at most, so that a change of the clock, and the end of a device's
/// sleep, are noticed.
struct CalendarStateMachine {
    enum Step: Equatable {
        /// Read the wall clock again at this time, or earlier.
        case sleep(until: UnixTime)
        /// Begin the work for a time of the schedule.
        case begin(UnixTime, isLate: Bool)
    }

    /// The longest time between two readings of the wall clock. A tick that is later than this was missed.
    static let longestSleep = 60
    /// A clock that is set back at once by more than this was wrong, and its times do not count. By less, no time is
    /// repeated, however often it is set back.
    static let longestCorrection = 3 * 3_600

    private let schedule: CalendarSchedule
    private let missed: MissedTicks
    /// The ticks until this time have begun or are left out.
    private var handled: UnixTime
    /// The last reading of the wall clock.
    private var reading: UnixTime

    init(_ schedule: CalendarSchedule, missed: MissedTicks, start: UnixTime) {
        (self.schedule, self.missed) = (schedule, missed)
        (handled, reading) = (start, start)
    }

    /// Returns what follows a reading of the wall clock.
    mutating func look(at time: UnixTime) -> Step {
        if reading - time > Self.longestCorrection { handled = time }
        reading = time
        while true {
            let again = time + Self.longestSleep
            guard let next = schedule.next(after: handled) else { return .sleep(until: again) }
            guard next <= time, let last = schedule.last(notAfter: time) else { return .sleep(until: min(next, again)) }
            handled = missed == .all ? next : last
            let isLate = time - handled > Self.longestSleep
            if isLate, missed == .skip { continue }
            return .begin(handled, isLate: isLate)
        }
    }
}
