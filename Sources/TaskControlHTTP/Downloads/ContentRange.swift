/// The range of a 206 (RFC 9110, 14.4): `bytes 5-9/10`.
struct ContentRange: Hashable {
    let first: Int64
    let last: Int64
    /// The length of the whole representation; `nil` if the server does not know it.
    let total: Int64?

    /// Reads the value of `Content-Range`; `nil` if it is none of bytes, or contradicts itself.
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

    /// Digits only: `Int64` itself also reads a sign. `nil` beyond its range.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
