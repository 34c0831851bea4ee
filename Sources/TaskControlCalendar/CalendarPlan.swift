internal import Foundation
internal import TaskControlSupervision

/// The times of `every` with a calendar: those of a ``CalendarStateMachine``, which this type gives the readings of the
/// wall clock.
struct CalendarPlan: TickPlan {
    private let schedule: CalendarSchedule
    private let wallClock: @Sendable () -> Date
    private var machine: CalendarStateMachine

    init(
        _ schedule: CalendarSchedule,
        missed: CalendarSchedule.Missed,
        wallClock: @escaping @Sendable () -> Date
    ) {
        (self.schedule, self.wallClock) = (schedule, wallClock)
        machine = CalendarStateMachine(schedule, missed: missed, start: UnixTime(wallClock()))
    }

    mutating func step(at now: Duration) -> TickStep<CalendarTick> {
        let date = wallClock()
        switch machine.look(at: UnixTime(date)) {
        case .sleep(let time):
            // The seconds of the wall clock are not whole: a microsecond at least, so that time passes.
            let rest = time.date.timeIntervalSince(date)
            let longest = Double(CalendarStateMachine.longestSleep)
            return .sleep(until: now + .seconds(rest < longest ? max(rest, 1e-6) : longest))
        case .begin(let time, let isLate):
            return .begin(CalendarTick(scheduled: time.date, period: schedule.text(of: time), isLate: isLate))
        }
    }

    mutating func succeed(at now: Duration) {}

    mutating func fail(with error: any Error, at now: Duration) -> Duration? {
        let date = wallClock()
        return schedule.next(after: date).map { .seconds($0.timeIntervalSince(date)) } ?? .zero
    }
}
