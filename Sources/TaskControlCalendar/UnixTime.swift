internal import Foundation

/// A point in time in whole seconds since 1970, which is computed with without rounding.
struct UnixTime: Hashable, Comparable, Sendable {
    var seconds: Int

    init(seconds: Int) { self.seconds = seconds }

    static func < (one: Self, other: Self) -> Bool { one.seconds < other.seconds }
    static func + (time: Self, seconds: Int) -> Self { Self(seconds: time.seconds + seconds) }
    static func - (one: Self, other: Self) -> Int { one.seconds - other.seconds }
}

/// A day of the Gregorian calendar, counted from January 1, 1970.
struct CivilDay {
    let number: Int
    let year: Int
    /// From 1 to 12.
    let month: Int
    /// From 1 to 31.
    let day: Int

    /// Computed in years that begin on March 1, whose months before the leap day have a fixed pattern, and in eras of 400
    /// years, which all have 146,097 days.
    init(_ number: Int) {
        self.number = number
        let days = number + 719_468  // since March 1 of the year 0
        let era = days.quotient(by: 146_097)
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The day of the week, counted from Sunday as 0. January 1, 1970 was a Thursday.
    var weekday: Int { number + 4 - (number + 4).quotient(by: 7) * 7 }

    /// The number of days of the month.
    var daysInMonth: Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}

extension Int {
    /// Returns the quotient, rounded down.
    func quotient(by divisor: Int) -> Int {
        self >= 0 ? self / divisor : -((divisor - 1 - self) / divisor)
    }
}

extension UnixTime {
    /// Rounds down to the second. A date that is more than 100,000 years from 1970, or no number, is limited.
    init(_ date: Date) {
        let limit = 3e12
        let time = date.timeIntervalSince1970
        seconds = time.isNaN ? 0 : Int(min(max(-limit, time.rounded(.down)), limit))
    }

    var date: Date { Date(timeIntervalSince1970: Double(seconds)) }
}
