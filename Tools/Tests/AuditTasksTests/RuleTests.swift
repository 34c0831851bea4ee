import AuditTasks
import Foundation
import Testing

@Suite("The rules of audit-tasks")
struct RuleTests {
    private func names(_ text: String, path: String = "Sources/Model.swift") -> [String] {
        Auditor().audit(text: text, path: path).filter { $0.severity > .note }.map(\.rule.name)
    }

    @Test("Each rule has a page with its parts", arguments: Rule.all)
    func pages(_ rule: Rule) {
        #expect(rule.page.hasPrefix("# \(rule.number) \(rule.name)\n"))
        for part in [
            "## What happens", "## Schedule", "## Fix in Swift", "## Fix with TaskControl", "## When to ignore it",
        ] {
            #expect(rule.page.contains(part), "\(rule.name) has no \(part)")
        }
        #expect(rule.page.contains("// audit: allow \(rule.name) because"))
    }

    @Test("A comment allows a finding only with a reason")
    func allowances() {
        func text(_ comment: String) -> String {
            """
            final class Model {
                func observe() {
                    \(comment)
                    Task { for await event in events() { handle(event) } }
                }
                func events() -> AsyncStream<Int> { fatalError() }
                func handle(_ event: Int) {}
            }
            """
        }
        #expect(names(text("")) == ["dropped-task"])
        #expect(names(text("// audit: allow dropped-task because the process ends with it")) == [])
        #expect(names(text("// audit: allow 1 because the process ends with it")) == [])
        #expect(names(text("// audit: allow dropped-task")) == ["dropped-task"])
        #expect(names(text("// audit: allow retry-loop because it is another rule")) == ["dropped-task"])
    }

    @Test("A task of one call is a note")
    func hops() {
        let text = """
            final class Model {
                func cancel(_ id: Int) async {}
                func tapped() { Task { await self.cancel(1) } }
            }
            """
        let findings = Auditor().audit(text: text, path: "Model.swift")
        #expect(findings.map(\.severity) == [.note])
    }

    @Test("A type named Task is not Swift's task")
    func otherArguments() {
        let text = """
            final class Model {
                func observe() { Task(on: queue) { for await event in events() { handle(event) } } }
                func handle(_ event: Int) {}
            }
            """
        #expect(names(text) == [])
    }

    @Test("The same text has the same findings, in the order of the lines")
    func order() throws {
        let text = try String(contentsOf: Cases.folder.appending(path: "Planted/BlockedWait.swift"), encoding: .utf8)
        let first = Auditor().audit(text: text, path: "BlockedWait.swift")
        let second = Auditor().audit(text: text, path: "BlockedWait.swift")
        #expect(Format.json.text(of: first) == Format.json.text(of: second))
        #expect(first.map(\.line) == first.map(\.line).sorted())
    }
}

enum Cases {
    /// The folder of the planted cases and their twins.
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "Cases")

    static var texts: [String] {
        get throws {
            try ["Planted", "Twins"].flatMap { name in
                let folder = folder.appending(path: name)
                return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                    .filter { $0.pathExtension == "swift" }.sorted { $0.path() < $1.path() }
                    .map { try String(contentsOf: $0, encoding: .utf8) }
            }
        }
    }
}
