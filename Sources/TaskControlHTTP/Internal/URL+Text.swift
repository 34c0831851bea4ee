internal import Foundation

extension URL {
    /// Creates a URL from the text of a server, or of the code that uses this module; `nil` if the text is no URL.
    ///
    /// Characters that are not allowed where they are in the text are escaped (``Swift/String/urlEscaped``), and
    /// everything else stays as it is. `URL(string:)` alone must not be used for such a text: as soon as one character
    /// is not allowed, it escapes also the `%` of the escapes that the text has already.
    ///
    /// - Parameters:
    ///   - text: The text. A first segment with a colon whose beginning is not a scheme, such as `42:cancel`, is a
    ///     segment of a relative path.
    ///   - base: The URL to which a relative text is relative; `nil` if there is none.
    init?(escaping text: String, relativeTo base: URL? = nil) {
        self.init(escaped: text.urlEscaped, relativeTo: base)
    }

    /// Creates a URL from a text that ``Swift/String/urlEscaped`` has returned, as ``init(escaping:relativeTo:)`` does.
    init?(escaped text: String, relativeTo base: URL? = nil) {
        var escaped = text
        let segment = escaped.prefix { !"/?#".contains($0) }
        if let colon = segment.firstIndex(of: ":"), !segment[..<colon].isScheme { escaped = "./" + escaped }
        guard let url = URL(string: escaped, relativeTo: base), url.relativeString == escaped else { return nil }
        self = url
    }

    /// The URL with a scheme in lower case; `nil` if the scheme is in lower case already, or if there is none. The
    /// scheme is not case-sensitive (RFC 3986, 3.1), but libcurl's is.
    var withLowercaseScheme: URL? {
        guard let scheme, scheme.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return nil }
        return URL(string: scheme.lowercased() + absoluteString.dropFirst(scheme.count))
    }

    /// Returns the URL with the user and the password of another URL of the same origin, unless it has a user of its
    /// own.
    func withCredentials(of other: URL) -> URL {
        guard let credentials = URLComponents(url: other, resolvingAgainstBaseURL: true), credentials.user != nil,
            var parts = URLComponents(url: self, resolvingAgainstBaseURL: true), parts.user == nil
        else { return self }
        parts.percentEncodedUser = credentials.percentEncodedUser
        parts.percentEncodedPassword = credentials.percentEncodedPassword
        return parts.url ?? self
    }
}

extension String {
    /// The text of a URL with percent-encoding for each character that a URL cannot contain at its place (RFC 3986, 2
    /// and 3), except in the host, and for each `%` that does not begin a percent-encoded byte. A host that is not ASCII is converted as
    /// browsers do (IDNA). Escaping an escaped text again changes nothing.
    var urlEscaped: String {
        // Nearly all texts consist of these characters only, of which no check depends on the place.
        if utf8.allSatisfy(\.isPlainInURL) { return self }
        let bytes = Array(utf8)
        let authority = Self.authority(in: bytes)
        let start = bytes[authority].lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authority.lowerBound
        let host = start..<authority.upperBound
        var escaped: [UInt8] = []
        escaped.reserveCapacity(bytes.count + 16)
        var isInFragment = false
        var index = 0
        while index < bytes.count {
            if index == authority.lowerBound, let host = Self.asciiAuthority(bytes[authority]) {
                escaped += host
                index = authority.upperBound
                continue
            }
            let byte = bytes[index]
            let stays =
                switch byte {
                case UInt8(ascii: "%"):
                    index + 2 < bytes.count && bytes[index + 1].isHexDigit && bytes[index + 2].isHexDigit
                // A host may contain brackets (an IPv6 address).
                case UInt8(ascii: "["), UInt8(ascii: "]"): authority.contains(index)
                case UInt8(ascii: "#"): !isInFragment
                default: byte.isPlainInURL
                }
            if byte == UInt8(ascii: "#") { isInFragment = true }
            // A host with such a character is not another host: the text is no URL.
            if stays || host.contains(index) {
                escaped.append(byte)
            } else {
                escaped += "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8
            }
            index += 1
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// Returns the positions of the authority (user, host and port) in a URL; an empty range if it has none.
    private static func authority(in bytes: [UInt8]) -> Range<Int> {
        let slash = UInt8(ascii: "/")
        var start = 0
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            String(decoding: bytes[..<colon], as: UTF8.self)[...].isScheme
        {
            start = colon + 1
        }
        guard bytes.count >= start + 2, bytes[start] == slash, bytes[start + 1] == slash else { return 0..<0 }
        let end = bytes[(start + 2)...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
        return start + 2..<end
    }

    /// Returns an authority whose host is converted to ASCII; `nil` if it is ASCII already, or if it cannot be
    /// converted.
    private static func asciiAuthority(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        let at = bytes.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? bytes.startIndex
        let (user, host) = (bytes[..<at], bytes[at...])
        guard host.contains(where: { $0 >= 0x80 }), user.allSatisfy({ $0 < 0x80 }) else { return nil }
        let url = URL(string: "http://" + String(decoding: host, as: UTF8.self))
        guard let url, url.path.isEmpty, url.query == nil else { return nil }
        return String(decoding: user, as: UTF8.self).urlEscaped.utf8 + Array(url.absoluteString.utf8.dropFirst(7))
    }

    /// The text with percent-encoding for each `%` that does not begin a percent-encoded byte.
    var withEscapedPercents: String {
        guard utf8.contains(UInt8(ascii: "%")) else { return self }
        return replacing(/%(?![0-9A-Fa-f]{2})/, with: "%25")
    }
}

extension Substring {
    /// Whether the text is a scheme (RFC 3986, 3.1), such as `https`.
    fileprivate var isScheme: Bool { wholeMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*/) != nil }
}

extension UInt8 {
    /// Whether the character never needs an escape where it is in a text of ASCII, and does not change the meaning of a
    /// character that needs one.
    fileprivate var isPlainInURL: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~:/?@!$&'()*+,;=".utf8.contains(self)
        }
    }

    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}

extension URL {
    /// Returns the URL with query items appended to those that it has.
    ///
    /// In the names and values, all characters except ASCII letters, digits and `-._~` are percent-encoded. This
    /// includes `+`, which servers read as a space.
    func appending(_ items: [URLQueryItem]) -> URL {
        guard !items.isEmpty, var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            return self
        }
        let added = items.map { item in
            item.name.percentEncoded + (item.value.map { "=" + $0.percentEncoded } ?? "")
        }
        let there = components.percentEncodedQuery.flatMap { $0.isEmpty ? nil : $0 }
        components.percentEncodedQuery = ([there].compactMap(\.self) + added).joined(separator: "&")
        return components.url ?? self
    }
}

extension String {
    /// The text in which all characters except the letters, digits and `-._~` of ASCII are percent-encoded (RFC 3986,
    /// 2.3).
    var percentEncoded: String {
        var unreserved = CharacterSet(charactersIn: "-._~")
        unreserved.insert(charactersIn: "a"..."z")
        unreserved.insert(charactersIn: "A"..."Z")
        unreserved.insert(charactersIn: "0"..."9")
        return addingPercentEncoding(withAllowedCharacters: unreserved) ?? self
    }
}
