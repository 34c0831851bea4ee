import SwiftParser
import SwiftSyntax

/// A file, with what the rules look at.
struct SourceFile: Sendable {
    let path: String
    /// The package and the target, as far as the path tells: types with one name in two modules are two types.
    let module: String
    let tree: SourceFileSyntax
    let lineStarts: [Int]
    let lineCount: Int
    let isTest: Bool
    let isMain: Bool
    /// Whether there is any task, continuation or wait in the text.
    let isConcurrent: Bool
    private let allowed: [Int: Set<String>]

    init(path: String, text: String) {
        self.path = path
        module = Self.module(of: path)
        tree = Parser.parse(source: text)
        var starts = [0]
        var offset = 0
        for byte in text.utf8 {
            offset += 1
            if byte == 10 { starts.append(offset) }
        }
        lineStarts = starts
        lineCount = starts.count - (text.utf8.last == 10 ? 1 : 0)
        let components = path.split(separator: "/")
        let name = components.last.map(String.init) ?? path
        isTest =
            components.dropLast().contains { $0 == "Tests" || $0.hasSuffix("Tests") || $0 == "Test Utilities" }
            || name.hasSuffix("Tests.swift")
            || name.hasSuffix("Test.swift") || text.contains("import XCTest") || text.contains("import Testing\n")
        isMain = name == "main.swift"
        isConcurrent = ["Task", "await", "ontinuation", "emaphore", "DispatchGroup", "async"].contains {
            text.contains($0)
        }
        allowed = isConcurrent && text.contains("audit:") ? Self.allowances(text) : [:]
    }

    /// Whether the file is not Swift that this compiler's parser accepts.
    var hasErrors: Bool { tree.hasError }

    private static func module(of path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        if let index = parts.lastIndex(where: { $0 == "Sources" || $0 == "Tests" || $0 == "Source" }),
            index + 2 < parts.count
        {
            return parts[...(index + 1)].joined(separator: "/")
        }
        return parts.prefix(max(1, min(parts.count - 1, 3))).joined(separator: "/")
    }

    /// The rules that a comment allows, by the line of the code that the comment is for.
    ///
    /// The comment is `// audit: allow RULE because …`, at the end of the line or in lines of comments above it.
    private static func allowances(_ text: String) -> [Int: Set<String>] {
        var result: [Int: Set<String>] = [:]
        var waiting: Set<String> = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let trimmed = line.drop { $0 == " " || $0 == "\t" }
            let rule = allowance(line)
            if trimmed.hasPrefix("//") {
                if let rule { waiting.insert(rule) }
                continue
            }
            if let rule { result[index + 1, default: []].insert(rule) }
            if !trimmed.isEmpty {
                result[index + 1, default: []].formUnion(waiting)
                waiting = []
            }
        }
        return result
    }

    private static func allowance(_ line: Substring) -> String? {
        guard let comment = line.place(of: "// audit: allow ") else { return nil }
        let words = line[comment.upperBound...].split(separator: " ", maxSplits: 2)
        // An exception without a reason is none.
        guard words.count == 3, words[1] == "because", let rule = Rule.named(String(words[0])) else { return nil }
        return rule.name
    }

    func allows(_ rule: Rule, line: Int) -> Bool { allowed[line]?.contains(rule.name) ?? false }

    /// The line and the column of an offset, both from 1, in UTF-8.
    func location(_ position: AbsolutePosition) -> (line: Int, column: Int) {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= position.utf8Offset { low = middle } else { high = middle }
        }
        return (low + 1, position.utf8Offset - lineStarts[low] + 1)
    }
}

extension StringProtocol {
    func place(of part: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(part) { return start..<index(start, offsetBy: part.count) }
            start = index(after: start)
        }
        return nil
    }
}
