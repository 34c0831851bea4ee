public import Foundation
internal import TaskControl

/// The times at which periodic work begins, in the calendar of a time zone: each hour, day, week or month.
///
/// ```swift
/// lifetime.every(.day(at: "02:00", in: .gmt)) { tick in
///     try await server.heartbeat()
/// }
/// ```
///
/// The calendar is the Gregorian one. The schedule follows the time zone, also when its offset to UTC changes:
///
/// - A time that a day lacks, because clocks are set forward over it, is replaced by the end of the gap: 02:30 becomes
///   03:00 on a day on which 02:00 to 03:00 is left out.
/// - A time that a day has twice, because clocks are set back, counts the first time only.
/// - A schedule of each hour follows the minutes that clocks show: it has both hours of a day that has one twice, and
///   leaves out minutes that a day lacks.
///
/// Work at regular intervals, regardless of the calendar, is that of `every` of `TaskControlSupervision` with a
/// `Duration`.
public struct CalendarSchedule: Hashable, Sendable, CustomStringConvertible {
    enum Rule: Hashable, Sendable {
        /// At these minutes of each hour, in ascending order.
        case hour(minutes: [Int])
        case day(Time)
        /// On these days of the week, counted from Sunday as 0.
        case week(Set<Int>, Time)
        /// On this day of each month, from 1 to 31; on its last day if it is shorter.
        case month(day: Int, Time)
    }

    private static let weekdays: [Locale.Weekday] = [
        .sunday, .monday, .tuesday, .wednesday, .thursday, .friday, .saturday,
    ]

    let rule: Rule
    /// The time zone of the schedule.
    public let timeZone: TimeZone

    /// Returns a schedule of times in each hour.
    ///
    /// - Parameters:
    ///   - minutes: The minutes, such as `[0, 15, 30, 45]`. Less than 0 counts as 0, and more than 59 as 59. Without any
    ///     minute, the schedule has no times.
    ///   - timeZone: The time zone, whose offset to UTC is not always a whole number of hours.
    public static func hour(atMinutes minutes: Set<Int>, in timeZone: TimeZone) -> Self {
        Self(
            rule: .hour(
                minutes: Set(minutes.map { number($0, in: 0...59, "CalendarSchedule.hour(atMinutes:)") }).sorted()
            ),
            timeZone: timeZone
        )
    }

    /// Returns a schedule with one time per day.
    ///
    /// - Parameters:
    ///   - time: The time of the day, such as "02:00".
    ///   - timeZone: The time zone.
    public static func day(at time: Time, in timeZone: TimeZone) -> Self {
        Self(rule: .day(time), timeZone: timeZone)
    }

    /// Returns a schedule with one time on some days of each week.
    ///
    /// - Parameters:
    ///   - days: The days of the week, such as `[.monday, .friday]`. Without any day, the schedule has no times.
    ///   - time: The time of the day, such as "02:00".
    ///   - timeZone: The time zone.
    public static func week(on days: Set<Locale.Weekday>, at time: Time, in timeZone: TimeZone) -> Self {
        let numbers = days.compactMap { weekdays.firstIndex(of: $0) }
        return Self(rule: .week(Set(numbers), time), timeZone: timeZone)
    }

    /// Returns a schedule with one time per month.
    ///
    /// - Parameters:
    ///   - day: The day of the month, from 1. In a month that is shorter, its last day: with 31, the last day of each
    ///     month. Less than 1 counts as 1, and more than 31 as 31.
    ///   - time: The time of the day, such as "02:00".
    ///   - timeZone: The time zone.
    public static func month(onDay day: Int, at time: Time, in timeZone: TimeZone) -> Self {
        Self(rule: .month(day: number(day, in: 1...31, "CalendarSchedule.month(onDay:)"), time), timeZone: timeZone)
    }

    static func number(_ value: Int, in range: ClosedRange<Int>, _ parameter: StaticString) -> Int {
        ComputedNumber.count(value, in: range, parameter, TaskEvent.Primitive(rawValue: "CalendarSchedule"))
    }

    /// Returns the first time of the schedule after a date.
    ///
    /// - Parameter date: The date. The result is later, also if the schedule has this date.
    /// - Returns: The time; `nil` if the schedule has no times.
    /// - Complexity: O(1).
    public func next(after date: Date) -> Date? {
        next(after: UnixTime(date)).map(\.date)
    }

    /// A text such as "02:00 each day (Europe/Berlin)".
    public var description: String {
        let text =
            switch rule {
            case .hour(let minutes): "at minutes \(minutes) of each hour"
            case .day(let time): "\(time) each day"
            case .week(let days, let time): "\(time) on \(days.sorted().map { "\(Self.weekdays[$0])" })"
            case .month(let day, let time): "\(time) on day \(day) of each month"
            }
        return "\(text) (\(timeZone.identifier))"
    }
}
