/// How certain and how bad a finding is.
public enum Severity: String, Sendable, Codable, Comparable {
    /// Shown by `--strict` only.
    case note
    case warning
    /// Leaks, hangs or crashes for certain.
    case error

    /// Compares severities: a note is the least.
    public static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .note: 0
        case .warning: 1
        case .error: 2
        }
    }
}

/// A replacement of a part of a file.
public struct Edit: Sendable, Hashable {
    /// The UTF-8 offset of the replaced part.
    public let offset: Int
    /// The number of bytes that are replaced.
    public let length: Int
    /// The new text.
    public let text: String

    init(insert text: String, at offset: Int) {
        self.offset = offset
        self.length = 0
        self.text = text
    }
}

/// A mistake in a line of a file.
public struct Finding: Sendable {
    /// The path of the file, as it was found.
    public let file: String
    /// The line, from 1.
    public let line: Int
    /// The column in UTF-8, from 1.
    public let column: Int
    /// The rule that was applied.
    public let rule: Rule
    /// How bad the finding is.
    public let severity: Severity
    /// The mistake and its effect, in one sentence.
    public let message: String
    /// The beginning of the code of the finding, in one line.
    public let code: String
    /// The edits that remove the finding, if they are certain to compile.
    public let fix: [Edit]

    /// Whether the finding is the note of rule 8 about a sleep in a test.
    public var isSleepInTest: Bool { rule.name == "blocked-wait" && severity == .note }
}

extension Finding: Comparable {
    /// Whether two findings are at one place, with one message.
    public static func == (left: Finding, right: Finding) -> Bool { left.key == right.key }

    /// Compares findings by file, line, column, rule and message.
    public static func < (left: Finding, right: Finding) -> Bool { left.key < right.key }

    private var key: (String, Int, Int, Int, String) { (file, line, column, rule.number, message) }
}
