import Foundation

/// Applies the edits of findings.
public enum Fixer {
    /// A text with the edits of findings.
    public static func apply(_ edits: [Edit], to text: String) -> String {
        var bytes = Array(text.utf8)
        var seen: Set<Edit> = []
        var end = Int.max
        // From the end, so that the offsets of the others stay valid.
        for edit in edits.sorted(by: { ($0.offset, $0.text) > ($1.offset, $1.text) }) {
            guard seen.insert(edit).inserted, edit.offset + edit.length <= min(end, bytes.count) else { continue }
            bytes.replaceSubrange(edit.offset..<(edit.offset + edit.length), with: Array(edit.text.utf8))
            end = edit.offset
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The edits of findings as a unified diff without context, which changes nothing.
    public static func difference(_ findings: [Finding]) throws -> String {
        var text = ""
        for (path, findings) in Dictionary(grouping: findings, by: \.file).sorted(by: { $0.key < $1.key }) {
            let old = try String(contentsOfFile: path, encoding: .utf8)
            let new = apply(findings.flatMap(\.fix), to: old)
            let before = old.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            let after = new.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            text += "--- \(path)\n+++ \(path)\n"
            text += hunks(before, after)
        }
        return text
    }

    private static func hunks(_ before: [String], _ after: [String]) -> String {
        let changes = after.difference(from: before)
        let removed = Set(changes.removals.map { if case .remove(let offset, _, _) = $0 { offset } else { -1 } })
        let inserted = Set(changes.insertions.map { if case .insert(let offset, _, _) = $0 { offset } else { -1 } })
        var text = ""
        var old = 0
        var new = 0
        while old < before.count || new < after.count {
            guard removed.contains(old) || inserted.contains(new) else { old += 1; new += 1; continue }
            let start = (old, new)
            var minus: [String] = []
            var plus: [String] = []
            while removed.contains(old) { minus.append("-" + before[old] + "\n"); old += 1 }
            while inserted.contains(new) { plus.append("+" + after[new] + "\n"); new += 1 }
            let from = minus.isEmpty ? start.0 : start.0 + 1
            let to = plus.isEmpty ? start.1 : start.1 + 1
            text += "@@ -\(from),\(minus.count) +\(to),\(plus.count) @@\n" + minus.joined() + plus.joined()
        }
        return text
    }

    /// Applies the edits of findings one by one, and takes back each with which a build fails.
    ///
    /// - Returns: The findings whose edits stay.
    /// - Throws: If the build fails before the first edit, or a file cannot be written.
    public static func fix(_ findings: [Finding], build command: String) throws -> [Finding] {
        guard try run(command) else { throw BuildFailure(command: command) }
        var kept: [Finding] = []
        // From the end of each file, so that the offsets of the others stay valid.
        for finding in findings.sorted().reversed() where !finding.fix.isEmpty {
            let old = try String(contentsOfFile: finding.file, encoding: .utf8)
            try apply(finding.fix, to: old).write(toFile: finding.file, atomically: true, encoding: .utf8)
            if try run(command) {
                kept.append(finding)
            } else {
                try old.write(toFile: finding.file, atomically: true, encoding: .utf8)
            }
        }
        return kept.sorted()
    }

    /// A build that fails before anything is changed.
    public struct BuildFailure: Error, CustomStringConvertible {
        let command: String

        /// The reason, with the command.
        public var description: String {
            "the build fails before the first change, so that nothing is changed: \(command)"
        }
    }

    private static func run(_ command: String) throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Applies the edits of findings to their files.
    ///
    /// - Returns: The findings that had edits.
    public static func fix(_ findings: [Finding]) throws -> [Finding] {
        let fixable = findings.filter { !$0.fix.isEmpty }
        for (path, findings) in Dictionary(grouping: fixable, by: \.file) {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try apply(findings.flatMap(\.fix), to: text).write(toFile: path, atomically: true, encoding: .utf8)
        }
        return fixable
    }
}
