public import Foundation
internal import TaskControl

// So that `missed: .skip` needs no import of that module.
@_exported public import enum TaskControlSupervision.MissedTicks

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
    /// - Returns: The time; `nil` if the schedule has no times, if the date is more than about 95,000 years from 1970, or if
    ///   it is no number.
    /// - Complexity: O(1).
    public func next(after date: Date) -> Date? {
        // Later times are limited, and nothing is later than a date that is no number.
        next(after: UnixTime(date)).map(\.date).flatMap { $0 > date ? $0 : nil }
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

/// The times of a schedule, derived day by day from the offsets of the time zone.
extension CalendarSchedule {
    private static let secondsPerDay = 86_400
    /// A month with its longest distance to the next, and the days at both ends whose times may be on either side.
    private static let longestSearch = 66

    /// Returns the first time after another; `nil` if the schedule has no times.
    func next(after time: UnixTime) -> UnixTime? {
        if case .hour(let minutes) = rule { return minutes.isEmpty ? nil : next(of: minutes, after: time) }
        let today = day(of: time)
        for day in (today - 1)...(today + Self.longestSearch) {
            guard times(on: day).contains(where: { $0 > time }) else { continue }
            // Where clocks are set back at midnight, a time of the next day may be earlier.
            return (times(on: day) + times(on: day + 1)).filter { $0 > time }.min()
        }
        return nil
    }

    /// Returns the last time that is not after another; `nil` if the schedule has no times.
    func last(notAfter time: UnixTime) -> UnixTime? {
        if case .hour(let minutes) = rule { return minutes.isEmpty ? nil : last(of: minutes, notAfter: time) }
        let today = day(of: time)
        for day in ((today - Self.longestSearch)...(today + 1)).reversed() {
            guard times(on: day).contains(where: { $0 <= time }) else { continue }
            return (times(on: day) + times(on: day - 1)).filter { $0 <= time }.max()
        }
        return nil
    }

    /// Returns the first time after another at which clocks show one of the given minutes of an hour.
    private func next(of minutes: [Int], after time: UnixTime) -> UnixTime {
        let offset = offset(at: time)
        let next = time + Self.distance(from: time.seconds + offset, toNextOf: minutes)
        if self.offset(at: next) == offset { return next }
        // Clocks are changed on the way. From the change on, they have the other offset.
        let change = transition(from: time, to: next)
        let local = change.seconds + self.offset(at: change) - 1
        return change + (Self.distance(from: local, toNextOf: minutes) - 1)
    }

    /// Returns the last time not after another at which clocks show one of the given minutes of an hour.
    private func last(of minutes: [Int], notAfter time: UnixTime) -> UnixTime {
        let offset = offset(at: time)
        let last = time + -Self.distance(to: time.seconds + offset, fromLastOf: minutes)
        if self.offset(at: last) == offset { return last }
        let end = transition(from: last, to: time) + -1
        return end + -Self.distance(to: end.seconds + self.offset(at: end), fromLastOf: minutes)
    }

    private static let secondsPerHour = 3_600

    /// Returns the seconds from a local time to the next of the given minutes: 1 or more.
    private static func distance(from local: Int, toNextOf minutes: [Int]) -> Int {
        let second = local - local.quotient(by: secondsPerHour) * secondsPerHour
        let next = minutes.first { $0 * 60 > second }.map { $0 * 60 } ?? minutes[0] * 60 + secondsPerHour
        return next - second
    }

    /// Returns the seconds from the last of the given minutes to a local time: 0 or more.
    private static func distance(to local: Int, fromLastOf minutes: [Int]) -> Int {
        let second = local - local.quotient(by: secondsPerHour) * secondsPerHour
        let last =
            minutes.last { $0 * 60 <= second }.map { $0 * 60 } ?? minutes[minutes.count - 1] * 60 - secondsPerHour
        return second - last
    }

    /// Returns the times of the schedule that belong to a day of the time zone. A schedule of each hour has none here.
    private func times(on day: Int) -> [UnixTime] {
        let start = day * Self.secondsPerDay
        switch rule {
        case .hour: return []
        case .day(let time):
            return times(at: start + time.seconds)
        case .week(let days, let time):
            return days.contains(CivilDay(day).weekday) ? times(at: start + time.seconds) : []
        case .month(let wanted, let time):
            let civil = CivilDay(day)
            return civil.day == min(wanted, civil.daysInMonth) ? times(at: start + time.seconds) : []
        }
    }

    /// Returns the one time of a local time: the first, if clocks show it twice, and the end of the gap, if they do not
    /// show it. A whole day that a time zone leaves out, as at the date line, has no time.
    private func times(at local: Int) -> [UnixTime] {
        if let first = times(withLocalTime: local).min() { return [first] }
        let (before, after) = offsets(around: local)
        guard (1..<Self.secondsPerDay / 2).contains(after - before) else { return [] }
        let time = UnixTime(seconds: local)
        return [transition(from: time + -Self.secondsPerDay, to: time + Self.secondsPerDay)]
    }

    /// Returns all times at which clocks show a local time, given as seconds since 1970 as if the zone were UTC.
    private func times(withLocalTime local: Int) -> [UnixTime] {
        let (before, after) = offsets(around: local)
        return Set([before, after]).map { UnixTime(seconds: local - $0) }.filter {
            offset(at: $0) == local - $0.seconds
        }
    }

    /// The offsets to UTC a day before and a day after a local time: between them is at most one change.
    private func offsets(around local: Int) -> (before: Int, after: Int) {
        let time = UnixTime(seconds: local)
        return (offset(at: time + -Self.secondsPerDay), offset(at: time + Self.secondsPerDay))
    }

    /// Returns the first second after a time that has another offset. There is one change of the offset until `end`.
    private func transition(from start: UnixTime, to end: UnixTime) -> UnixTime {
        let before = offset(at: start)
        var (low, high) = (start.seconds, end.seconds)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if offset(at: UnixTime(seconds: middle)) == before { low = middle } else { high = middle }
        }
        return UnixTime(seconds: high)
    }

    private func offset(at time: UnixTime) -> Int { timeZone.secondsFromGMT(for: time.date) }

    /// The number of the day that clocks show.
    private func day(of time: UnixTime) -> Int {
        (time.seconds + offset(at: time)).quotient(by: Self.secondsPerDay)
    }

    /// The local time as a text with its offset, such as "2026-11-24T02:00:00+01:00".
    func text(of time: UnixTime) -> String {
        func pad(_ number: Int, _ width: Int = 2) -> String {
            let digits = "\(abs(number))"
            return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let offset = offset(at: time)
        let local = time.seconds + offset
        let civil = CivilDay(local.quotient(by: Self.secondsPerDay))
        let second = local - civil.number * Self.secondsPerDay
        let date = "\(pad(civil.year, 4))-\(pad(civil.month))-\(pad(civil.day))"
        let clock = "\(pad(second / 3_600)):\(pad(second / 60 % 60)):\(pad(second % 60))"
        let distance = abs(offset)
        return "\(date)T\(clock)\(offset < 0 ? "-" : "+")\(pad(distance / 3_600)):\(pad(distance / 60 % 60))"
    }
}

extension CalendarSchedule {
    /// A time of the day, such as `"02:00"`.
    public struct Time: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The seconds since 00:00.
        let seconds: Int

        /// Creates a time from its parts.
        ///
        /// - Parameters:
        ///   - hour: The hour. Less than 0 counts as 0, and more than 23 as 23.
        ///   - minute: The minute. Less than 0 counts as 0, and more than 59 as 59.
        ///   - second: The second. Less than 0 counts as 0, and more than 59 as 59.
        public init(hour: Int, minute: Int, second: Int = 0) {
            let hours = CalendarSchedule.number(hour, in: 0...23, "CalendarSchedule.Time(hour:)")
            let minutes = CalendarSchedule.number(minute, in: 0...59, "CalendarSchedule.Time(minute:)")
            seconds =
                (hours * 60 + minutes) * 60
                + CalendarSchedule.number(second, in: 0...59, "CalendarSchedule.Time(second:)")
        }

        /// Creates a time from a text that is known at run time only, such as a setting.
        ///
        /// - Parameter text: The hour, the minute and perhaps the second, such as "02:00" or "23:59:59".
        /// - Returns: `nil` if the text is not such a time.
        public init?(_ text: String) {
            let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard (2...3).contains(parts.count) else { return nil }
            var seconds = 0
            for (part, limit) in zip(parts, [24, 60, 60]) {
                guard (1...2).contains(part.count), part.allSatisfy({ (48...57).contains($0) }) else { return nil }
                let number = part.reduce(0) { $0 * 10 + Int($1) - 48 }
                guard number < limit else { return nil }
                seconds = seconds * 60 + number
            }
            self.seconds = parts.count == 2 ? seconds * 60 : seconds
        }

        /// Creates a time from a literal, such as "02:00" or "23:59:59". Traps if the literal is not such a time.
        public init(stringLiteral literal: String) {
            guard let time = Self(literal) else {
                fatalError(
                    "CalendarSchedule.Time: \"\(literal)\" is not a time. Write hours and minutes, such as \"02:00\"."
                )
            }
            self = time
        }

        /// The time as a text, such as "02:00", with the seconds if there are any.
        public var description: String {
            func text(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
            let minutes = "\(text(seconds / 3_600)):\(text(seconds / 60 % 60))"
            return seconds % 60 == 0 ? minutes : "\(minutes):\(text(seconds % 60))"
        }
    }
}
