/// A declaration in the interface of a module, in one line, without the words that tell a caller nothing.
struct Declaration {
    let text: String
    /// The keyword of its kind, such as `func`.
    let keyword: String
    /// Its name, without type parameters and arguments; of an extension, that of the type.
    let name: String
    /// Its documentation, a line each.
    let comment: [String]
    /// The declarations in its braces.
    var members: [Declaration] = []

    /// `nil` for a line that is not known to be a declaration.
    init?(line: String, comment: [String], in module: String) {
        let noise = [
            "public ", "convenience ", "@inlinable ", "internal(set) ", "package(set) ", "private(set) ", module + ".",
        ]
        let opened = line.hasSuffix(" {") ? String(line.dropLast(2)) : line
        text = noise.reduce(opened) { $0.replacing($1, with: "") }
        // After attributes and modifiers, the word, and what it names.
        let shape =
            /(?:@[\w.]+(?:\([^)]*\))?\s+)*(?:\w+(?:\(\w+\))?\s+)*?(class(?! func| var)|struct|enum|protocol|actor|extension|case|init|deinit|func|var|let|subscript|typealias|associatedtype|operator|precedencegroup|macro)\b[?!]?\s*([^\s(<:]*).*/
        guard let match = text.withoutLiterals.wholeMatch(of: shape) else { return nil }
        keyword = String(match.1)
        name = String(match.2)
        self.comment = comment
        let head = text.split(separator: " where ", maxSplits: 1)[0]
        conformances =
            head.split(separator: " : ", maxSplits: 1).dropFirst().first?.split(separator: ", ").map(String.init) ?? []
    }

    var isType: Bool { ["class", "struct", "enum", "protocol", "actor"].contains(keyword) }
    var isExtension: Bool { keyword == "extension" }

    /// Whether its documentation says that it is a spelling of another library, for code that was written for that library.
    var isCompatibility: Bool { comment.contains { $0.contains("- Note: A spelling of ") } }

    /// The requirements on the type parameters of a type or an extension.
    var requirements: String? { text.split(separator: " where ", maxSplits: 1).dropFirst().first.map(String.init) }

    /// The conformances that a type or an extension declares.
    var conformances: [String] = []

    /// Whether who calls it may wait.
    var isAsync: Bool {
        if ["var", "subscript"].contains(keyword) { return text.contains("{ get async") }
        // Without its parameters, whose closures have an `async` of their own.
        var head = text
        while let inner = head.firstMatch(of: /\([^()]*\)/) { head.removeSubrange(inner.range) }
        return head.split(separator: " -> ")[0].contains(/\basync\b/)
    }

    /// Parameters alone are no summary.
    var hasSummary: Bool { comment.first.map { !$0.hasPrefix("/// - ") } ?? false }
    var tellsOfCancellation: Bool { comment.contains { $0.contains(/[Cc]ancel/) } }
}

extension String {
    /// The text as it is, except string literals, which may look like anything.
    var withoutLiterals: String { replacing(/"[^"]*"/, with: "\"\"") }

    /// Whether each parenthesis is closed.
    var isWhole: Bool {
        let text = withoutLiterals
        return text.count { $0 == "(" } == text.count { $0 == ")" }
    }
}
