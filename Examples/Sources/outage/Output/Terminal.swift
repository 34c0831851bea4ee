import Foundation

/// The terminal on which the outage is shown.
struct Terminal: Sendable {
    /// The number of characters in a line.
    let width: Int
    /// Whether colors are wanted: on a terminal, unless it or its user says no.
    let hasColors: Bool

    static let plain = Terminal(width: 80, hasColors: false)

    /// The one of this process.
    static var current: Terminal {
        let environment = ProcessInfo.processInfo.environment
        guard isatty(STDOUT_FILENO) == 1 else { return .plain }
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        let wantsNone = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        return Terminal(
            width: isKnown ? Int(size.ws_col) : plain.width,
            hasColors: !wantsNone && environment["TERM"] != "dumb"
        )
    }

    enum Color: Int, Sendable {
        case red = 31
        case green = 32
        case yellow = 33
        case bold = 1
    }

    func colored(_ text: String, _ color: Color) -> String {
        hasColors && !text.isEmpty ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Shows the current step on a terminal, and is overwritten by the next one. Writes nothing to a file or a pipe.
    ///
    /// - Parameter text: `nil`: no step is left.
    static func show(progress text: String?) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        FileHandle.standardError.write(Data("\r\(text ?? "")\u{1B}[K".utf8))
    }

    static func complain(_ line: String) {
        FileHandle.standardError.write(Data("outage: \(line)\n".utf8))
    }
}
