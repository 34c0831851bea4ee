internal import Foundation

/// Functions that remove secrets from a URL, a body, or the text of an error.
enum Redaction {
    static let mark = "…"

    /// Returns the secrets in headers, the longest first: whole values and their words, if they have at least 8
    /// characters, and these in Base64 and decoded from Base64. They are removed from texts in which a server may repeat
    /// them, in these or other forms: see ``SecretSearch``.
    ///
    /// - Parameters:
    ///   - headers: Headers, of which only those whose name indicates a credential are secret.
    ///   - credentials: Headers that are secret regardless of their names.
    static func secrets(in headers: [String: String], _ credentials: [String: String]) -> [String] {
        let words = (headers.filter { isSecret($0.key) }.map(\.value) + credentials.values)
            .flatMap { $0.split(whereSeparator: { " ;,=".contains($0) }).map(String.init) + [$0] }
            .filter { $0.count >= 8 }
        let plain = words + words.flatMap(decodedForms)
        return Set(plain + plain.flatMap(encodedForms)).filter { $0.count >= 8 }
            .sorted { ($0.count, $0) > ($1.count, $1) }
    }

    /// Returns the text of a secret that is in Base64, and the password in this text, for the scheme `Basic`.
    private static func decodedForms(of secret: String) -> [String] {
        let padded = secret + String(repeating: "=", count: (4 - secret.utf8.count % 4) % 4)
        guard let text = Data(base64Encoded: padded).flatMap({ String(data: $0, encoding: .utf8) }) else { return [] }
        return [text] + text.split(separator: ":", maxSplits: 1).dropFirst().map(String.init)
    }

