/// Requests in a second over time, in characters: what was answered, what was not, and the capacity.
///
/// All strategies have one scale, which is logarithmic: some load is many times the capacity.
struct TerminalChart {
    let outage: Outage
    let terminal: Terminal

    private static let height = 9
    private static let labelWidth = 7
    private static let answered: Character = "█"
    private static let unanswered: Character = "░"
    private static let capacity: Character = "╌"

    private var columns: Int { min(max(terminal.width - Self.labelWidth - 2, 30), 120) }
    private var scale: Scale {
        .logarithmic(from: outage.scenario.demand / 2, upTo: Double(outage.peak))
    }

    var legend: String {
        let parts: [(String, Terminal.Color)] = [
            ("\(Self.answered) answered", .green), ("\(Self.unanswered) not answered", .red),
            ("\(Self.capacity) capacity, \(outage.scenario.capacity.rounded(toPlaces: 0))/s", .yellow),
        ]
        return "requests/s, logarithmic:  " + parts.map { terminal.colored($0.0, $0.1) }.joined(separator: "   ")
    }

    func lines(for result: Outage.Result) -> [String] {
        let values = result.timeline.averaged(into: columns)
        let rows = (0..<Self.height).reversed().map { row -> String in
            let level = (Double(row) + 0.5) / Double(Self.height)
            let isCapacity = Self.row(of: scale.position(of: outage.scenario.capacity)) == row
            let cells = values.map { value -> Character in
                if scale.position(of: value.answered) >= level { return Self.answered }
                if scale.position(of: value.requests) >= level { return Self.unanswered }
                return isCapacity ? Self.capacity : " "
            }
            return label(row) + painted(cells)
        }
        return [terminal.colored(result.strategy.name, .bold)] + rows + axis
    }

    private static func row(of position: Double) -> Int { min(Int(position * Double(height)), height - 1) }

    private func label(_ row: Int) -> String {
        let tick = scale.ticks.last { Self.row(of: scale.position(of: $0)) == row }
        return Self.padded(tick.map { "\(Int($0).grouped)" } ?? "") + (tick == nil ? " │" : " ┤")
    }

    private static func padded(_ text: String) -> String {
        String(repeating: " ", count: max(0, labelWidth - text.count)) + text
    }

    /// Runs of one kind get their color together.
    private func painted(_ cells: [Character]) -> String {
        var line = ""
        var rest = cells[...]
        while let first = rest.first {
            let run = rest.prefix { $0 == first }
            rest = rest.dropFirst(run.count)
            line += color(of: first).map { terminal.colored(String(run), $0) } ?? String(run)
        }
        return line
    }

    private func color(of cell: Character) -> Terminal.Color? {
        switch cell {
        case Self.answered: .green
        case Self.unanswered: .red
        case Self.capacity: .yellow
        default: nil
        }
    }

    /// The time, with the outage marked on it.
    private var axis: [String] {
        let seconds = outage.scenario.end / .seconds(1)
        func column(_ time: Double) -> Int { min(Int(time / seconds * Double(columns)), columns - 1) }
        let (begin, end) = (
            column(outage.scenario.outage.lowerBound / .seconds(1)),
            column(outage.scenario.outage.upperBound / .seconds(1))
        )
        var line = Array(repeating: Character("─"), count: columns)
        for index in begin...end { line[index] = "━" }
        let word = Array(" outage ")
        if end - begin > word.count + 2 {
            let start = (begin + end - word.count) / 2
            line.replaceSubrange(start..<start + word.count, with: word)
        }
        var times = Array(repeating: Character(" "), count: columns)
        for time in stride(from: 0, through: seconds, by: seconds / 5) {
            let text = time == 0 ? "0 s" : "\(Int(time))"
            let start = min(max(0, column(time) - text.count / 2), columns - text.count)
            times.replaceSubrange(start..<start + text.count, with: text)
        }
        let indent = Self.padded("")
        return ["\(indent) └\(String(line))", "\(indent)  \(String(times))".trimmingTrailingSpaces]
    }
}
