/// Columns of wrapped text, at most 100 characters wide in all.
struct Table {
    private static let widths = [17, 33, 44]
    private static let gap = " | "

    private(set) var lines: [String] = []

    init(header: [String]) {
        append(header.map { [$0] })
    }

    /// Adds a row whose cells have lines of their own, set off from the row before.
    mutating func append(_ cells: [[String]]) {
        if !lines.isEmpty {
            lines.append(Self.widths.map { String(repeating: "-", count: $0) }.joined(separator: "-+-"))
        }
        let wrapped = zip(cells, Self.widths).map { cell, width in cell.flatMap { Self.wrap($0, to: width) } }
        for index in 0..<(wrapped.map(\.count).max() ?? 0) {
            let line = zip(wrapped, Self.widths).map { cell, width in
                let text = index < cell.count ? cell[index] : ""
                return text + String(repeating: " ", count: width - text.count)
            }
            lines.append(line.joined(separator: Self.gap).trimmingTrailingSpaces)
        }
    }

    /// Breaks a line at spaces; what follows keeps the line's indentation. A word that is too long is cut.
    static func wrap(_ line: String, to width: Int) -> [String] {
        let indentation = line.prefix { $0 == " " }
        var lines: [String] = []
        var current = ""
        for word in line.split(separator: " ") {
            let word = word.prefix(width - indentation.count)
            let longer = current.isEmpty ? indentation + word : current + " " + word
            if longer.count <= width {
                current = String(longer)
            } else {
                lines.append(current)
                current = String(indentation + word)
            }
        }
        return lines + [current]
    }
}

extension String {
    fileprivate var trimmingTrailingSpaces: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
