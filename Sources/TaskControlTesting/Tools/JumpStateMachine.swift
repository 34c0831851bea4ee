/// Decides when a ``TestClock`` that advances automatically needs a task that moves its time: one task moves it while any task sleeps. A
/// pure state machine.
///
///     still ──sleeperCame──▶ moving ──sleeperCame──▶ moving, asked again
///       ▲                     │  ▲                         │
///       └─────foundNobody─────┘  └───────foundNobody───────┘
///
/// The task that moves time checks whether any task sleeps. A sleeper may arrive just after this check: then the task must check again.
struct JumpStateMachine {
    private enum State {
        case still, moving, askedAgain
    }

    private var state = State.still

    /// Notes that a task has begun to sleep.
    ///
    /// - Returns: Whether the caller must start a task that moves time.
    mutating func sleeperCame() -> Bool {
        defer { state = state == .still ? .moving : .askedAgain }
        return state == .still
    }

    /// Notes that the task that moves time has found no sleepers.
    ///
    /// - Returns: Whether the task must check again. Otherwise it ends.
    mutating func foundNobody() -> Bool {
        defer { state = state == .askedAgain ? .moving : .still }
        return state == .askedAgain
    }
}
