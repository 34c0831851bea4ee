/// A prediction of a chapter, compared with the measurement.
struct Claim: Codable, Sendable {
    let text: String
    let holds: Bool
    let measured: String

    init(_ text: String, holds: Bool, measured: String) {
        self.text = text
        self.holds = holds
        self.measured = measured
    }

    /// Creates a claim about a value.
    init<Value: Equatable & Sendable>(_ text: String, _ measured: Value, is expected: Value) {
        self.init(text, holds: measured == expected, measured: "\(measured)")
    }
}

/// The measurements of a chapter.
struct Report: Codable, Sendable {
    /// The lines for the table: the measurements of the code that people write today, and those of the code with TaskControl.
    let naive: [String]
    let taskControl: [String]
    let claims: [Claim]
    /// The title of the transcript.
    var transcriptTitle = ""
    /// The lines that are too long for the table, and are printed above it.
    var transcript: [String] = []

    /// Lines of one way to play a chapter, where it has several.
    static func group(_ title: String, _ lines: [String]) -> [String] {
        [title] + lines.map { "  " + $0 }
    }
}

/// A chapter's place in the results.
struct ChapterResult: Codable, Sendable {
    let name: String
    let title: String
    let report: Report
    let seconds: Double

    var failedClaims: [Claim] { report.claims.filter { !$0.holds } }
}

/// The measurements of a tour, which `--json` writes.
struct TourResult: Codable, Sendable {
    let seed: UInt64
    let chapters: [ChapterResult]
    let holds: Bool

    init(seed: UInt64, chapters: [ChapterResult]) {
        self.seed = seed
        self.chapters = chapters
        holds = chapters.allSatisfy(\.failedClaims.isEmpty)
    }
}
