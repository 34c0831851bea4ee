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
