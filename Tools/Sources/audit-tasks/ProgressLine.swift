import Foundation

/// A line on standard error that says how many files have been read, if that takes long.
final class ProgressLine: @unchecked Sendable {
    private let lock = NSLock()
    private let start = Date()
    private var last = Date()
    private let total: Int
    private let isTerminal = isatty(2) == 1

    init(total: Int) { self.total = total }

    @Sendable func update(_ done: Int, _ total: Int) {
        lock.withLock {
            let now = Date()
            guard now.timeIntervalSince(start) > 2,
                now.timeIntervalSince(last) > (isTerminal ? 0.2 : 5) || done == total
            else { return }
            last = now
            writeError("\(isTerminal ? "\r" : "")\(done) of \(total) files\(isTerminal && done < total ? "" : "\n")")
        }
    }
}