    /// Returns a secret in Base64, in both alphabets: in another case, it cannot be decoded.
    private static func encodedForms(of secret: String) -> [String] {
        let base64 = Data(secret.utf8).base64EncodedString().trimmingCharacters(in: ["="])
        return [base64, base64.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")]
    }

    /// Returns a text in which `…` replaces secrets, in upper and lower case, and encoded as ``SecretSearch`` describes.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - secrets: The secrets, the longest first.
    ///   - isCutOff: Whether the text was cut off: then its end is replaced too if it is the beginning of a secret. By
    ///     default `false`.
    static func text(_ text: String, without secrets: [String], isCutOff: Bool = false) -> String {
        guard !secrets.isEmpty else { return text }
        let shown = SecretSearch(secrets).text(text, replacingWith: mark, isCutOff: isCutOff)
        // Letters that are not those of ASCII.
        return secrets.reduce(shown) { $0.replacingOccurrences(of: $1, with: mark, options: .caseInsensitive) }
    }

    /// Returns whether a header, a field of a form or a key of JSON with this name contains a credential.
    ///
    /// In doubt the function returns `true`: a value that is hidden by mistake can be found in the log of the server,
    /// but a secret that is shown by mistake is no longer secret.
    static func isSecret(_ name: some StringProtocol) -> Bool {
        let lowercased = name.lowercased()
        return secretParts.contains { lowercased.contains($0) } || words(of: name).contains(where: secretWords.contains)
    }

    /// Texts that make a name secret wherever they occur in it.
    private static let secretParts = [
        "authorization", "authentication", "bearer", "cookie", "credential", "csrf", "hmac", "jwt", "passcode",
        "passphrase", "passw",
        "secret", "session", "signature", "token", "xsrf", "apikey",
    ]

    /// Words that make a name secret if they are one of its words: `auth` is not a word of "author", and `key` is not a word of "monkey".
    private static let secretWords: Set = [
        "access", "assertion", "auth", "key", "keys", "mfa", "nonce", "otp", "pass", "pin", "private", "pwd", "refresh",
        "saml", "sid", "sig",
        "totp",
    ]

    /// Returns the words of a name such as `X-Auth-Key`, `private_key` or `accessCode`, in lower case.
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

    /// Returns the text of a URL without user, password and fragment, and without the values of its query items.
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

    /// A body, unredacted: the whole body, or the first bytes of a large one.
    struct Excerpt: Sendable {
        /// The number of bytes that are shown.
        private static let limit = 512

        private let bytes: Data
        /// The number of bytes of the whole body.
        private let count: Int

        /// The whole body; `nil` if it is too large to be kept. A body of which only as many bytes were read as are
        /// kept may have more.
        var complete: Data? { count < Call.excerpt ? bytes : nil }

        /// Creates the excerpt of a body; `nil` if the body is empty.
        init?(_ body: Data) {
            guard !body.isEmpty else { return nil }
            let isKept = body.count < Call.excerpt
            // A copy: a slice of the body would keep the whole body in memory.
            bytes = Data(Array(isKept ? body : body.prefix(Self.limit)))
            count = body.count
        }

        /// Returns the excerpt as one line of text without credentials, for the text of an error. For a body that is
        /// not text, returns its number of bytes.
        ///
        /// - Parameter secrets: Texts that are replaced wherever they occur, the longest first.
        func text(without secrets: [String]) -> String {
            // A character that is cut at the limit, of up to four bytes, is left out.
            let bytes = bytes.prefix(Self.limit)
            let cuts = count > bytes.count ? 0...3 : 0...0
            let text = cuts.lazy.compactMap { String(data: bytes.dropLast($0), encoding: .utf8) }.first
            guard let text, !bytes.contains(where: { $0 < 9 }) else { return "\(count) bytes that are not text" }
            let shown = Redaction.text(text, without: secrets, isCutOff: count > bytes.count)
            return withoutCredentials(in: shown).split(whereSeparator: \.isNewline).joined(separator: " ")
                + (count > bytes.count ? " (\(count) bytes)" : "")
        }
    }

    /// Returns the text of an error without credentials, and without the other data that the error contains, such as
    /// the URL of a `URLError`.
    static func text(of error: any Error) -> String {
        if let error = error as? URLError { return "URLError \(error.errorCode): \(error.localizedDescription)" }
        if let error = error as? DecodingError { return error.inWords }
        if let error = error as? EncodingError { return error.inWords }
        if type(of: error) is NSError.Type { return withoutCredentials(in: error.localizedDescription) }
        // The description that Swift creates shows all stored values, such as the keys in a DecodingError.
        // The test is one of the type: an error itself is also an NSError, which has a description.
        let type = type(of: error)
        let hasDescription = type is any CustomStringConvertible.Type || type is any CustomDebugStringConvertible.Type
        return withoutCredentials(in: hasDescription ? String(describing: error) : Diagnostics.text(of: error))
    }
}

extension DecodingError {
    fileprivate var inWords: String {
        switch self {
        case .keyNotFound(let key, let context):
            (key.isDeclared ? "the key \"\(key.stringValue)\" is missing" : "a key is missing") + context.place
        case .typeMismatch(let type, let context): "\(type) was expected" + context.place
        case .valueNotFound(let type, let context): "\(type) was expected, and nothing is there" + context.place
        case .dataCorrupted(let context): "the data is corrupted" + context.place
        @unknown default: "it can't be decoded"
        }
    }
}

extension EncodingError {
    fileprivate var inWords: String {
        switch self {
        case .invalidValue(let value, let context):
            "a value of the type \(type(of: value)) can't be encoded" + codingPath(context.codingPath)
        @unknown default: "it can't be encoded"
        }
    }
}

extension DecodingError.Context {
    fileprivate var place: String { TaskControlHTTP.codingPath(codingPath) }
}

/// Returns the text of a path to a value, such as ` at books.[3].title`. A key that is not declared in the program is
/// shown as `…`.
private func codingPath(_ path: [any CodingKey]) -> String {
    guard !path.isEmpty else { return "" }
    let keys = path.map { key in key.intValue.map { "[\($0)]" } ?? (key.isDeclared ? key.stringValue : Redaction.mark) }
    return " at " + keys.joined(separator: ".")
}

extension CodingKey {
    /// Whether the text of the key is certainly written in the program, as the case of an enumeration is. Any other
    /// key, such as that of a dictionary, may be a part of a body, and so may be a secret.
    fileprivate var isDeclared: Bool {
        let mirror = Mirror(reflecting: self)
        return mirror.displayStyle == .enum && mirror.children.isEmpty
    }
}

// Credentials in text of any notation: JSON, XML, HTML, forms, YAML, headers, prose. The text may be cut off.

extension Redaction {
    /// Returns a text in which `…` replaces the parts that look like a credential, by their name or by their form.
    ///
    /// A text of more than 2,048 bytes is first cut off after 1,024 characters: a server may have sent the text, and
    /// the time of the search grows faster than its length.
    static func withoutCredentials(in text: String) -> String {
        let text = text.utf8.count > 2_048 ? String(text.prefix(1_024)) + mark : text
        return withoutCredentials(inShort: text)
    }

    private static func withoutCredentials(inShort text: String) -> String {
        var text = text.replacing(pem, with: mark)
        text = withoutValues(ofSecretsIn: text)
        text = withoutElements(ofSecretsIn: text)
        text = text.replacing(scheme) { $0.1 + " " + mark }
        return text.replacing(jwt, with: mark)
    }

    // MARK: Shapes

    /// A pattern for a PEM block, whose end may be missing.
    private static var pem: Regex<Substring> { /-----BEGIN [\s\S]*?(?:-----END [^\-]*-----|$)/ }

