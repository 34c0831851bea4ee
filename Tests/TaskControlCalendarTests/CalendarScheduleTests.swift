import Foundation
import TestSupport
import Testing

@testable import TaskControlCalendar

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct CalendarScheduleTests {
    private static let berlin = Zones.zone("Europe/Berlin")

    private static func periods(_ schedule: CalendarSchedule, after start: String, _ count: Int) -> [String] {
        var (time, periods) = (UnixTime(Zones.date(start)), [String]())
        for _ in 0..<count {
            guard let next = schedule.next(after: time) else { break }
            periods.append(schedule.text(of: next))
            time = next
        }
        return periods
    }

    // MARK: The documented cases

    @Test func aTimeThatADayLacksIsTheEndOfTheGap() {
        let schedule = CalendarSchedule.day(at: "02:30", in: Self.berlin)
        #expect(
            Self.periods(schedule, after: "2026-03-28T00:00:00Z", 3) == [
                "2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00",
            ]
        )
    }

    @Test func aTimeThatADayHasTwiceIsTheFirst() {
        let schedule = CalendarSchedule.day(at: "02:30", in: Self.berlin)
        #expect(
            Self.periods(schedule, after: "2026-10-24T01:00:00Z", 2) == [
                "2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00",
            ]
        )
        // In between, when clocks show 02:30 for the second time.
        #expect(Self.periods(schedule, after: "2026-10-25T01:00:00Z", 1) == ["2026-10-26T02:30:00+01:00"])
    }

    @Test func eachHourFollowsTheMinutesOfTheClock() {
        let half = CalendarSchedule.hour(atMinutes: [30], in: Self.berlin)
        #expect(
            Self.periods(half, after: "2026-10-24T23:00:00Z", 4) == [
                "2026-10-25T01:30:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00",
                "2026-10-25T03:30:00+01:00",
            ]
        )
        #expect(
            Self.periods(half, after: "2026-03-29T00:00:00Z", 2) == [
                "2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00",
            ]
        )
        // Clocks are set forward by half an hour at 02:00: the minutes from 0 to 29 are left out.
        let quarter = CalendarSchedule.hour(atMinutes: [15], in: Zones.zone("Australia/Lord_Howe"))
        #expect(
            Self.periods(quarter, after: "2026-10-03T14:40:00Z", 2) == [
                "2026-10-04T01:15:00+10:30", "2026-10-04T03:15:00+11:00",
            ]
        )
        let india = CalendarSchedule.hour(atMinutes: [0], in: Zones.zone("Asia/Kolkata"))
        #expect(Self.periods(india, after: "2026-01-01T00:00:00Z", 1) == ["2026-01-01T06:00:00+05:30"])
    }

    @Test func aDayThatAZoneLeavesOutHasNoTime() {
        let schedule = CalendarSchedule.day(at: "02:00", in: Zones.zone("Pacific/Apia"))
        #expect(
            Self.periods(schedule, after: "2011-12-29T00:00:00Z", 3) == [
                "2011-12-29T02:00:00-10:00", "2011-12-31T02:00:00+14:00", "2012-01-01T02:00:00+14:00",
            ]
        )
    }

    @Test func aMonthThatIsShorterHasItsLastDay() {
        let schedule = CalendarSchedule.month(onDay: 31, at: "06:00", in: .gmt)
        #expect(
            Self.periods(schedule, after: "2028-01-01T00:00:00Z", 4) == [
                "2028-01-31T06:00:00+00:00", "2028-02-29T06:00:00+00:00", "2028-03-31T06:00:00+00:00",
                "2028-04-30T06:00:00+00:00",
            ]
        )
    }

    @Test func computedValuesOutOfRangeAreTheNearest() {
        #expect(CalendarSchedule.Time(hour: 99, minute: -1) == "23:00")
        #expect(CalendarSchedule.month(onDay: 0, at: "06:00", in: .gmt) == .month(onDay: 1, at: "06:00", in: .gmt))
        #expect(CalendarSchedule.hour(atMinutes: [-5, 60], in: .gmt) == .hour(atMinutes: [0, 59], in: .gmt))
        #expect(CalendarSchedule.hour(atMinutes: [], in: .gmt).next(after: Date()) == nil)
        #expect(CalendarSchedule.week(on: [], at: "06:00", in: .gmt).next(after: Date()) == nil)
    }

    @Test(arguments: [CalendarSchedule.day(at: "06:00", in: .gmt), .hour(atMinutes: [0], in: .gmt)])
    func theNextTimeIsLaterOrThereIsNone(_ schedule: CalendarSchedule) {
        for interval in [Double.nan, .infinity, 1e300, 1e18, 3.1e12, 3e12] {
            let date = Date(timeIntervalSince1970: interval)
            #expect(schedule.next(after: date).map { $0 > date } ?? true, "\(interval)")
        }
        for interval in [-Double.infinity, -1e300, -3.1e12, 2.9e12] {
            let date = Date(timeIntervalSince1970: interval)
            #expect(schedule.next(after: date).map { $0 > date } == true, "\(interval)")
        }
    }

    /// Beside a model that looks at each second around each change of an offset.
    @Test(arguments: Zones.all + ["Pacific/Apia", "Asia/Kathmandu"])
    func eachHourHasTheMinutesThatClocksShowInEachZone(_ name: String) throws {
        let zone = Zones.zone(name)
        func offset(_ seconds: Int) -> Int { zone.secondsFromGMT(for: UnixTime(seconds: seconds).date) }
        var changes: [Int] = []
        var date = Zones.date("2009-01-01T00:00:00Z")
        while let next = zone.nextDaylightSavingTimeTransition(after: date), changes.count < fullSize(40, inDebug: 4) {
            changes.append(Int(next.timeIntervalSince1970))
            date = next
        }
        if name == "Pacific/Apia" { changes.append(Int(Zones.date("2011-12-30T10:00:00Z").timeIntervalSince1970)) }
        for minutes in [[0], [15, 59], [29, 30, 31]] as [Set<Int>] {
            let schedule = CalendarSchedule.hour(atMinutes: minutes, in: zone)
            for change in changes + [1_700_000_000] {
                let range = (change - 3 * 3_600)...(change + 3 * 3_600)
                let times = range.filter { second in
                    let local = (second + offset(second)) % 3_600
                    return local % 60 == 0 && minutes.contains(local / 60)
                }
                for (time, next) in zip(times, times.dropFirst()) {
                    for start in [time, (time + next) / 2, next - 1] {
                        if schedule.next(after: UnixTime(seconds: start)) != UnixTime(seconds: next) {
                            Issue.record("\(minutes) in \(name): not \(next) after \(start)")
                        }
                        if schedule.last(notAfter: UnixTime(seconds: start)) != UnixTime(seconds: time) {
                            Issue.record("\(minutes) in \(name): not \(time) until \(start)")
                        }
                    }
                }
            }
        }
    }

    @Test func aTimeIsReadFromAText() {
        for text in ["", "2", "02:00:00:00", "24:00", "02:60", "-1:00", "02:0x", "002:00", "02:00:60", ":", "٠٢:٠٠"] {
            #expect(CalendarSchedule.Time(text) == nil, "\(text)")
        }
        for text in ["02:00", "23:59", "00:00", "23:59:59"] {
            #expect(CalendarSchedule.Time(text).map { "\($0)" } == text)
        }
        #expect(CalendarSchedule.Time("2:5") == CalendarSchedule.Time(hour: 2, minute: 5))
        #expect(
            "\(CalendarSchedule.week(on: [.friday, .monday], at: "09:00", in: .gmt))"
                == "09:00 on [\"monday\", \"friday\"] (GMT)"
        )
    }

    // MARK: Ten zones over ten years

    @Test(arguments: Zones.all)
    func eachDayHasItsTimeOnceInEachZone(_ name: String) throws {
        let zone = Zones.zone(name)
        func offset(_ seconds: Int) -> Int { zone.secondsFromGMT(for: UnixTime(seconds: seconds).date) }
        for text in ["00:00", "00:30", "01:59:59", "02:00", "02:15", "02:30", "03:00", "12:00", "23:30"] {
            let time = try #require(CalendarSchedule.Time(text))
            let schedule = CalendarSchedule.day(at: time, in: zone)
            var last = schedule.next(after: UnixTime(Zones.date("2016-06-01T00:00:00Z")))!
            for _ in 0..<fullSize(3_653, inDebug: 370) {
                let next = try #require(schedule.next(after: last))
                let local = next.seconds + offset(next.seconds)
                let lastDay = (last.seconds + offset(last.seconds)) / 86_400
                if local / 86_400 != lastDay + 1 { Issue.record("\(text) in \(name): not the day after \(last.date)") }
                if local % 86_400 == time.seconds {
                    // The first time: the clocks have not shown it before.
                    for shift in [1_800, 3_600, 7_200]
                    where offset(next.seconds - shift) - offset(next.seconds) == shift {
                        Issue.record("\(text) in \(name): \(next.date) is the second time")
                    }
                } else {
                    // The end of a gap over the time: the second before it has another offset.
                    let jump = offset(next.seconds) - offset(next.seconds - 1)
                    let wanted = local - local % 86_400 + time.seconds
                    if !(jump > 0 && wanted < local && wanted >= local - jump) {
                        Issue.record("\(text) in \(name): \(next.date) is neither the time nor the end of a gap")
                    }
                }
                if schedule.last(notAfter: next) != next || schedule.last(notAfter: next + -1) != last {
                    Issue.record("\(text) in \(name): the search backward differs at \(next.date)")
                }
                last = next
            }
        }
    }

    @Test(arguments: Zones.all)
    func weeksAndMonthsHaveTheirDaysInEachZone(_ name: String) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = Zones.zone(name)
        let week = CalendarSchedule.week(on: [.monday, .saturday], at: "02:30", in: calendar.timeZone)
        let month = CalendarSchedule.month(onDay: 30, at: "02:30", in: calendar.timeZone)
        var time = Zones.date("2016-06-01T00:00:00Z")
        for _ in 0..<fullSize(1_044, inDebug: 200) {
            let next = week.next(after: time)!
            let days = (calendar.component(.weekday, from: time), calendar.component(.weekday, from: next))
            if !(days == (2, 7) || days == (7, 2) || time == Zones.date("2016-06-01T00:00:00Z") && days.1 == 7) {
                Issue.record("\(next) follows \(time) in \(name)")
            }
            if next.timeIntervalSince(time) > 5.2 * 86_400 { Issue.record("\(next) is late in \(name)") }
            time = next
        }
        time = Zones.date("2016-06-01T00:00:00Z")
        for number in 0..<fullSize(120, inDebug: 36) {
            time = month.next(after: time)!
            let parts = calendar.dateComponents([.year, .month, .day], from: time)
            let length = calendar.range(of: .day, in: .month, for: time)!.count
            if parts.day != min(30, length) || parts.month != (number + 5) % 12 + 1 {
                Issue.record("\(time) in \(name) is number \(number)")
            }
        }
    }

    @Test func daysOfTheCalendarAreThoseOfFoundation() {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let first = Int(Zones.date("1600-01-01T00:00:00Z").timeIntervalSince1970) / 86_400
        for number in stride(from: first, to: first + 300_000, by: fullSize(1, inDebug: 97)) {
            let date = Date(timeIntervalSince1970: Double(number) * 86_400)
            let parts = calendar.dateComponents([.year, .month, .day, .weekday], from: date)
            let day = CivilDay(number)
            if (day.year, day.month, day.day, day.weekday + 1) != (
                parts.year!, parts.month!, parts.day!, parts.weekday!
            ) {
                Issue.record("\(date)")
            }
            if day.daysInMonth != calendar.range(of: .day, in: .month, for: date)!.count { Issue.record("\(date)") }
        }
    }
}
