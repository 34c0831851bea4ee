import AuditTasks
import Foundation
import Testing

@Suite("The fixes of audit-tasks")
struct FixTests {
    private func fixes(_ text: String, _ rule: String) -> [[Edit]] {
        Auditor().audit(text: text, path: "Sources/Model.swift").filter { $0.rule.name == rule }.map(\.fix)
    }

    private func poller(_ attributes: String, _ work: String) -> String {
        """
        \(attributes) final class Poller {
            private var task: Task<Void, Never>?
            var count = 0
            let source = Source()
            func start() {
                guard task == nil else { return }
                task = Task { [weak self, source] in
                    \(work)
                }
            }
        }
        """
    }

    private let weak = "let value = await source.next()\n self?.count = value"

    @Test("A deinit is written only where it compiles: not where a macro makes the property computed")
    func macros() {
        #expect(fixes(poller("@MainActor", weak), "uncancelled-task").map(\.isEmpty) == [false])
        #expect(fixes(poller("@MainActor @Observable", weak), "uncancelled-task").map(\.isEmpty) == [true])
    }

    @Test("A deinit is not written where the task retains the object, since it would not run")
    func retained() {
        let strong = "guard let self else { return }\n let value = await source.next()\n self.count = value"
        #expect(fixes(poller("", strong), "uncancelled-task").map(\.isEmpty) == [true])
    }

    private func view(_ handling: String) -> String {
        """
        struct SaveView: View {
            @State private var error: Error?
            @State private var isSaving = false
            var body: some View { EmptyView().task { await save() } }
            func save() async {
                isSaving = true
                do { try await api.save() } catch { \(handling) }
            }
        }
        """
    }

    @Test("A catch that does more than show has no fix: the rest would be skipped")
    func cleanup() {
        #expect(fixes(view("self.error = error"), "shown-cancellation").map(\.isEmpty) == [false])
        #expect(fixes(view("isSaving = false; self.error = error"), "shown-cancellation").map(\.isEmpty) == [true])
    }

    @Test("A catch speaks of a cancellation only where a caller can be cancelled")
    func cancellers() {
        let dropped = view("self.error = error").replacing(
            "EmptyView().task { await save() }",
            with: "Button(\"Save\") { Task { await save() } }"
        )
        #expect(fixes(dropped, "shown-cancellation").isEmpty)
    }

    /// Writes a text to a file, and removes it in the end.
    private func withFile(_ text: String, _ body: (String, [Finding]) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "fix-\(UUID().uuidString).swift").path()
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path, Auditor().audit([path]).findings)
    }

    @Test("A difference shows the lines, and changes nothing")
    func difference() throws {
        let text = view("self.error = error")
        try withFile(text) { path, findings in
            let difference = try Fixer.difference(findings.filter { !$0.fix.isEmpty })
            #expect(difference.contains("+++ \(path)"))
            #expect(difference.contains("catch is CancellationError {"))
            let after = try String(contentsOfFile: path, encoding: .utf8)
            #expect(after == text)
        }
    }

    @Test("A change with which the build fails is taken back")
    func build() throws {
        let text = view("self.error = error")
        try withFile(text) { path, findings in
            let refused = try Fixer.fix(findings, build: "! grep -q CancellationError \(path)")
            #expect(refused.isEmpty)
            let before = try String(contentsOfFile: path, encoding: .utf8)
            #expect(before == text)
            #expect(throws: Fixer.BuildFailure.self) { _ = try Fixer.fix(findings, build: "false") as [Finding] }
            let kept = try Fixer.fix(findings, build: "true")
            #expect(kept.count == 1)
            let after = try String(contentsOfFile: path, encoding: .utf8)
            #expect(after != text)
        }
    }
}

@Suite("The files that audit-tasks reports of")
struct AsideTests {
    @Test("Tests, examples and benchmarks are left out below a path, unless the path names them")
    func aside() {
        #expect(SourceFinder.isAside("App/AppTests/Model.swift", below: ["App"]))
        #expect(SourceFinder.isAside("Examples/Model.swift", below: ["."]))
        #expect(SourceFinder.isAside("Benchmarks/Run.swift", below: ["."]))
        #expect(!SourceFinder.isAside("Sources/Model.swift", below: ["."]))
        #expect(!SourceFinder.isAside("Examples/tour/Model.swift", below: ["Examples/tour"]))
    }

    @Test("A baseline with absolute paths fits findings with relative ones, and other lines and names around them")
    func baseline() throws {
        func text(_ name: String) -> String {
            """
            actor Store {
                var token: String?
                func \(name)() {}
                func load() async { if token == nil { token = await fetch() } }
                func fetch() async -> String { "" }
            }
            """
        }
        let folder = FileManager.default.currentDirectoryPath
        let path = FileManager.default.temporaryDirectory.appending(path: "base-\(UUID().uuidString).json").path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let known = Auditor().audit(text: text("old"), path: folder + "/Sources/Store.swift")
        try Format.json.text(of: known).write(toFile: path, atomically: true, encoding: .utf8)
        let found = Auditor().audit(text: "\n\n" + text("other"), path: "Sources/Store.swift")
        #expect(found.count == 1)
        let baseline = try Baseline(contentsOf: path)
        #expect(baseline.new(found).isEmpty)
    }
}
