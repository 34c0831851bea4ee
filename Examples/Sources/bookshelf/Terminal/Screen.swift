import Foundation

/// A place for output: a terminal, or the file or pipe to which the output was redirected.
struct Screen: Sendable {
    struct Size: Sendable, Hashable {
        var width: Int
        var height: Int
    }

    /// The closure that returns the size of the terminal, called for each output, since the user may change the size; `nil` without a terminal.
    var size: @Sendable () -> Size?
    /// Whether colors are wanted.
    var hasColors: Bool
    var write: @Sendable (String) -> Void
    /// The `errno` of the first text that could not be written, such as that of a full disk.
    var failure: @Sendable () -> Int32? = { nil }

    @Sendable func print(_ line: String) { write(line + "\n") }

    enum Color: Int, Sendable {
        case red = 31
        case green = 32
    }

    func colored(_ text: String, _ color: Color) -> String {
        hasColors && !text.isEmpty ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
    }
}

extension Screen {
    /// The screen for results, which can be piped to another program.
    static let output = Screen(descriptor: STDOUT_FILENO)
    /// The screen for messages beside the results, such as progress and errors.
    static let messages = Screen(descriptor: STDERR_FILENO)

    private init(descriptor: Int32) {
        let environment = ProcessInfo.processInfo.environment
        let isTerminal = isatty(descriptor) == 1 && environment["TERM"] != "dumb"
        let wantsNoColors = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        size = { isTerminal ? Self.size(of: descriptor) : nil }
        hasColors = isTerminal && !wantsNoColors
        let first = FirstFailure()
        write = { if let code = Self.write($0, to: descriptor) { first.note(code) } }
        failure = { first.code }
    }

    /// Returns the size of the terminal; 80 × 24 if the terminal does not report it.
    private static func size(of descriptor: Int32) -> Size {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Size(width: 80, height: 24)
        }
        return Size(width: Int(size.ws_col), height: Int(size.ws_row))
    }

    /// Writes a text without a buffer, so that the output is seen at once, also in a pipe.
    ///
    /// - Returns: The `errno`, if not all of it was written.
    private static func write(_ text: String, to descriptor: Int32) -> Int32? {
        var text = text
        return text.withUTF8 { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(
                    descriptor,
                    UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[rest.startIndex...]).baseAddress!,
                    rest.count
                )
                if count < 0 && errno != EINTR { return errno }
                rest = rest.dropFirst(max(0, count))
            }
            return nil
        }
    }
}

/// The code of the first failure. Sendable: its state is accessed only under the lock.
private final class FirstFailure: @unchecked Sendable {
    private let lock = NSLock()
    private var first: Int32?

    var code: Int32? { lock.withLock { first } }

    func note(_ code: Int32) { lock.withLock { first = first ?? code } }
}
