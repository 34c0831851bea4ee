import AuditTasks
import Foundation

/// The numbers that `--statistics` prints.
struct Statistics {
    let text: String

    init(_ report: Auditor.Report, findings: [Finding], seconds: Double) {
        var lines = [
            "\(report.files) files, \(report.lines) lines, \(report.tasks) unstructured tasks, in \(String(format: "%.1f", seconds)) s, at most \(Self.peakMemory) MB"
        ]
        for rule in Rule.all {
            let found = findings.filter { $0.rule == rule }
            let number = String(found.count)
            let padding = String(repeating: " ", count: max(0, 5 - number.count))
            lines.append("\(padding)\(number)  \(rule.number < 10 ? " " : "")\(rule.number) \(rule.name)")
        }
        text = lines.joined(separator: "\n") + "\n"
    }

    /// The most memory that the process has had, in megabytes.
    private static var peakMemory: Int {
        var usage = rusage()
        #if canImport(Darwin)
        getrusage(RUSAGE_SELF, &usage)
        return Int(usage.ru_maxrss) >> 20
        #else
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss >> 10
        #endif
    }
}
