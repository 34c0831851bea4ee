/// Functions that join the URL of an endpoint to the URL of its server.
enum JoinedURL {
    /// The components of the server's URL, parsed once.
    struct Base: Sendable {
        let url: URL
        /// The text before the path: scheme, user, password, host and port.
        let root: String
        let origin: Origin
        let segments: [Substring]
        let query: String?
        /// The text to which a plain relative path is appended: the URL of the server with a slash at its end. `nil` if
        /// the URL of the server has a query, which must come after the path.
        let plain: String?

        /// Parses the URL of a server; `nil` if the URL has no scheme or no host.
        init?(_ url: URL) {
            guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let origin = Origin(parts) else {
                return nil
            }
            self.url = url
            self.origin = origin
            var root = parts
            root.percentEncodedPath = ""
            root.percentEncodedQuery = nil
            root.fragment = nil
            guard let text = root.string else { return nil }
            self.root = text
            segments = JoinedURL.segments(of: parts.percentEncodedPath)
            query = parts.percentEncodedQuery.flatMap { $0.isEmpty ? nil : $0 }
            plain = query == nil ? ([Substring(text)] + segments).joined(separator: "/") + "/" : nil
        }
    }

    static func join(_ url: URL, to base: Base, allowsOtherServers: Bool) throws -> URL {
        // The whole text: a URL that was created with `URL(string:relativeTo:)` is an absolute one.
        let given = url.absoluteString
        if let plain = base.plain, isPlain(given), let joined = URL(string: plain + given) { return joined }
        guard var parts = URLComponents(string: given) else { throw Refusal.unusable(url) }
        if isPath(given, parts) {
            guard let path = URLComponents(string: "./" + given) else { throw Refusal.unusable(url) }
            parts = path
        }
        if parts.scheme != nil || parts.host != nil {
            guard parts.scheme != nil, let origin = Origin(parts) else { throw Refusal.incomplete(url) }
            let isInside =
                origin == base.origin && !parts.percentEncodedPath.hasPrefix("//")
                && climbed(parts.percentEncodedPath, from: [])?.starts(with: base.segments) == true
            guard isInside || allowsOtherServers else { throw Refusal.otherServer(url) }
            return isInside ? url.absoluteURL.withCredentials(of: base.url) : url.absoluteURL
        }
        guard let segments = climbed(parts.percentEncodedPath, from: base.segments) else {
            throw Refusal.leavesBase(url)
        }
        var text = base.root
        for segment in segments { text += "/" + segment }
        let last = parts.percentEncodedPath.split(separator: "/", omittingEmptySubsequences: false).last
        if let last, parts.percentEncodedPath.count > 1, last.isEmpty || isDots(last) > 0 { text += "/" }
        let query = [base.query, parts.percentEncodedQuery.flatMap { $0.isEmpty ? nil : $0 }].compactMap(\.self)
        if !query.isEmpty { text += "?" + query.joined(separator: "&") }
        if let fragment = parts.percentEncodedFragment { text += "#" + fragment }
        guard let joined = URL(string: text) else { throw Refusal.unusable(url) }
        return joined
    }

    /// Returns whether a URL with a scheme is meant as a relative path whose first segment has a colon, such as
    /// `documents:batchGet` (a custom method, Google AIP-136): there is no slash after the colon, and the scheme is not
    /// that of a server.
    private static func isPath(_ given: String, _ parts: URLComponents) -> Bool {
        guard let scheme = parts.scheme, !["http", "https"].contains(scheme.lowercased()) else { return false }
        return !given.dropFirst(scheme.count + 1).hasPrefix("/")
    }

