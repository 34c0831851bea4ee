internal import Foundation

/// The value of a `Content-Range` header, such as `bytes 5-9/10` (RFC 9110, 14.4).
struct ContentRange: Hashable {
    let first: Int64
    let last: Int64
    /// The length of the whole representation in bytes; `nil` if the server does not know it.
    let total: Int64?

    /// Reads the value of a `Content-Range` header; `nil` if it has no range of bytes, or if the numbers contradict
    /// each other.
    init?(_ text: String) {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\t" })
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let sides = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let bounds = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Self.number(bounds[0]), let last = Self.number(bounds[1]), first <= last
        else { return nil }
        let total = Self.number(sides[1])
        guard total.map({ last < $0 }) ?? (sides[1] == "*") else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }

    /// Reads a number that consists of digits only, without a sign; `nil` if the text is not such a number, or if it is
    /// too large for `Int64`.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
