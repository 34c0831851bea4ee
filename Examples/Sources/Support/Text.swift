package import Foundation

/// The standard output and error, without a buffer, so that a line is seen at once.
package enum Terminal {
    /// Whether the output is a terminal, where a line may be overwritten.
    package static let isLive = isatty(STDOUT_FILENO) == 1

    package static func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }

    package static func print(_ line: String) { write(line + "\n") }

    /// Shows a step in progress on a terminal, and is overwritten by what comes next.
    package static func show(progress text: String) { if isLive { write("\r\(text.prefix(99))\u{1B}[K") } }

    package static func complain(_ line: String) {
        FileHandle.standardError.write(Data("\(ProcessInfo.processInfo.processName): \(line)\n".utf8))
    }
}

/// A file for results: whether it can be written is asked before a long run, and not after it.
package struct ResultFile: Sendable {
    package let path: String

    /// - Throws: The error for a file that cannot be written. The old content stays there until the new one is written.
    package init(path: String) throws {
        self.path = path
        guard let file = fopen(path, "a") else { throw NotWritable(path: path, code: errno) }
        fclose(file)
    }

    package func write(_ data: Data) throws { try data.write(to: URL(fileURLWithPath: path)) }

    package struct NotWritable: Error, CustomStringConvertible {
        let path: String
        let code: Int32

        package var description: String { "\(path) can't be written to: \(String(cString: strerror(code)))" }
    }
}

/// Columns of wrapped text, each as wide as it must be, or as wide as it may be.
package enum Table {
    /// Returns the lines of rows whose cells have lines of their own.
    package static func lines(_ rows: [[[String]]], widths limits: [Int], gap: String, rule: String? = nil) -> [String]
    {
        let wrapped = rows.map { row in zip(row, limits).map { cell, limit in cell.flatMap { $0.wrapped(to: limit) } } }
        let widths = limits.indices.map { column in wrapped.flatMap { $0[column] }.map(\.count).max() ?? 0 }
        let separator = rule.map { [widths.map { String(repeating: "-", count: $0) }.joined(separator: $0)] } ?? []
        let blocks = wrapped.map { cells in
            (0..<(cells.map(\.count).max() ?? 0)).map { index in
                zip(cells, widths).map { cell, width in (index < cell.count ? cell[index] : "").padded(to: width) }
                    .joined(separator: gap).trimmingTrailingSpaces
            }
        }
        return Array(blocks.joined(separator: separator))
    }
}

extension String {
    /// Breaks the text at spaces; what follows keeps its indentation. A word that is too long is cut.
    package func wrapped(to width: Int) -> [String] {
        let indentation = prefix { $0 == " " }
        var (lines, current) = ([String](), "")
        for word in split(separator: " ") {
            let word = word.prefix(width - indentation.count)
            let longer = current.isEmpty ? indentation + word : current + " " + word
            if longer.count > width { lines.append(current) }
            current = String(longer.count <= width ? longer[...] : indentation + word)
        }
        return lines + [current]
    }

    package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    package var trimmingTrailingSpaces: String { String(reversed().drop { $0 == " " }.reversed()) }
}

extension Duration {
    /// Rounded up: nothing takes 0 ms.
    package var inMilliseconds: String { "\(Int((self / .milliseconds(1)).rounded(.up))) ms" }
}
