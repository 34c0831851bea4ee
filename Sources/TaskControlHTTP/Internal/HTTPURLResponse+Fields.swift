internal import Foundation

// All headers of a response that this module uses are read through these functions.

extension HTTPURLResponse {
    /// Returns the value of a header that can have only one value, such as `ETag`, without whitespace around it; `nil`
    /// if there is no such header.
    ///
    /// A server may send such a header twice. The transports and proxies then join the values with a comma (RFC 9110,
    /// 5.3). If all values are equal, this function returns one of them. Different values are returned as they are
    /// joined, which is no valid value of such a header.
    func singleValue(_ name: String) -> String? {
        value(forHTTPHeaderField: name).map { HeaderField.single($0) }
    }

    /// The media type of the body without its parameters, in lower case, such as `application/json`; `nil` if the response
    /// does not state it.
    var mediaType: String? { singleValue("Content-Type").map(HeaderField.mediaType) }

    /// The value of the `Location` header, without whitespace around it; `nil` if there is no such header, or if it is
    /// empty.
    ///
    /// - Throws: `URLError` if there are several headers with different values. They are recognized if a value after
    ///   the first one begins with a slash or a scheme.
    func location() throws -> String? {
        guard let value = value(forHTTPHeaderField: "Location") else { return nil }
        // A URL may contain commas, so only a comma and a space, which no URL contains, separate two of them.
        let location = HeaderField.single(value, separator: ", ")
        let others = location.split(separator: ", ").dropFirst()
        guard !others.contains(where: { $0.prefixMatch(of: /\/|[A-Za-z][A-Za-z0-9+.\-]*:\/\//) != nil }) else {
            throw URLError(.redirectToNonExistentLocation, text: "The redirect has several different locations.")
        }
        return location.isEmpty ? nil : location
    }

    /// The length of the body as the server sends it, in bytes; `nil` if the response does not state it.
    var contentLength: Int64? { singleValue("Content-Length").flatMap { ContentRange.number($0) } }

    /// Whether the body has a content coding, such as gzip.
    var isContentEncoded: Bool {
        (value(forHTTPHeaderField: "Content-Encoding") ?? "").split(separator: ",").contains {
            !["", "identity"].contains($0.trimmingCharacters(in: .whitespaces).lowercased())
        }
    }
}

extension HeaderField {
    /// Returns the media type of a `Content-Type` without its parameters, in lower case.
    static func mediaType(_ contentType: String) -> String {
        contentType.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }

    /// Returns one of the values of a header if it consists of equal values; otherwise the whole text. Whitespace
    /// around the result is removed.
    ///
    /// - Parameters:
    ///   - text: The text of the header. A value may itself contain separators, as a date does.
    ///   - separator: The text between two values.
    static func single(_ text: String, separator: String = ",") -> String {
        let text = text.trimmingCharacters(in: .whitespaces)
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count > 1 else { return text }
        let trimmed = parts.map { $0.trimmingCharacters(in: .whitespaces) }
        for count in 1...parts.count / 2 where parts.count.isMultiple(of: count) {
            guard trimmed.indices.dropFirst(count).allSatisfy({ trimmed[$0] == trimmed[$0 - count] }) else { continue }
            return text[..<parts[count - 1].endIndex].trimmingCharacters(in: .whitespaces)
        }
        return text
    }
}

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