    /// Returns whether a text is a relative path that consists of letters, digits, `-`, `_`, dots and slashes, and
    /// whose segments are not empty and do not begin with a dot. Such a path can be appended to the URL of the server
    /// without parsing. Nearly every endpoint has such a path, and parsing a URL takes three times as long as creating
    /// a `URL` from its text.
    private static func isPlain(_ text: String) -> Bool {
        var last = UInt8(ascii: "/")
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                break
            // Neither a leading or doubled slash, nor a segment that begins with a dot.
            case UInt8(ascii: "/"), UInt8(ascii: "."):
                if last == UInt8(ascii: "/") { return false }
            default: return false
            }
            last = byte
        }
        return last != UInt8(ascii: "/")
    }

    /// Returns the segments of the base followed by those of a path, with `.` and `..` resolved; `nil` if a `..` leads
    /// above the base, if a segment is one that some servers read as `..`, such as `..;x`, or if a `..` follows an empty
    /// segment: servers that merge slashes read `x//../..` as `x/../..`, which leads higher.
    private static func climbed(_ path: String, from base: [Substring]) -> [Substring]? {
        var segments = base
        for segment in Self.segments(of: path) {
            if hidesClimb(segment) { return nil }
            switch isDots(segment) {
            case 1: continue
            case 2:
                guard segments.count > base.count, !isEmptyForSome(segments.removeLast()) else { return nil }
            default: segments.append(segment)
            }
        }
        return segments
    }

    /// Returns the segments of a path. Slashes at the beginning and one slash at the end add no segment. Two slashes in
    /// between add an empty segment.
    private static func segments(of path: String) -> [Substring] {
        var segments = path.drop { $0 == "/" }.split(separator: "/", omittingEmptySubsequences: false)
        if segments.last?.isEmpty == true { segments.removeLast() }
        return segments
    }

    /// Returns whether a segment is empty, or is so for servers that read an encoded slash or a backslash as a slash.
    private static func isEmptyForSome(_ segment: Substring) -> Bool {
        segment.lowercased().replacingOccurrences(of: "%2f", with: "").replacingOccurrences(of: "%5c", with: "").isEmpty
    }

    /// Returns 1 for the segment `.`, 2 for `..`, and 0 for any other. The dots may be percent-encoded, since servers decode them.
    private static func isDots(_ segment: Substring) -> Int {
        guard segment.utf8.count <= 6,
            segment.utf8.first.map({ $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }) == true
        else { return 0 }
        return switch segment.lowercased().replacingOccurrences(of: "%2e", with: ".") {
        case ".": 1
        case "..": 2
        default: 0
        }
    }

    /// Returns whether some servers read a segment as `..`, because they treat an encoded slash or a backslash as a slash, or ignore the text after a
    /// semicolon: `..%2f..%2fadmin`, `..%5cadmin`, `..;x`.
    private static func hidesClimb(_ segment: Substring) -> Bool {
        guard segment.utf8.contains(where: { "%;\\".utf8.contains($0) }) else { return false }
        var plain = segment.lowercased()
        for (code, character) in [("%2e", "."), ("%2f", "/"), ("%5c", "/"), ("\\", "/"), ("%3b", ";")] {
            plain = plain.replacingOccurrences(of: code, with: character)
        }
        let isSeveral = plain.contains("/") || plain.contains(";")
        return isSeveral && plain.split(separator: "/").contains { $0.prefix { $0 != ";" } == ".." }
    }

    private enum Refusal {
        static func leavesBase(_ url: URL) -> EndpointError {
            leaving(
                url,
                "A relative URL stays below it, since servers resolve `..` in different ways: give the client a base URL above this path"
            )
        }

        static func otherServer(_ url: URL) -> EndpointError {
            leaving(
                url,
                "If that is meant, give the client a BaseURLAdapter(baseURL:allowsOtherServers: true)"
            )
        }

        /// The error for a URL with a scheme and no host, or with a host and no scheme.
        static func incomplete(_ url: URL) -> EndpointError {
            leaving(
                url,
                "Write https:// and a host for another server, or ./ before a relative path that begins so"
            )
        }

        private static func leaving(_ url: URL, _ advice: String) -> EndpointError {
            EndpointError(
                .request,
                detail:
                    "the endpoint's URL \"\(Redaction.text(of: url))\" leads out of the client's base URL. \(advice)"
            )
        }

        static func unusable(_ url: URL) -> EndpointError {
            EndpointError(
                .request,
                detail: "the endpoint's URL \"\(Redaction.text(of: url))\" can't be joined to the client's base URL"
            )
        }
    }
}
