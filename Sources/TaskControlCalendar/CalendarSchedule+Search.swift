internal import Foundation

/// The times of a schedule, derived day by day from the offsets of the time zone.
extension CalendarSchedule {
    private static let secondsPerDay = 86_400
    /// A month with its longest distance to the next, and the days at both ends whose times may be on either side.
    private static let longestSearch = 66

    /// Returns the first time after another; `nil` if the schedule has no times.
    func next(after time: UnixTime) -> UnixTime? {
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
        let today = day(of: time)
        for day in ((today - Self.longestSearch)...(today + 1)).reversed() {
            guard times(on: day).contains(where: { $0 <= time }) else { continue }
            return (times(on: day) + times(on: day - 1)).filter { $0 <= time }.max()
        }
        return nil
    }

    /// Returns the times of the schedule that belong to a day of the time zone.
    private func times(on day: Int) -> [UnixTime] {
        let start = day * Self.secondsPerDay
        switch rule {
        case .hour(let minutes):
            return (0..<24).flatMap { hour in minutes.flatMap { times(withLocalTime: start + (hour * 60 + $0) * 60) } }
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
        return [transition(around: local, from: before)]
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

    /// Returns the first second with another offset than that of the day before a local time.
    private func transition(around local: Int, from before: Int) -> UnixTime {
        var (low, high) = (local - Self.secondsPerDay, local + Self.secondsPerDay)
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
