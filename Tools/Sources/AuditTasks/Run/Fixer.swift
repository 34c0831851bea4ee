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
