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
        let message: String
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
            counts[Key(file: record.file, rule: record.rule, message: record.message), default: 0] += 1
        }
    }

    /// The findings that are not in the baseline. Lines may have moved: the file, the rule and the message count.
    public func new(_ findings: [Finding]) -> [Finding] {
        var left = counts
        return findings.filter { finding in
            let key = Key(file: finding.file, rule: finding.rule.number, message: finding.message)
            guard let count = left[key], count > 0 else { return true }
            left[key] = count - 1
            return false
        }
    }
}
