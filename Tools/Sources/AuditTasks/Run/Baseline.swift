import Foundation

/// Findings that are known: the output of `--format json` at an earlier time.
public struct Baseline: Sendable {
    /// A file that is no baseline.
    public struct Broken: Error, CustomStringConvertible {
        /// The reason.
        public let description: String
    }

    private struct Key: Hashable {
        let file: String
        let rule: Int
        /// The code of the finding; in a baseline without it, the message.
        let code: String
    }

    /// A path as it is relative to the working directory: the command and the plugin then write the same.
    private static func relative(_ path: String) -> String {
        let folder = FileManager.default.currentDirectoryPath + "/"
        if path.hasPrefix(folder) { return String(path.dropFirst(folder.count)) }
        return path.hasPrefix("./") ? String(path.dropFirst(2)) : path
    }

    private var counts: [Key: Int] = [:]

    /// Reads a baseline.
    public init(contentsOf path: String) throws(Broken) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Broken(description: "cannot read the baseline \(path)")
        }
        guard let records = try? JSONDecoder().decode([FindingRecord].self, from: data) else {
            throw Broken(description: "the baseline \(path) is not the output of `audit-tasks --format json`")
        }
        for record in records {
            let key = Key(file: Self.relative(record.file), rule: record.rule, code: record.code ?? record.message)
            counts[key, default: 0] += 1
        }
    }

    /// The findings that are not in the baseline.
    ///
    /// Lines may have moved, and what is around a finding may have another name: the file, the rule and the code of the finding count.
    public func new(_ findings: [Finding]) -> [Finding] {
        var left = counts
        return findings.filter { finding in
            let file = Self.relative(finding.file)
            for code in [finding.code, finding.message] {
                let key = Key(file: file, rule: finding.rule.number, code: code)
                guard let count = left[key], count > 0 else { continue }
                left[key] = count - 1
                return false
            }
            return true
        }
    }
}
