internal import TaskControl

/// The end of a session, and the callers that wait for it.
final class SessionEnd: Sendable {
    /// The waiting callers; `nil` when the session is invalid.
    private let waiters = Locked<[Word]?>([])

    /// Records that the session is invalid.
    func didEnd() {
        for waiter in waiters.withLock({ $0.take() }) ?? [] { waiter.resume() }
    }

    /// Waits until the session is invalid, also if the caller is cancelled.
    func wait() async {
        await suspend { (waiter: UnsafeContinuation<Void, Never>) in
            waiters.withLock { waiters in
                if waiters == nil { return () }
                waiters?.append(Word(waiter))
                return nil
            }
        }
    }
}
