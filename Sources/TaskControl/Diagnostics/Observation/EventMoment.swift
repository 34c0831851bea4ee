internal import CTaskControl

/// The moment of a decision: its sequence number among all events, and whether the current task was cancelled at that time.
package struct EventMoment: Sendable {
    let sequence: UInt64
    let isCancelled: Bool

    /// Records the current moment. Calls neither a clock nor an observer, so it is safe while holding a lock and in a cancellation handler.
    @inline(never)
    package init() {
        sequence = tc_nextNumber()
        isCancelled = Task.isCancelled
    }
}
