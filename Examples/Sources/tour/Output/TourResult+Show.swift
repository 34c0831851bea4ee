extension TourResult {
    /// Prints what the chapters saw at length, the table, and the claims that do not hold.
    func show() {
        var table = Table(header: ["Chapter", "Naive", "TaskControl"])
        for chapter in chapters {
            let name = [chapter.title, "(\(chapter.name))"]
            table.append([name, chapter.report.naive, chapter.report.taskControl])
        }
        for chapter in chapters where !chapter.report.transcript.isEmpty {
            Terminal.print("\n\(chapter.title) (\(chapter.name)), \(chapter.report.transcriptTitle):")
            for line in chapter.report.transcript { Terminal.print("  \(line)") }
        }
        Terminal.print("")
        table.lines.forEach(Terminal.print)
        Terminal.print("")
        let claims = chapters.flatMap(\.report.claims)
        let failed = claims.count { !$0.holds }
        guard failed > 0 else { return Terminal.print("All \(claims.count) claims hold.") }
        for chapter in chapters {
            for claim in chapter.failedClaims {
                Terminal.print("DOES NOT HOLD  \(chapter.name): \(claim.text); measured: \(claim.measured)")
            }
        }
        Terminal.print("\(failed) of \(claims.count) claims do not hold. To repeat: --seed \(seed)")
    }
}
