/// Whether a clock's time moves by itself: one task moves it while any task sleeps. Pure.
///
///     still ──sleeperCame──▶ moving ──sleeperCame──▶ moving, asked again
///       ▲                     │  ▲                         │
///       └─────foundNobody─────┘  └───────foundNobody───────┘
///
/// The task that moves time looks for sleepers, and may do so just before one comes: it is asked again.
struct JumpStateMachine {
    private enum State {
        case still, moving, askedAgain
    }

    private var state = State.still

    /// - Returns: Whether a task that moves time must be started.
    mutating func sleeperCame() -> Bool {
        defer { state = state == .still ? .moving : .askedAgain }
        return state == .still
    }

    /// The task that moves time has looked for sleepers, and there were none.
    ///
    /// - Returns: Whether it must look again. Otherwise it ends.
    mutating func foundNobody() -> Bool {
        defer { state = state == .askedAgain ? .moving : .still }
        return state == .askedAgain
    }
}
