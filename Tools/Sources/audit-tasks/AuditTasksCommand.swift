import ArgumentParser
import AuditTasks
import Foundation

@main
struct AuditTasksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit-tasks",
        abstract: "Finds the tasks without an owner in Swift code.",
        discussion: """
            Reads the Swift files at the paths and below them, and writes findings to standard output. Nothing is built, and the code needs no change.
            The status is 0 without findings, 1 with findings, and 2 if something could not be read.

            A comment in the line of a finding, or above it, allows it: // audit: allow RULE because …
            """
    )

    @Argument(help: "Folders and Swift files.")
    var paths: [String] = []

    @Option(help: "text, json, sarif or github.")
    var format = "text"

    @Option(help: "A file with known findings, written with --format json: only others are reported.")
    var baseline: String?

    @Option(help: ArgumentHelp("Print the page of a rule, by its number or name.", valueName: "rule"))
    var explain: String?

    @Option(
        help: ArgumentHelp(
            "Apply the fixes of a rule to the files, where they are certain to compile.",
            valueName: "rule"
        )
    )
    var fix: String?

    @Flag(help: "With --fix: print the changes as a diff, and write nothing.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "With --fix: a command that builds the project. Each change with which it fails is taken back.",
            valueName: "command"
        )
    )
    var build: String?

    @Flag(help: "Also report notes, such as tasks of a single call.")
    var strict = false

    @Flag(help: "Also report findings in tests, examples and benchmarks, with the notes about sleeps in tests.")
    var tests = false

    @Flag(help: "Print the number of files, lines, tasks and findings to standard error.")
    var statistics = false

    static func main() {
        do {
            var command = try parseAsRoot()
            guard var audit = command as? AuditTasksCommand else {
                try command.run()
                return
            }
            Foundation.exit(try audit.status())
        } catch let failure as Failure {
            writeError("error: \(failure.description)\n")
            Foundation.exit(2)
        } catch {
            let status = exitCode(for: error)
            guard status != .success else { exit(withError: error) }
            writeError(fullMessage(for: error) + "\n")
            Foundation.exit(2)
        }
    }

    struct Failure: Error { let description: String }

    private mutating func status() throws -> Int32 {
        if let explain {
            print(try rule(explain).page, terminator: "")
            return 0
        }
        guard fix != nil || !dryRun && build == nil else {
            throw Failure(description: "--dry-run and --build are for --fix")
        }
        guard let format = Format(rawValue: format) else { throw Failure(description: "unknown format: \(format)") }
        let fixed = try fix.map { try rule($0) }
        guard !paths.isEmpty else {
            throw Failure(description: "no path. Usage: audit-tasks PATH…, or audit-tasks --help")
        }
        var known: Baseline?
        do { known = try baseline.map { try Baseline(contentsOf: $0) } } catch {
            throw Failure(description: "\(error)")
        }
        let files: [String]
        do { files = try SourceFinder.files(at: paths) } catch { throw Failure(description: error.description) }

        let start = Date()
        var auditor = Auditor()
        auditor.progress = ProgressLine(total: files.count).update
        let report = auditor.audit(files)
        for path in report.unparsed { writeError("skipped, since it does not parse: \(path)\n") }
        for path in report.unreadable { writeError("error: not a readable UTF-8 file: \(path)\n") }

        var findings = report.findings.filter { finding in
            if !tests, SourceFinder.isAside(finding.file, below: paths) { return false }
            return strict || finding.severity > .note || (tests && finding.isSleepInTest)
        }
        if let known { findings = known.new(findings) }
        if let fixed {
            let fixable = findings.filter { $0.rule == fixed && !$0.fix.isEmpty }
            if dryRun {
                do { print(try Fixer.difference(fixable), terminator: "") } catch {
                    throw Failure(description: "\(error)")
                }
                return fixable.isEmpty ? 0 : 1
            }
            let changed: [Finding]
            do { changed = try build.map { try Fixer.fix(fixable, build: $0) } ?? Fixer.fix(fixable) } catch {
                throw Failure(description: "\(error)")
            }
            for finding in fixable where !changed.contains(where: { $0 == finding }) {
                writeError("taken back, since the build fails with it: \(finding.file):\(finding.line)\n")
            }
            for finding in changed { writeError("fixed: \(finding.file):\(finding.line): \(finding.rule.name)\n") }
            if changed.isEmpty {
                writeError(
                    "no finding of \(fixed.name) has a fix that is certain to compile: see --explain \(fixed.name)\n"
                )
            }
            findings.removeAll { finding in changed.contains { $0 == finding } }
        }
        FileHandle.standardOutput.write(Data(format.text(of: findings).utf8))
        if statistics {
            writeError(Statistics(report, findings: findings, seconds: Date().timeIntervalSince(start)).text)
        }
        if !report.unreadable.isEmpty { return 2 }
        return findings.isEmpty ? 0 : 1
    }

    private func rule(_ text: String) throws -> Rule {
        guard let rule = Rule.named(text) else {
            let names = Rule.all.map { "\($0.number) \($0.name)" }.joined(separator: ", ")
            throw Failure(description: "unknown rule: \(text). The rules are \(names)")
        }
        return rule
    }
}

func writeError(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
