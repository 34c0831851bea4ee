public import Foundation
internal import TaskControlSupervision

/// The times of `every` with a calendar: those of a ``CalendarStateMachine``, which this type gives the readings of the
/// wall clock.
struct CalendarPlan: TickPlan {
    private let schedule: CalendarSchedule
    private let wallClock: @Sendable () -> Date
    private var machine: CalendarStateMachine

    init(
        _ schedule: CalendarSchedule,
        missed: MissedTicks,
        wallClock: @escaping @Sendable () -> Date
    ) {
        (self.schedule, self.wallClock) = (schedule, wallClock)
        machine = CalendarStateMachine(schedule, missed: missed, start: UnixTime(wallClock()))
    }

    mutating func step(at now: Duration) -> TickStep<CalendarSchedule.Tick> {
        let date = wallClock()
        switch machine.look(at: UnixTime(date)) {
        case .sleep(let time):
            // The seconds of the wall clock are not whole: a microsecond at least, so that time passes.
            let rest = time.date.timeIntervalSince(date)
            let longest = Double(CalendarStateMachine.longestSleep)
            return .sleep(until: now + .seconds(rest < longest ? max(rest, 1e-6) : longest))
        case .begin(let time, let isLate):
            return .begin(CalendarSchedule.Tick(scheduled: time.date, period: schedule.text(of: time), isLate: isLate))
        }
    }

    mutating func succeed(at now: Duration) {}

    mutating func fail(with error: any Error, at now: Duration) -> Duration? {
        let date = wallClock()
        return schedule.next(after: date).map { .seconds($0.timeIntervalSince(date)) } ?? .zero
    }
}

extension CalendarSchedule {
    /// A time of a ``CalendarSchedule`` at which work begins.
    public struct Tick: Hashable, Sendable, CustomStringConvertible {
        /// The time of the schedule: that for which the work was planned, not that at which it has begun.
        public let scheduled: Date
        /// The local time of ``scheduled`` with its offset to UTC, such as "2026-11-24T02:00:00+01:00". All machines with the
        /// same schedule have the same text for the same tick: pass it to `runOnce` of `TaskControlFleet` as the period.
        public let period: String
        /// Whether the time was missed by more than a minute, for example because the device slept: see
        /// `MissedTicks`.
        public let isLate: Bool

        /// Creates a tick, for tests.
        ///
        /// - Parameters:
        ///   - scheduled: The time of the schedule.
        ///   - period: The text of the time.
        ///   - isLate: Whether the time was missed by more than a minute.
        public init(scheduled: Date, period: String, isLate: Bool = false) {
            (self.scheduled, self.period, self.isLate) = (scheduled, period, isLate)
        }

        /// The same text as ``period``.
        public var description: String { period }
    }
}
