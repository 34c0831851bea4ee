internal import TaskControl

/// A value that moves, and the callers that wait until it has reached their marks. Pure.
///
///     enroll ──▶ waiting ──park──▶ waiting, parked
///                   │                  │
///                   └──────────────────┴──▶ reached, by move or step; or left, by leave
///
/// *Spectators* wait for something else: for a number of waiters. They are not waiters themselves.
///
/// Invariants, checked after each step of the tests:
/// 1. No caller waits for a mark below the value, and after a `move` none for a mark at it: a `step` wakes one at a time.
/// 2. No spectator waits for fewer waiters than there are.
/// 3. Each caller receives one outcome, once: the first.
struct LevelStateMachine<Value: Comparable, Waiter> {
    enum ID {
        case waiter(MarkTable<Value, Waiter>.ID)
        case spectator(MarkTable<Int, Waiter>.ID)
    }

    private(set) var value: Value
    private var waiters = MarkTable<Value, Waiter>()
    private var spectators = MarkTable<Int, Waiter>()

    init(_ value: Value) {
        self.value = value
    }

    var waiterCount: Int { waiters.count }

    // MARK: Waiting

    enum EnrollAction {
        case reached
        /// The waiter must park; the spectators have been waiting for it and must be resumed.
        case enrolled(ID, resume: [Waiter])
    }

    mutating func enroll(for mark: Value) -> EnrollAction {
        if mark <= value { return .reached }
        let id = waiters.enroll(for: mark)
        return .enrolled(.waiter(id), resume: spectators.wake(upTo: waiters.count))
    }

    mutating func enroll(forWaiters count: Int) -> EnrollAction {
        if count <= waiters.count { return .reached }
        return .enrolled(.spectator(spectators.enroll(for: count)), resume: [])
    }

    /// - Returns: The result with which the waiter must be resumed at once, if it need not wait any more.
    mutating func park(_ id: ID, _ waiter: Waiter) -> WaitOutcome? {
        switch id {
        case .waiter(let id): waiters.park(id, waiter)
        case .spectator(let id): spectators.park(id, waiter)
        }
    }

    /// Comes too late for one that was woken.
    ///
    /// - Returns: The waiters to resume.
    mutating func leave(_ id: ID) -> Waiter? {
        switch id {
        case .waiter(let id): waiters.leave(id)
        case .spectator(let id): spectators.leave(id)
        }
    }

    // MARK: Moving

    /// - Returns: The waiters to resume, in this order.
    mutating func move(to value: Value) -> [Waiter] {
        self.value = value
        return waiters.wake(upTo: value)
    }

    enum StepAction {
        /// One waiter is woken. `nil`: the waiter was about to park, and will not.
        case woke(Waiter?)
        /// No caller waits for a mark up to there.
        case nobody
    }

    /// Moves the value up to the lowest mark and wakes the first waiter for it. If that mark is above `limit`, or there is
    /// none, moves the value up to `limit`, atomically: a waiter that enrolls later is not passed over.
    ///
    /// - Parameters:
    ///   - limit: `nil` for no limit: the value then stays where no caller waits.
    ///   - arrives: Whether the value moves up to `limit` where no caller waits for a mark up to it.
    mutating func step(upTo limit: Value?, arrives: Bool) -> StepAction {
        guard let mark = waiters.lowest, mark <= limit ?? mark else {
            if arrives, let limit { value = max(value, limit) }
            return .nobody
        }
        value = mark
        return .woke(waiters.wakeFirst())
    }
}
