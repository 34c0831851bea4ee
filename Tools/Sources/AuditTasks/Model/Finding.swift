/// How certain and how bad a finding is.
public enum Severity: String, Sendable, Codable, Comparable {
    /// Shown by `--strict` only.
    case note
    case warning
    /// Leaks, hangs or crashes for certain.
    case error

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
    public let length: Int
    public let text: String

    init(insert text: String, at offset: Int) {
        self.offset = offset
        self.length = 0
        self.text = text
    }
}

/// A mistake in a line of a file.
public struct Finding: Sendable {
    public let file: String
    public let line: Int
    public let column: Int
    public let rule: Rule
    public let severity: Severity
    public let message: String
    /// The edits that remove the finding, if they are certain to compile.
    public let fix: [Edit]
}

extension Finding: Comparable {
    public static func == (left: Finding, right: Finding) -> Bool { left.key == right.key }

    public static func < (left: Finding, right: Finding) -> Bool { left.key < right.key }

    private var key: (String, Int, Int, Int, String) { (file, line, column, rule.number, message) }
}
