import TaskControl

/// Permits a number of calls, such as those of an observer that starts tasks, whose events it would answer forever.
final class Quota: Sendable {
    private let rest: Locked<Int>

    init(_ calls: Int) {
        rest = Locked(calls)
    }

    /// Whether this call is among the permitted ones.
    func take() -> Bool {
        rest.withLock { rest in
            rest -= 1
            return rest >= 0
        }
    }
}
