/// The state of the task that moves the time of a ``TestClock`` that advances automatically: decides when this task
/// must start and end. A pure state machine.
///
///     still ──sleeperCame──▶ moving ──sleeperCame──▶ moving, asked again
///       ▲                     │  ▲                         │
///       └─────foundNobody─────┘  └───────foundNobody───────┘
///
/// At most one such task exists, and it runs while any task sleeps on the clock. It checks repeatedly whether a task
/// sleeps. A task may begin to sleep just after this check: then the task that moves time must check again.
struct JumpStateMachine {
    private enum State {
        case still, moving, askedAgain
    }

    private var state = State.still

    /// Notes that a task has begun to sleep on the clock.
    ///
    /// - Returns: Whether the caller must start a task that moves time.
    mutating func sleeperCame() -> Bool {
        defer { state = state == .still ? .moving : .askedAgain }
        return state == .still
    }

    /// Notes that the task that moves time has found no sleeping tasks.
    ///
    /// - Returns: Whether the task that moves time must check again. Otherwise it must end.
    mutating func foundNobody() -> Bool {
        defer { state = state == .askedAgain ? .moving : .still }
        return state == .askedAgain
    }
}
