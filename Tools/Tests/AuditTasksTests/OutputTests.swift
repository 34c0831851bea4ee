import AuditTasks
import Foundation
import Testing

@Suite("The output of audit-tasks")
struct OutputTests {
    private let findings = Auditor().audit(
        text: """
            actor Store {
                var token: String?
                func load() async { if token == nil { token = await fetch() } }
                func fetch() async -> String { "" }
            }
            """,
        path: "Sources/Store.swift"
    )

    @Test("JSON is a list of objects with eight fields")
    func json() throws {
        let list = try #require(
            JSONSerialization.jsonObject(with: Data(Format.json.text(of: findings).utf8)) as? [[String: Any]]
        )
        #expect(list.count == 1)
        #expect(Set(list[0].keys) == ["file", "line", "column", "rule", "name", "severity", "message", "code"])
        #expect(list[0]["rule"] as? Int == 5)
        #expect(list[0]["line"] as? Int == 3)
    }

    @Test("Without findings, JSON is an empty list and text is empty")
    func empty() throws {
        let list = try #require(JSONSerialization.jsonObject(with: Data(Format.json.text(of: []).utf8)) as? [Any])
        #expect(list.isEmpty)
        #expect(Format.text.text(of: []).isEmpty)
    }

    @Test("SARIF names the rules, and the place of each finding")
    func sarif() throws {
        let log = try #require(
            JSONSerialization.jsonObject(with: Data(Format.sarif.text(of: findings).utf8)) as? [String: Any]
        )
        #expect(log["version"] as? String == "2.1.0")
        let run = try #require((log["runs"] as? [[String: Any]])?.first)
        let results = try #require(run["results"] as? [[String: Any]])
        #expect(results.map { $0["ruleId"] as? String } == ["check-then-await"])
        let rules = ((run["tool"] as? [String: Any])?["driver"] as? [String: Any])?["rules"] as? [[String: Any]]
        #expect(rules?.count == 10)
    }

    @Test("A command of GitHub is one line, whatever the message holds")
    func github() {
        let text = Format.github.text(of: findings)
        #expect(text.hasPrefix("::warning file=Sources/Store.swift,line=3,col="))
        #expect(text.split(separator: "\n").count == 1)
    }

    @Test("A baseline hides what is known, also after lines have moved, and only as often as it is known")
    func baseline() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "baseline-\(UUID().uuidString).json").path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Format.json.text(of: findings).write(toFile: path, atomically: true, encoding: .utf8)
        let baseline = try Baseline(contentsOf: path)
        #expect(baseline.new(findings).isEmpty)
        #expect(baseline.new(findings + findings).count == 1)
        try "{ not a list".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(throws: Baseline.Broken.self) { try Baseline(contentsOf: path) }
    }

    @Test("Edits are applied from the end, each once")
    func edits() throws {
        let text = """
            final class Poller {
                private var task: Task<Void, Never>?
                func start() {
                    task = Task { await ping() }
                }
            }
            """
        let findings = Auditor().audit(text: text, path: "Poller.swift")
        let fixed = Fixer.apply((findings + findings).flatMap(\.fix), to: text)
        #expect(fixed.contains("        task?.cancel()\n        task = Task { await ping() }"))
        #expect(fixed.components(separatedBy: "deinit {").count == 2)
        #expect(Auditor().audit(text: fixed, path: "Poller.swift").isEmpty)
    }
}
