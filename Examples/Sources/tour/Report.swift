/// A prediction of a chapter, compared with the measurement.
struct Claim: Codable, Sendable {
    let text: String
    let holds: Bool
    let measured: String

    init(_ text: String, holds: Bool, measured: String) {
        (self.text, self.holds, self.measured) = (text, holds, measured)
    }

    /// Creates a claim about a value.
    init<Value: Equatable & Sendable>(_ text: String, _ measured: Value, is expected: Value) {
        self.init(text, holds: measured == expected, measured: "\(measured)")
    }

    /// Creates a claim that a value is as a closure says.
    init<Value: Sendable>(_ text: String, _ measured: Value, where isExpected: (Value) -> Bool) {
        self.init(text, holds: isExpected(measured), measured: "\(measured)")
    }
}

/// The measurements of a chapter.
struct Report: Codable, Sendable {
    /// The lines for the table: the measurements of the code that people write today, and those of the code with TaskControl.
    let naive: [String]
    let taskControl: [String]
    let claims: [Claim]
    /// The lines that are too long for the table, and are printed above it.
    var transcript: [String] = []
}

/// The measurements of a tour, which `--json` writes.
struct TourResult: Codable, Sendable {
    /// A chapter's place in the results.
    struct Chapter: Codable, Sendable {
        let name: String
        let title: String
        let report: Report
        let seconds: Double
    }

    let seed: UInt64
    let chapters: [Chapter]

    var failed: [(chapter: String, claim: Claim)] {
        chapters.flatMap { chapter in chapter.report.claims.filter { !$0.holds }.map { (chapter.name, $0) } }
    }

    /// The table of all chapters, what they saw at length, and the claims that do not hold.
    var lines: [String] {
        let rows = chapters.map { [[$0.title, "(\($0.name))"], $0.report.naive, $0.report.taskControl] }
        let header = [["Chapter"], ["Naive"], ["TaskControl"]]
        let transcripts = chapters.flatMap { chapter in
            chapter.report.transcript.isEmpty ? [] : chapter.report.transcript + [""]
        }
        let count = chapters.reduce(0) { $0 + $1.report.claims.count }
        return transcripts + Table.lines([header] + rows, widths: [17, 33, 44], gap: " | ", rule: "-+-") + [""]
            + failed.map { "DOES NOT HOLD  \($0): \($1.text); measured: \($1.measured)" }
            + [
                failed.isEmpty
                    ? "All \(count) claims hold."
                    : "\(failed.count) of \(count) claims do not hold. To repeat: --seed \(seed)"
            ]
    }
}
