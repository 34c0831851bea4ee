internal import CTaskControl

/// The moment of a decision: its place in the order of all events, and whether the current task was cancelled by then.
package struct EventMoment: Sendable {
    let sequence: UInt64
    let isCancelled: Bool

    /// Asks neither a clock nor an observer, so it may be made while holding a lock and in a handler of the runtime.
    @inline(never)
    package init() {
        sequence = tc_nextNumber()
        isCancelled = Task.isCancelled
    }
}
