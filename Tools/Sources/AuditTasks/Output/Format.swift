import Foundation

/// How findings are written.
public enum Format: String, Sendable, CaseIterable {
    case text, json, sarif, github

    /// The findings as a text that ends with a line break, unless it is empty.
    public func text(of findings: [Finding]) -> String {
        switch self {
        case .text:
            findings.map {
                "\($0.file):\($0.line):\($0.column): \($0.severity.rawValue): \($0.message) [\($0.rule.number) \($0.rule.name)]\n"
            }.joined()
        case .github:
            findings.map { finding in
                let level = finding.severity == .note ? "notice" : finding.severity.rawValue
                return "::\(level) file=\(Self.property(finding.file)),line=\(finding.line),col=\(finding.column),"
                    + "title=\(Self.property("\(finding.rule.number) \(finding.rule.name)"))::\(Self.data(finding.message))\n"
            }.joined()
        case .json: Self.json(findings.map(FindingRecord.init))
        case .sarif: Self.json(SARIF(findings))
        }
    }

    private static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Encoding these values cannot fail: they hold texts and numbers only.
        guard let data = try? encoder.encode(value) else { return "[]\n" }
        return String(decoding: data, as: UTF8.self) + "\n"
    }

    private static func data(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }

    private static func property(_ text: String) -> String {
        data(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
    }
}

/// A finding in `--format json`, and in a baseline.
struct FindingRecord: Codable {
    let file: String
    let line: Int
    let column: Int
    let rule: Int
    let name: String
    let severity: String
    let message: String
    /// The beginning of the code of the finding; none in the output of older versions.
    let code: String?

    init(_ finding: Finding) {
        file = finding.file
        line = finding.line
        column = finding.column
        rule = finding.rule.number
        name = finding.rule.name
        severity = finding.severity.rawValue
        message = finding.message
        code = finding.code
    }
}

private struct SARIF: Encodable {
    let version = "2.1.0"
    let schema = "https://json.schemastore.org/sarif-2.1.0.json"
    let runs: [Run]

    enum CodingKeys: String, CodingKey { case version, schema = "$schema", runs }

    struct Text: Encodable { let text: String }
    struct Run: Encodable {
        let tool: Tool
        let results: [Result]
    }
    struct Tool: Encodable { let driver: Driver }
    struct Driver: Encodable {
        let name = "audit-tasks"
        let informationUri = "https://github.com/swift-task-control/swift-task-control"
        let rules: [Description]
    }
    struct Description: Encodable {
        let id: String
        let name: String
        let shortDescription: Text
        let fullDescription: Text
    }
    struct Result: Encodable {
        let ruleId: String
        let ruleIndex: Int
        let level: String
        let message: Text
        let locations: [Location]
    }
    struct Location: Encodable { let physicalLocation: Physical }
    struct Physical: Encodable {
        let artifactLocation: Artifact
        let region: Region
    }
    struct Artifact: Encodable { let uri: String }
    struct Region: Encodable {
        let startLine: Int
        let startColumn: Int
    }

    init(_ findings: [Finding]) {
        let rules = Rule.all.map { rule in
            Description(
                id: rule.name,
                name: rule.name,
                shortDescription: Text(text: rule.title),
                fullDescription: Text(text: rule.title)
            )
        }
        let results = findings.map { finding in
            let uri = finding.file.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? finding.file
            return Result(
                ruleId: finding.rule.name,
                ruleIndex: finding.rule.number - 1,
                level: finding.severity.rawValue,
                message: Text(text: finding.message),
                locations: [
                    Location(
                        physicalLocation: Physical(
                            artifactLocation: Artifact(uri: finding.file.hasPrefix("/") ? "file://" + uri : uri),
                            region: Region(startLine: finding.line, startColumn: finding.column)
                        )
                    )
                ]
            )
        }
        runs = [Run(tool: Tool(driver: Driver(rules: rules)), results: results)]
    }
}
