import Foundation

/// The mode in which the terminal delivers keys: line by line, or each key at once. The original mode is restored when the program ends, however it
/// ends.
enum TerminalMode {
    private static let saved = Saved()

    private final class Saved: Sendable {
        let lock = NSLock()
        // Only under the lock.
        nonisolated(unsafe) var attributes: termios?
    }

    /// Makes the terminal deliver each key at once, without showing it. Ctrl-C keeps its effect.
    static func takeKeys() {
        var attributes = termios()
        guard tcgetattr(STDIN_FILENO, &attributes) == 0 else { return }
        saved.lock.withLock { if saved.attributes == nil { saved.attributes = attributes } }
        attributes.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &attributes)
    }

    static func restore() {
        let attributes = saved.lock.withLock { saved.attributes.take() }
        guard var attributes else { return }
        tcsetattr(STDIN_FILENO, TCSANOW, &attributes)
    }
}
