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
