/// The progress of one of several uploads, in one line: a pure function of the progress and of the width of the line.
///
/// ```
/// dune.png            [███████···········]  37 %   1.2 of 3.3 MB
/// dune.png  [███···]  37 %
/// dune…  37 %
/// ```
struct ProgressLine: Sendable, Hashable {
    var name: String
    var sent: Int64
    var total: Int64
    /// Whether the other side has confirmed all bytes. Bytes that have been sent may still be on their way.
    var isDone = false

    /// The progress in whole percents, 100 only if the upload is complete.
    var percent: Int { isDone ? 100 : total <= 0 ? 0 : Int(min(99, max(0, min(sent, total)) * 100 / total)) }

    private static let gap = "  "

    /// Returns the text of the line.
    ///
    /// - Parameter width: The maximum number of columns of the line: 0 or more.
    func text(width: Int) -> String {
        let number = "\(percent) %"
        let percentText = String(repeating: " ", count: "100 %".count - number.count) + number
        let name = name.printable
        // The room that is left, from the most important to the least: percent, name, bar, bytes.
        guard width >= percentText.count else { return width >= number.count ? number : "" }
        var room = width - percentText.count - Self.gap.count
        guard room >= 1 else { return percentText }

        let size = Self.gap + byteText
        let barWidth = width >= 60 ? 24 : 10
        let hasBar = width >= 30
        let hasSize = width >= 60
        if hasBar { room -= barWidth + 2 + Self.gap.count }
        if hasSize { room -= size.count }
        let nameWidth = hasBar ? min(room, max(12, width / 4)) : min(room, name.columns)
        return name.fitted(to: nameWidth) + Self.gap
            + (hasBar ? bar(width: barWidth) + Self.gap : "")
            + percentText + (hasSize ? size : "")
    }

    private func bar(width: Int) -> String {
        let filled = percent * width / 100
        return "[" + String(repeating: "█", count: filled) + String(repeating: "·", count: width - filled) + "]"
    }

    private var byteText: String {
        let unit = Self.units.last { total >= $0.size } ?? Self.units[0]
        let text = "\(Self.number(sent, unit.size)) of \(Self.number(total, unit.size)) \(unit.name)"
        return String(repeating: " ", count: max(0, 15 - text.count)) + text
    }

    private static let units: [(name: String, size: Int64)] = [
        ("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000),
    ]

    private static func number(_ bytes: Int64, _ unit: Int64) -> String {
        if unit == 1 { return "\(bytes)" }
        let tenths = bytes * 10 / unit
        return "\(tenths / 10).\(tenths % 10)"
    }
}
