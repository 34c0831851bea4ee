internal import Foundation

/// Functions that read dates in the formats of HTTP (RFC 9110, 5.6.7).
enum HTTPDate {
    /// Reads a date in any of the three formats, in Greenwich Mean Time; `nil` if the text has none of them.
    ///
    /// A leap second counts as the first second after it. The name of the weekday is not compared with the date.
    ///
    /// - Parameters:
    ///   - text: The text, without whitespace around it. Upper and lower case are distinguished.
    ///   - now: The current time. A year of two digits is the latest one for which the date is at most 50 years later
    ///     than the current time.
    static func parse(_ text: String, now: Date = Date()) -> Date? {
        let seconds: Int64?
        if let match = text.wholeMatch(
            of: /(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), ([0-9]{2}) ([A-Z][a-z]{2}) ([0-9]{4}) ([0-9:]{8}) GMT/
        ) {
            seconds = Self.seconds(Int64(match.3), match.2, Int(match.1), match.4)
        } else if let match = text.wholeMatch(
            of: /(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([A-Z][a-z]{2}) ([ 0-9][0-9]) ([0-9:]{8}) ([0-9]{4})/
        ) {
            seconds = Self.seconds(Int64(match.4), match.1, Int(match.2.drop { $0 == " " }), match.3)
        } else if let match = text.wholeMatch(
            of: /(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, ([0-9]{2})-([A-Z][a-z]{2})-([0-9]{2}) ([0-9:]{8}) GMT/
        ) {
            let current = Int64(Double.minimum(.maximum(now.timeIntervalSince1970, -30_000_000_000), 200_000_000_000))
            var year = (1_970 + current / 31_556_952) / 100 * 100 + 100 + (Int64(match.3) ?? 0)
            let isLater = { (year: Int64) in
                Self.seconds(year - 50, match.2, Int(match.1), match.4, checksDay: false).map { $0 > current } ?? false
            }
            while isLater(year) { year -= 100 }
            seconds = Self.seconds(year, match.2, Int(match.1), match.4)
        } else {
            return nil
        }
        return seconds.map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns the seconds from 1970 to a date of the Gregorian calendar; `nil` if there is no such date.
    ///
    /// - Parameter checksDay: Whether a day after the end of its month is refused. Otherwise it counts as a day of the
    ///   next month.
    private static func seconds(
        _ year: Int64?,
        _ monthName: Substring,
        _ day: Int?,
        _ time: Substring,
        checksDay: Bool = true
    ) -> Int64? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard let year, let day, let month = months.firstIndex(where: { $0 == monthName }), clock.count == 3,
            clock.allSatisfy({ $0.utf8.count == 2 }), let hour = Int(clock[0]), hour < 24,
            let minute = Int(clock[1]), minute < 60, let second = Int(clock[2]), second <= 60
        else { return nil }
        let isLeapYear = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        let longest = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
        guard day >= 1, day <= longest || !checksDay else { return nil }
        // The days up to March 1 of the year in which the date is, if years begin with March.
        let (marchYear, marchMonth) = month < 2 ? (year - 1, month + 10) : (year, month - 2)
        let leapDays = floorDivided(marchYear, 4) - floorDivided(marchYear, 100) + floorDivided(marchYear, 400)
        let before = 365 * marchYear + leapDays
        let days = before + Int64((153 * marchMonth + 2) / 5 + day) - 719_469
        return days * 86_400 + Int64((hour * 60 + minute) * 60 + second)
    }

    private static func floorDivided(_ number: Int64, _ divisor: Int64) -> Int64 {
        (number - (number % divisor + divisor) % divisor) / divisor
    }
}
