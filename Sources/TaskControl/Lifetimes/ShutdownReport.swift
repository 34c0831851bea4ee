/// The tasks that a shutdown has cancelled, and those that it has left behind.
///
/// ```swift
/// let report = await uploads.shutdown(grace: .seconds(10), cancellationGrace: .seconds(5))
/// if !report.isEmpty { print(report) }        // cancelled: a.jpg; left behind: "sync" of AsyncLifetime "uploads"
/// ```
public struct ShutdownReport: Hashable, Sendable, CustomStringConvertible {
    /// The names of the tasks that were cancelled because the grace period was over, or because the caller was cancelled, in
    /// the order in which they were added. A task without a name has the text of its key, as in ``TaskEvent/key``, and
    /// without a key "a task".
    public var cancelled: [String]

    /// The tasks that had not ended when the time after their cancellation was over, each with its name and its owner. They
    /// still run, because they ignore their cancellation.
    public var leftBehind: [String]

    /// Creates a report.
    public init(cancelled: [String] = [], leftBehind: [String] = []) {
        self.cancelled = cancelled
        self.leftBehind = leftBehind
    }

    /// Whether no task was cancelled, and none was left behind.
    public var isEmpty: Bool { cancelled.isEmpty && leftBehind.isEmpty }

    /// The names of the tasks; empty if there are none.
    public var description: String {
        let parts = [("cancelled", cancelled), ("left behind", leftBehind)].filter { !$0.1.isEmpty }
        return parts.map { "\($0.0): \($0.1.joined(separator: ", "))" }.joined(separator: "; ")
    }
}
