internal import CTaskControl

/// The moment of a decision that an event reports: the sequence number of the event, and whether the current task was
/// cancelled at that moment.
package struct EventMoment: Sendable {
    let sequence: UInt64
    let isCancelled: Bool

    /// Records the current moment. Calls neither a clock nor an observer, so it may be called while holding a lock and
    /// in a cancellation handler.
    @inline(never)
    package init() {
        sequence = tc_nextNumber()
        isCancelled = Task.isCancelled
    }
}
