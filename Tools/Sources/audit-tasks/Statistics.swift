import AuditTasks
import Foundation

/// The numbers that `--statistics` prints.
struct Statistics {
    let text: String

    init(_ report: Auditor.Report, findings: [Finding], seconds: Double) {
        var lines = ["\(report.files) files, \(report.lines) lines, \(report.tasks) unstructured tasks, in \(String(format: "%.1f", seconds)) s"]
        for rule in Rule.all {
            let found = findings.filter { $0.rule == rule }
            let number = String(found.count)
            let padding = String(repeating: " ", count: max(0, 5 - number.count))
            lines.append("\(padding)\(number)  \(rule.number < 10 ? " " : "")\(rule.number) \(rule.name)")
        }
        text = lines.joined(separator: "\n") + "\n"
    }
}
