internal import TaskControl

/// A value that changes, and the callers that wait for it to become equal to or greater than a value of their choice,
/// the caller's *mark*. A pure state machine.
///
///     enroll ──▶ waiting ──park──▶ waiting, parked
///                   │                  │
///                   └──────────────────┴──▶ reached, by move or step; or left, by leave
///
/// *Spectators* wait for another condition: until a given number of waiters wait. They are not counted as waiters.
///
/// Invariants, checked after each step of the tests:
/// 1. No caller waits for a mark below the value. After a `move`, no caller waits for a mark equal to the value; a `step` resumes one such
///    caller at a time.
/// 2. No spectator waits for a number of waiters that is reached.
/// 3. Each caller receives exactly one outcome: the first.
struct LevelStateMachine<Value: Comparable> {
    typealias Waiter = Word

    enum ID {
        case waiter(MarkTable<Value>.ID)
        case spectator(MarkTable<Int>.ID)
    }

    private(set) var value: Value
    private var waiters = MarkTable<Value>()
    private var spectators = MarkTable<Int>()

    init(_ value: Value) {
        self.value = value
    }

    var waiterCount: Int { waiters.count }

    // MARK: Waiting

    enum EnrollAction {
        case reached
        /// The caller is registered with the given ID, and must call ``park(_:_:)`` with its continuation. `resume`
        /// contains the continuations of the spectators for which enough callers now wait: they must be resumed.
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

    /// Stores the waiter (the continuation) of a registered caller.
    ///
    /// - Returns: The outcome with which the waiter must be resumed at once, if the caller no longer needs to wait; otherwise `nil`.
    mutating func park(_ id: ID, _ waiter: Waiter) -> WaitOutcome? {
        switch id {
        case .waiter(let id): waiters.park(id, waiter)
        case .spectator(let id): spectators.park(id, waiter)
        }
    }

    /// Removes a caller that is cancelled. Has no effect on a caller that was already resumed.
    ///
    /// - Returns: The waiter (the continuation) to resume; `nil` if the caller was already resumed, or has not called
    ///   ``park(_:_:)`` yet.
    mutating func leave(_ id: ID) -> Waiter? {
        switch id {
        case .waiter(let id): waiters.leave(id)
        case .spectator(let id): spectators.leave(id)
        }
    }

    // MARK: Moving

    /// Sets the value. The callers that wait for this value or a lower one stop waiting.
    ///
    /// - Returns: The waiters (the continuations of these callers) to resume, in this order.
    mutating func move(to value: Value) -> [Waiter] {
        self.value = value
        return waiters.wake(upTo: value)
    }

    enum StepAction {
        /// The first caller stops waiting, and its waiter (its continuation) must be resumed. `nil` if the caller has
        /// not called `park` yet: then `park` returns the outcome.
        case woke(Waiter?)
        /// No caller waits for a value up to the limit of the step.
        case nobody
    }

    /// Raises the value to the lowest value for which a caller waits, and returns the first caller that waits for it.
    /// If this value is above `limit`, or if no caller waits, the value moves up to `limit` if `arrives` is `true`.
    /// This check and this move are one step: otherwise the move could skip a caller that is registered in between.
    ///
    /// - Parameters:
    ///   - limit: The highest value to move to; `nil` for no limit: then the value does not change if no caller waits.
    ///   - arrives: Whether the value moves up to `limit` if no caller waits for a value up to `limit`.
    mutating func step(upTo limit: Value?, arrives: Bool) -> StepAction {
        guard let mark = waiters.lowest, mark <= limit ?? mark else {
            if arrives, let limit { value = max(value, limit) }
            return .nobody
        }
        value = mark
        return .woke(waiters.wakeFirst())
    }
}
