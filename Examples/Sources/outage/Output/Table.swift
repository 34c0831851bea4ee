/// The strategies side by side.
struct Table {
    let outage: Outage

    var lines: [String] {
        let header = ["", "requests", "peak load", "answered", "recovers after"]
        let rows = outage.results.map { result in
            [
                result.strategy.name,
                result.timeline.requests.grouped,
                "\(result.timeline.peak.grouped)/s",
                result.timeline.successRate.inPercent,
                recovery(result.recovery),
            ]
        }
        let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max()! }
        return ([header] + rows).map { row in
            row.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - row[column].count)
                // Names to the left, numbers to the right.
                return column == 0 ? row[column] + space : space + row[column]
            }
            .joined(separator: "   ").trimmingTrailingSpaces
        }
    }

    private func recovery(_ seconds: Int?) -> String {
        seconds.map { "\($0) s" } ?? "> \(outage.scenario.watched.inSeconds)"
    }
}
