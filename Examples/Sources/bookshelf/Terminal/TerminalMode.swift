import Foundation

/// How the terminal gives its keys: line by line, or each at once. Put back at the end, however that comes.
enum TerminalMode {
    private static let saved = Saved()

    private final class Saved: Sendable {
        let lock = NSLock()
        // Only under the lock.
        nonisolated(unsafe) var attributes: termios?
    }

    /// Each key at once, and not shown. Ctrl-C stays what it is.
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
