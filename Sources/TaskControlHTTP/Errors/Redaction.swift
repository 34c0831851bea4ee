/// Takes secrets out of what is shown: of a URL, of a body, of an error.
struct Redaction {
    static let mark = "…"

    /// What the request carried in its headers, to be found in a body that echoes it.
    private let carried: [String]

    init(_ request: URLRequest? = nil) {
        let headers = request?.allHTTPHeaderFields ?? [:]
        carried = headers.filter { Redaction.isSecret(header: $0.key) }
            .flatMap { $0.value.split(whereSeparator: { " ;,=".contains($0) }).map(String.init) + [$0.value] }
            .filter { $0.count >= 8 }
            .sorted { $0.count > $1.count }
    }

    /// Whether a header's value is nobody's business.
    static func isSecret(header name: String) -> Bool {
        let name = name.lowercased()
        return [
            "authorization", "cookie", "token", "secret", "password", "api-key", "apikey", "signature", "credential",
            "session",
        ]
        .contains { name.contains($0) }
    }

    /// The URL without user, password and fragment, and without the values of its query items.
    func text(of url: URL) -> String {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return Self.mark }
        components.user = nil
        components.password = nil
        components.fragment = nil
        let query = components.percentEncodedQuery
        components.percentEncodedQuery = nil
        guard let text = components.string else { return Self.mark }
        guard let query, !query.isEmpty else { return text }
        let items = query.split(separator: "&").map { item in
            item.firstIndex(of: "=").map { item[..<$0] + "=" + Self.mark } ?? Substring(item)
        }
        return text + "?" + items.joined(separator: "&")
    }

    /// The first bytes of a body, as text in one line.
    func prefix(of data: Data) -> String? {
        guard !data.isEmpty else { return nil }
        let limit = 512
        let bytes = data.prefix(limit)
        // A character that is cut at the limit, of up to four bytes, is left out.
        let cuts = data.count > limit ? 0...3 : 0...0
        let text = cuts.lazy.compactMap { String(validating: bytes.dropLast($0), as: UTF8.self) }.first
        guard let text, !bytes.contains(where: { $0 < 9 }) else { return "\(data.count) bytes that are not text" }
        return redacted(text) + (data.count > limit ? " (\(data.count) bytes)" : "")
    }

    func redacted(_ body: String) -> String {
        var text = body
        for secret in carried { text = text.replacingOccurrences(of: secret, with: Self.mark) }
        // Names that sound like a secret, in JSON and in forms; a value may be cut off at the end, and one that is nested takes all that
        // follows along.
        let nested =
            /(?i)("[^"]*(?:token|secret|passw|authorization|api_?key|session|cookie|credential|signature|jwt)[^"]*"\s*:\s*)[\[{].*/
            .dotMatchesNewlines()
        text = text.replacing(nested) { "\($0.1)\(Self.mark)" }
        let named =
            /(?i)("[^"]*(?:token|secret|passw|authorization|api_?key|session|cookie|credential|signature|jwt)[^"]*"\s*:\s*)(?:"(?:[^"\\]|\\.)*"?|[^,}\]\s]+)/
        text = text.replacing(named) { "\($0.1)\(Self.mark)" }
        let field = /(?i)([\w-]*(?:token|secret|passw|api_?key|session|credential|signature|jwt)[\w-]*=)[^&\s;]+/
        text = text.replacing(field) { "\($0.1)\(Self.mark)" }
        return text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// An error in words, without what it keeps beside them: a `URLError` knows its URL.
    static func text(of error: any Error) -> String {
        if let error = error as? URLError { return "URLError \(error.errorCode): \(error.localizedDescription)" }
        if let error = error as? DecodingError { return error.inWords }
        return type(of: error) is NSError.Type ? error.localizedDescription : String(describing: error)
    }
}

extension DecodingError {
    fileprivate var inWords: String {
        func place(_ context: Context) -> String {
            let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
            return path.isEmpty ? "" : " at \(path)"
        }
        return switch self {
        case .keyNotFound(let key, let context): "the key \"\(key.stringValue)\" is missing" + place(context)
        case .typeMismatch(let type, let context): "\(type) was expected" + place(context)
        case .valueNotFound(let type, let context): "\(type) was expected, and nothing is there" + place(context)
        case .dataCorrupted(let context): "the data is corrupted" + place(context)
        @unknown default: "it can't be decoded"
        }
    }
}
