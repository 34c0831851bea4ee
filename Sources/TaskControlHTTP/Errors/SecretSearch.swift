/// A search for secrets in a text in which they may be encoded: in another case, percent-encoded in whole or in part, in
/// Base64, or in several of these ways.
///
/// The text is decoded, and not the secrets encoded: each byte of a secret can be escaped or not, with digits in upper or
/// lower case, and the text in Base64 can contain more than the secret.
struct SecretSearch {
    /// The number of times that escapes are decoded, one in another, and the number of texts in Base64, one in another.
    private static let (escapes, texts) = (4, 2)
    /// The length of the shortest beginning of a secret that is looked for at the end of a text that was cut off.
    private static let shortest = 4

    /// A byte, and its place in the text: that of the escape, or of the text in Base64, from which it was decoded.
    fileprivate struct Unit {
        let byte: UInt8
        let place: Range<Int>
    }

    /// The secrets as bytes, in lower case.
    private let secrets: [[UInt8]]

    init(_ secrets: [String]) {
        self.secrets = secrets.map { $0.utf8.map(\.lowercased) }
    }

    /// Returns a text in which a mark replaces the secrets.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - mark: The mark.
    ///   - isCutOff: Whether the text was cut off: then its end may be the beginning of a secret.
    func text(_ text: String, replacingWith mark: String, isCutOff: Bool) -> String {
        let bytes = Array(text.utf8)
        let units = bytes.indices.map { Unit(byte: bytes[$0], place: $0..<$0 + 1) }
        var (shown, end) = ([UInt8](), 0)
        for place in places(in: units, isCutOff, 0).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if shown.isEmpty || place.lowerBound > end { shown += bytes[end..<max(end, place.lowerBound)] + mark.utf8 }
            end = max(end, place.upperBound)
        }
        return String(decoding: shown + bytes[end...], as: UTF8.self)
    }

    /// Returns the places of the secrets in a text. They may overlap.
    ///
    /// - Parameter depth: The number of texts in Base64 around this one.
    private func places(in text: [Unit], _ isCutOff: Bool, _ depth: Int) -> [Range<Int>] {
        var (units, places) = (text, [Range<Int>]())
        for _ in 0...Self.escapes {
            if isCutOff { units.removeIncompleteEscape() }
            let bytes = units.map(\.byte.lowercased)
            places += secrets.flatMap { matches(of: $0, in: bytes, units) }
            if isCutOff, let count = beginning(atEndOf: bytes) {
                places.append(units[units.count - count].place.lowerBound..<text[text.count - 1].place.upperBound)
            }
            if depth < Self.texts { places += placesOfBase64(in: units, isCutOff, depth) }
            guard let decoded = Self.withoutEscapes(units) else { break }
            units = decoded
        }
        return places
    }

    private func matches(of secret: [UInt8], in bytes: [UInt8], _ units: [Unit]) -> [Range<Int>] {
        var (places, start) = ([Range<Int>](), 0)
        while start + secret.count <= bytes.count {
            guard bytes[start] == secret[0], bytes[start..<start + secret.count].elementsEqual(secret) else {
                start += 1
                continue
            }
            let end = Self.endOfPadding(in: units, at: start + secret.count)
            places.append(units[start].place.lowerBound..<units[end - 1].place.upperBound)
            start = end
        }
        return places
    }

    /// Returns how many bytes at the end of a text that was cut off are the beginning of a secret; `nil` if none are.
    private func beginning(atEndOf bytes: [UInt8]) -> Int? {
        secrets.compactMap { secret in
            let longest = min(secret.count - 1, bytes.count)
            guard longest >= Self.shortest else { return nil }
            return (Self.shortest...longest).last { bytes[(bytes.count - $0)...].elementsEqual(secret[..<$0]) }
        }.max()
    }

    // MARK: Escapes

    /// Returns a text with its percent escapes decoded; `nil` if it has none.
    private static func withoutEscapes(_ units: [Unit]) -> [Unit]? {
        var (decoded, index) = ([Unit](), 0)
        while index < units.count {
            let place = units[index].place
            if units[index].byte == UInt8(ascii: "%"), index + 2 < units.count,
                let high = units[index + 1].byte.hexDigit, let low = units[index + 2].byte.hexDigit
            {
                let end = units[index + 2].place.upperBound
                decoded.append(Unit(byte: high << 4 | low, place: place.lowerBound..<end))
                index += 3
            } else {
                decoded.append(units[index])
                index += 1
            }
        }
        return decoded.count < units.count ? decoded : nil
    }

    // MARK: Base64

    /// Returns the places of the texts in Base64 that contain a secret.
    private func placesOfBase64(in units: [Unit], _ isCutOff: Bool, _ depth: Int) -> [Range<Int>] {
        var (places, index) = ([Range<Int>](), 0)
        while index < units.count {
            let start = index
            while index < units.count, units[index].byte.base64Digit != nil { index += 1 }
            let run = units[start..<index]
            guard let first = run.first else {
                index += 1
                continue
            }
            let end = Self.endOfPadding(in: units, at: index)
            let place = first.place.lowerBound..<units[end - 1].place.upperBound
            // Digits that are no part of the text may precede it, such as those of a path.
            let skipped = (0..<4).first { skipped in
                let content = Self.decoded(run.dropFirst(skipped)).map { Unit(byte: $0, place: place) }
                return !self.places(in: content, isCutOff && end == units.count, depth + 1).isEmpty
            }
            if let skipped { places.append(units[start + skipped].place.lowerBound..<place.upperBound) }
            index = end
        }
        return places
    }

    private static func decoded(_ digits: ArraySlice<Unit>) -> [UInt8] {
        var (bytes, bits, count) = ([UInt8](), UInt32(0), 0)
        for digit in digits {
            bits = bits << 6 | UInt32(digit.byte.base64Digit ?? 0)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        return bytes
    }

    /// Returns the index after up to two signs with which Base64 is padded.
    private static func endOfPadding(in units: [Unit], at index: Int) -> Int {
        index + units[index...].prefix(2).prefix { $0.byte == UInt8(ascii: "=") }.count
    }
}

extension [SecretSearch.Unit] {
    /// Removes the beginning of a percent escape from the end of a text that was cut off.
    fileprivate mutating func removeIncompleteEscape() {
        if let index = suffix(2).lastIndex(where: { $0.byte == UInt8(ascii: "%") }) { removeSubrange(index...) }
    }
}

extension UInt8 {
    /// The letter in lower case, if this is a letter of ASCII.
    fileprivate var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }

    fileprivate var hexDigit: UInt8? {
        switch lowercased {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): lowercased - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// The value of a digit of Base64, in both alphabets (RFC 4648); `nil` for another byte.
    fileprivate var base64Digit: UInt8? {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): self - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): self - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
