import AuditTasks
import Foundation
import Testing

@Suite("Files that are not as they should be")
struct MutationTests {
    /// A generator with a seed, so that a failure can be repeated.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }

    /// A text with parts removed, doubled, exchanged or replaced.
    private func mutate(_ text: String, _ generator: inout Generator) -> String {
        var parts = text.split(omittingEmptySubsequences: false) { " \n(){}".contains($0) }.map(String.init)
        let marks = [
            "{", "}", "(", ")", "Task {", "await", "try", "guard let self else", "\"", "/*", "for", "in", "\u{0}", "😀",
            "=", "continuation",
        ]
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            let index = parts.indices.randomElement(using: &generator)!
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: parts[index] = marks.randomElement(using: &generator)!
            case 1: parts.insert(contentsOf: parts[index..<min(index + 40, parts.count)], at: index)
            case 2: parts.swapAt(index, parts.indices.randomElement(using: &generator)!)
            default: parts.removeSubrange(index..<min(index + Int.random(in: 1...30, using: &generator), parts.count))
            }
            if parts.isEmpty { parts = [""] }
        }
        // Parts of the separators stay where they were in number, not in place.
        let separators = Array(" \n(){}")
        return parts.reduce(into: "") { text, part in
            text += part
            text.append(separators.randomElement(using: &generator)!)
        }
    }

    @Test("2,000 mutated files crash nothing")
    func mutations() throws {
        let texts = try Cases.texts
        var generator = Generator(state: 1)
        var found = 0
        for number in 0..<2_000 {
            let text =
                number % 2 == 0
                ? mutate(texts[number % texts.count], &generator) : cut(texts[number % texts.count], &generator)
            found += Auditor().audit(text: text, path: "Mutated.swift").count
        }
        // The rules have run: files that are only cut keep most of their findings.
        #expect(found > 2_000)
    }

    /// A text without some of its lines.
    private func cut(_ text: String, _ generator: inout Generator) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for _ in 0..<Int.random(in: 1...5, using: &generator) {
            lines.remove(at: lines.indices.randomElement(using: &generator)!)
        }
        return lines.joined(separator: "\n")
    }

    @Test(
        "Deep nesting crashes nothing",
        arguments: [("{ ", " }"), ("(", ")"), ("[", "]"), ("Task { ", " }"), ("if a { ", " }"), ("f(", ")")]
    )
    func nesting(_ open: String, _ close: String) throws {
        let text = String(repeating: open, count: 3_000) + "1" + String(repeating: close, count: 3_000)
        try audit("func f() {\n\(text)\n}\n")
        try audit("let a = x" + String(repeating: ".b(1)", count: 1_000) + "\n")
        try audit("let a = 1" + String(repeating: " + 1", count: 10_000) + "\n")
    }

    /// Audits a file in the way of the command, with its threads.
    private func audit(_ text: String) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID().uuidString).swift").path()
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let report = Auditor().audit([path])
        #expect(report.files == 1)
    }

    @Test("A file that is not UTF-8 is named, and the others are read")
    func unreadable() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data([0x6C, 0x65, 0x74, 0xFF, 0xFE]).write(to: folder.appending(path: "a.swift"))
        try Data("let b = 1\n".utf8).write(to: folder.appending(path: "b.swift"))
        try Data("let c = = {\n".utf8).write(to: folder.appending(path: "c.swift"))
        let report = Auditor().audit(try SourceFinder.files(at: [folder.path()]))
        #expect(report.unreadable.map { $0.hasSuffix("a.swift") } == [true])
        #expect(report.unparsed.map { $0.hasSuffix("c.swift") } == [true])
        #expect(report.files == 3)
    }

    @Test("Folders of products and of other people's code are skipped")
    func folders() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["App", ".build", "Pods", "Carthage", "DerivedData", "App/.hidden"] {
            try FileManager.default.createDirectory(at: folder.appending(path: name), withIntermediateDirectories: true)
            try Data("let a = 1\n".utf8).write(to: folder.appending(path: "\(name)/a.swift"))
        }
        #expect(try SourceFinder.files(at: [folder.path()]).map { $0.hasSuffix("App/a.swift") } == [true])
    }
}