    /// A pattern for the value of an `Authorization` header: a scheme such as `Bearer`, and a credential.
    private static var scheme: Regex<(Substring, Substring)> {
        /(?i)\b(bearer|basic|digest|negotiate)\s+(?!…)[^\s"'<>,;\\]+/
    }

    /// A pattern for a JSON Web Token, or the beginning of one. `eyJ` is `{"` in Base64.
    private static var jwt: Regex<Substring> { /eyJ[A-Za-z0-9_\-+\/=]{8,}(?:\.[A-Za-z0-9_\-+\/=]*)*/ }

    // MARK: Names and values

    /// A pattern for a name and the separator after it, in any notation: `"name":`, `\"name\":`, `'name':`, `name=`,
    /// `name: `, `name => `.
    private static var name: Regex<(Substring, Substring?, Substring?, Substring)> {
        /(?:["']([^"'\n]{1,80})["']|([\w.\-\\\[\]%]{1,80}))(\s*(?::=|=>|[:=])\s*)/
    }

    /// Names of fields that contain the name of a secret, while a field beside them contains the secret itself. An
    /// example is `name` in `{"name": "token", "value": "…"}` and in `<input name="token" value="…">`.
    private static let announcements: Set = [
        "name", "key", "field", "header", "param", "parameter", "property", "id", "k", "n",
    ]

    /// Names of fields that contain a secret, while a field beside them contains the name of the secret. An example is
    /// `value` in `{"name": "token", "value": "…"}`.
    private static let announced: Set = ["value", "values", "val", "content", "text", "data", "default", "v"]

    private static func withoutValues(ofSecretsIn text: String) -> String {
        let pairs = text.matches(of: name).map { match in
            Pair(
                name: unescaped(match.1 ?? match.2 ?? ""),
                isQuoted: match.1 != nil || match.2?.hasSuffix("\\") == true,
                separator: match.3,
                value: text[match.range.upperBound...]
            )
        }
        let announcesSecret = pairs.contains { pair in
            announcements.contains(pair.name.lowercased()) && isSecret(unescaped(pair.string ?? pair.bare))
        }
        var shown = ""
        var rest = text[...]
        for pair in pairs where pair.value.startIndex >= rest.startIndex {
            guard isSecret(pair.name) || announcesSecret && announced.contains(pair.name.lowercased()) else { continue }
            let hidden = pair.hidden
            guard !hidden.isEmpty else { continue }
            shown += text[rest.startIndex..<hidden.startIndex] + mark
            rest = text[hidden.endIndex...]
        }
        return shown + rest
    }

    /// A name that occurs in a text, the separator after the name, and the rest of the text, which begins with the
    /// value.
    private struct Pair {
        let name: String
        let isQuoted: Bool
        let separator: Substring
        let value: Substring

        /// The value without its quotes; `nil` if it is not in quotes. The closing quote may be missing.
        var string: Substring? {
            value.prefixMatch(of: /\\*(["'])((?:[^"'\\\n]|\\[^"']|(?!\1)["'])*)/).map(\.2)
        }

        /// The value, if it is not in quotes: the characters up to a space or a separator.
        var bare: Substring { value.prefix { !$0.isWhitespace && !"&;,<>\"')]}".contains($0) } }

        /// The part of the text that must not be shown if the name is that of a secret.
        var hidden: Substring {
            // A nested value or a block of YAML: its end is not searched for, so the whole rest of the text is hidden.
            if let first = value.first, "[{|>".contains(first) { return value }
            // Escaped quotes are kept, so that the string around them stays complete.
            if let match = value.prefixMatch(of: /(\\+["'])([^"'\\]*)/) { return match.2 }
            if let match = value.prefixMatch(of: /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?/) { return match.0 }
            // A number, or a value that is cut off.
            if isQuoted { return value.prefix { !$0.isWhitespace && !",}]".contains($0) } }
            // A field of a form, or an attribute.
            if separator == "=" { return value.prefix { !$0.isWhitespace && !"&;,<>\"'".contains($0) } }
            // A header, a line of a configuration: a value may have blanks, commas and semicolons.
            return value.prefix { !$0.isNewline && $0 != "<" }
        }
    }

    /// Returns a name without escapes: JSON may write any character of a name as `\u` and four digits.
    private static func unescaped(_ name: Substring) -> String {
        String(name).replacing(/\\u([0-9a-fA-F]{4})/) { match in
            UInt32(match.1, radix: 16).flatMap(Unicode.Scalar.init).map(String.init) ?? ""
        }
        .replacing("\\", with: "")
    }

    // MARK: Elements

    /// Returns the content of an XML or HTML element, up to its end tag. If the element contains other elements, or has
    /// no end tag, returns the whole text.
    ///
    /// - Parameter text: The text after the start tag of the element.
    private static func content(atStartOf text: Substring) -> Substring {
        var rest = text
        while let bracket = rest.firstIndex(of: "<") {
            rest = rest[bracket...]
            if rest.hasPrefix("</") { return text[..<bracket] }
            guard rest.hasPrefix("<![CDATA["), let end = rest.firstRange(of: "]]>") else { return text }
            rest = rest[end.upperBound...]
        }
        return text
    }

    private static func withoutElements(ofSecretsIn text: String) -> String {
        var shown = ""
        var rest = text[...]
        for match in text.matches(of: /<(?:[\w.\-]+:)?([\w.\-]+)[^<>]*>/)
        where match.range.lowerBound >= rest.startIndex {
            guard isSecret(match.1), !match.0.hasSuffix("/>") else { continue }
            let value = text[match.range.upperBound...]
            let hidden = content(atStartOf: value)
            guard !hidden.isEmpty else { continue }
            shown += text[rest.startIndex..<hidden.startIndex] + mark
            rest = text[hidden.endIndex...]
        }
        return shown + rest
    }
}
