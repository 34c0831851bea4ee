internal import Foundation

extension HTTPURLResponse {
    /// Returns the time that the server asks to wait in its `Retry-After` header; `nil` if there is no such header, or
    /// if it cannot be read. Never negative.
    ///
    /// - Parameter now: The current time. A `Retry-After` that is a date is counted from the `Date` header of the
    ///   response, so that both are times of the server's clock, or from `now` if there is no `Date` header.
    func retryAfter(now: Date = Date()) -> Duration? {
        guard let value = singleValue("Retry-After") else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // A number of more than 100 years, and one that is too large for `Int64`, counts as 100 years.
            return .seconds(Int64(value).map { min($0, 3_155_760_000) } ?? 3_155_760_000)
        }
        guard let date = HTTPDate.parse(value, now: now) else { return nil }
        let made = singleValue("Date").flatMap { HTTPDate.parse($0, now: now) } ?? now
        return .seconds(max(0, date.timeIntervalSince(made)))
    }
}
