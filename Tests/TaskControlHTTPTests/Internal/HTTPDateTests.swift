import Foundation
import TestSupport
import Testing

@testable import TaskControlHTTP

/// The dates of HTTP: RFC 9110, 5.6.7.
@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct HTTPDateTests {
    /// 2026-11-25 12:00:00.
    private let now = Date(timeIntervalSince1970: 1_795_608_000)

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Wed Nov 16 08:49:37 1994", 784_975_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            // A leap second.
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
        ] as [(String, TimeInterval)]
    )
    func theThreeFormatsAreRead(_ text: String, _ seconds: TimeInterval) {
        #expect(HTTPDate.parse(text, now: now) == Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: [
        "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Mon, 29 Feb 2100 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
        "06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
        "Sun Nov 06 08:49:37 94", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 GMT 1994",
        "Monday, 29-Feb-27 08:49:37 GMT",
        "Sun, ٠٦ Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "", "0",
    ])
    func noOtherTextIsADate(_ text: String) {
        #expect(HTTPDate.parse(text, now: now) == nil)
    }

    /// A date that would be more than 50 years ahead is one of the past.
    @Test(arguments: [
        ("Sunday, 06-Nov-56 08:49:37 GMT", "Mon, 06 Nov 2056 08:49:37 GMT"),
        ("Sunday, 25-Nov-76 12:00:00 GMT", "Wed, 25 Nov 2076 12:00:00 GMT"),
        ("Sunday, 25-Nov-76 12:00:01 GMT", "Thu, 25 Nov 1976 12:00:01 GMT"),
        ("Sunday, 01-Jan-77 00:00:00 GMT", "Sat, 01 Jan 1977 00:00:00 GMT"),
        ("Sunday, 29-Feb-76 00:00:00 GMT", "Sat, 29 Feb 2076 00:00:00 GMT"),
        ("Sunday, 01-Jan-00 00:00:00 GMT", "Sat, 01 Jan 2000 00:00:00 GMT"),
    ])
    func aYearOfTwoDigitsIsAtMost50YearsAhead(_ text: String, _ same: String) throws {
        let date = try #require(HTTPDate.parse(same, now: now))
        #expect(HTTPDate.parse(text, now: now) == date)
    }

    @Test func anyCurrentTimeIsAccepted() {
        for seconds in [-.infinity, -1e20, 0, 1e20, .infinity, .nan] {
            let now = Date(timeIntervalSince1970: seconds)
            _ = HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", now: now)
        }
    }

    /// Each day of several centuries against Foundation's calendar.
    @Test func datesAgreeWithTheGregorianCalendar() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        for day in stride(from: -50_000, to: 60_000, by: 37) {
            let date = Date(timeIntervalSince1970: TimeInterval(day * 86_400 + 3_723))
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            let number = { (part: Int?) in (part ?? 0) < 10 ? "0\(part ?? 0)" : "\(part ?? 0)" }
            let text = "Mon, \(number(parts.day)) \(months[(parts.month ?? 1) - 1]) \(parts.year ?? 0) 01:02:03 GMT"
            #expect(HTTPDate.parse(text) == date)
        }
    }
}
