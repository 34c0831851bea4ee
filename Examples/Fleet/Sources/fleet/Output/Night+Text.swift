import Foundation

extension Duration {
    /// The duration in seconds, such as "2.24 s".
    var text: String {
        let (seconds, attoseconds) = components
        return String(format: "%.2f s", Double(seconds) + Double(attoseconds) * 1e-18)
    }
}

extension Night {
    /// The timeline: a line per tenure.
    var timeline: [String] {
        let rows =
            [["worker", "token", "from", "to", "steps", "ended"]]
            + tenures.map { tenure in
                [
                    tenure.worker, "\(tenure.token)", tenure.start.text, tenure.end?.time.text ?? "", tenure.stepsText,
                    tenure.end?.reason.text ?? "not ended",
                ]
            }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (column, text) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - text.count)
                // Numbers at the right.
                line += "  " + ((1...3).contains(column) ? padding + text : text + padding)
            }
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}

extension Night.Tenure {
    fileprivate var stepsText: String {
        guard let first = steps.first, let last = steps.last else { return "none" }
        return first == last ? "\(first)" : "\(first) to \(last)"
    }
}

extension Night.Tenure.Reason {
    fileprivate var text: String {
        switch self {
        case .killed: "the process was killed (kill -9)"
        case .vanished: "the process has ended without a report"
        case .reported(.finishedTheJob): "the job was finished"
        case .reported(.lost(let reason)): "the lease was lost: \(reason)"
        case .reported(.failed(let reason)): "an error: \(reason)"
        }
    }
}

extension Claim {
    /// The claim and whether it holds.
    var line: String { "\(holds ? "✓" : "✗") \(text)" }
}
