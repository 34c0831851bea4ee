/// Removes secrets from texts: from a URL, a body, or an error.
enum Redaction {
    static let mark = "…"

    /// The secrets of the headers, the longest first: they are also removed from texts in which a server may repeat them.
    ///
    /// - Parameter credentials: Headers that are secret whatever their names are.
    static func secrets(in headers: [String: String], _ credentials: [String: String]) -> [String] {
        (headers.filter { isSecret($0.key) }.map(\.value) + credentials.values)
            .flatMap { $0.split(whereSeparator: { " ;,=".contains($0) }).map(String.init) + [$0] }
            .filter { $0.count >= 8 }
            .sorted { $0.count > $1.count }
    }

    /// Whether a header, a field or a member with this name carries a credential.
    ///
    /// Rather one name too many: a value that is hidden wrongly costs a look at the server's log, a secret that is shown wrongly costs a new key.
    static func isSecret(_ name: some StringProtocol) -> Bool {
        let lowercased = name.lowercased()
        return secretParts.contains { lowercased.contains($0) } || words(of: name).contains(where: secretWords.contains)
    }

    /// Anywhere in a name.
    private static let secretParts = [
        "authorization", "authentication", "bearer", "cookie", "credential", "csrf", "hmac", "jwt", "passcode",
        "passphrase", "passw",
        "secret", "session", "signature", "token", "xsrf", "apikey",
    ]

    /// As a word of a name: `auth` is not in "author", and `key` not in "monkey".
    private static let secretWords: Set = [
        "access", "assertion", "auth", "key", "keys", "mfa", "nonce", "otp", "pass", "pin", "private", "pwd", "refresh",
        "saml", "sid", "sig",
        "totp",
    ]

    /// The words of a name, in lower case: of `X-Auth-Key`, `private_key`, `accessCode` and `APIKey`.
    private static func words(of name: some StringProtocol) -> [String] {
        var words: [String] = []
        var word = ""
        var last: Character = " "
        for character in name {
            let begins = character.isUppercase && last.isLowercase
            if begins || !(character.isLetter || character.isNumber) {
                words.append(word)
                word = ""
            }
            if character.isLetter || character.isNumber { word += character.lowercased() }
            last = character
        }
        return words + [word]
    }

    /// The URL without user, password and fragment, and without the values of its query items.
    static func text(of url: URL) -> String {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return mark }
        components.user = nil
        components.password = nil
        components.fragment = nil
        let query = components.percentEncodedQuery
        components.percentEncodedQuery = nil
        guard let text = components.string else { return mark }
        guard let query, !query.isEmpty else { return text }
        let items = query.split(separator: "&").map { item in
            item.firstIndex(of: "=").map { item[..<$0] + "=" + mark } ?? Substring(mark)
        }
        return text + "?" + items.joined(separator: "&")
    }

    /// The first bytes of a body, as they are.
    struct Excerpt: Sendable {
        private static let limit = 512

        private let bytes: Data
        /// Of the whole body.
        private let count: Int

        /// `nil`: there are none.
        init?(_ body: Data) {
            guard !body.isEmpty else { return nil }
            // A copy: a part of the body would keep the whole.
            bytes = Data(Array(body.prefix(Self.limit)))
            count = body.count
        }

        /// The text of the errors, in one line.
        func text(without secrets: [String]) -> String {
            // A character that is cut at the limit, of up to four bytes, is left out.
            let cuts = count > bytes.count ? 0...3 : 0...0
            let text = cuts.lazy.compactMap { String(data: bytes.dropLast($0), encoding: .utf8) }.first
            guard let text, !bytes.contains(where: { $0 < 9 }) else { return "\(count) bytes that are not text" }
            var shown = text
            if count > bytes.count, let cut = Redaction.beginning(ofAny: secrets, atEndOf: shown) {
                shown = shown.dropLast(cut) + mark
            }
            for secret in secrets { shown = shown.replacingOccurrences(of: secret, with: mark) }
            return withoutCredentials(in: shown).split(whereSeparator: \.isNewline).joined(separator: " ")
                + (count > bytes.count ? " (\(count) bytes)" : "")
        }
    }

    /// How much of a secret the limit has left at the end of a text: of what is cut off, the whole is not found.
    private static func beginning(ofAny secrets: [String], atEndOf text: String) -> Int? {
        for secret in secrets {
            let longest = min(secret.count - 1, text.count)
            guard longest >= 4 else { continue }
            if let cut = (4...longest).reversed().first(where: { text.hasSuffix(secret.prefix($0)) }) { return cut }
        }
        return nil
    }

    /// The text of an error, without the other data that it keeps: a `URLError` keeps its URL.
    static func text(of error: any Error) -> String {
        if let error = error as? URLError { return "URLError \(error.errorCode): \(error.localizedDescription)" }
        if let error = error as? DecodingError { return error.inWords }
        let text = type(of: error) is NSError.Type ? error.localizedDescription : String(describing: error)
        return withoutCredentials(in: text)
    }
}

extension DecodingError {
    fileprivate var inWords: String {
        func place(_ context: Context) -> String {
            let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
            // A key of a dictionary is the server's.
            return path.isEmpty ? "" : " at \(Redaction.withoutCredentials(in: path))"
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
