extension HTTPURLResponse {
    /// The time that the server asks to wait; `nil` if it does not ask, or in an unknown form. Never negative.
    ///
    /// - Parameter now: For a date, if the response does not say when it was made: in the server's own time, the clocks
    ///   need not agree.
    func retryAfter(now: Date = Date()) -> Duration? {
        guard let value = value(forHTTPHeaderField: "Retry-After")?.trimmingCharacters(in: .whitespaces) else {
            return nil
        }
        if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // More digits than a number has are a long time.
            return .seconds(Int64(value).map { min($0, 3_155_760_000) } ?? 3_155_760_000)
        }
        guard let date = HTTPDate.parse(value) else { return nil }
        let made = self.value(forHTTPHeaderField: "Date").flatMap(HTTPDate.parse) ?? now
        return .seconds(max(0, date.timeIntervalSince(made)))
    }
}
