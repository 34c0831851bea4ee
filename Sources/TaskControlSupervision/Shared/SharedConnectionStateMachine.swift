internal import TaskControl

/// Decides when the work of a shared connection begins and ends. Pure: a value without a lock, task, clock or closure.
///
///     idle ──first user──▶ running ──last user leaves──▶ ending ──ended──▶ idle
///       ▲                     │  ▲                          │
///       └───────ended─────────┘  └─ended, with new users────┘
///
/// Users that come while the work ends wait for the next work: two never overlap.
struct SharedConnectionStateMachine {
    enum Phase: Hashable {
        case idle, running, ending
    }

    private(set) var phase = Phase.idle
    private(set) var isConnected = false
    private var users: Set<UInt64> = []
    private var lastUser: UInt64 = 0
    private var waiters = WaiterTable()

    var userCount: Int { users.count }

    /// Adds a user. Returns its number, and whether the caller must begin the work.
    mutating func join() -> (user: UInt64, begins: Bool) {
        lastUser += 1
        users.insert(lastUser)
        defer { if phase == .idle { phase = .running } }
        return (lastUser, phase == .idle)
    }

    /// Removes a user. Has no effect if the user has left before, or its work has ended.
    ///
    /// - Returns: Whether the caller must end the work, because no user is left.
    mutating func leave(_ user: UInt64) -> Bool {
        guard users.remove(user) != nil, users.isEmpty, phase == .running else { return false }
        phase = .ending
        isConnected = false
        return true
    }

    /// Records that the work is connected. Returns the waiters, which must be resumed.
    mutating func connected() -> [Word] {
        guard phase == .running else { return [] }
        isConnected = true
        return waiters.wakeAll(with: .reached)
    }

    /// Records that the work is no longer connected.
    mutating func lost() { isConnected = false }

    /// Records that the work has ended.
    ///
    /// - Returns: The users whose work it was, which are removed; the waiters, which must be resumed; and whether the
    ///   caller must begin the work again, for users that have come meanwhile.
    mutating func ended() -> (users: Set<UInt64>, woken: [Word], begins: Bool) {
        isConnected = false
        if phase == .running {
            phase = .idle
            defer { users = [] }
            return (users, waiters.wakeAll(with: .ended), false)
        }
        phase = users.isEmpty ? .idle : .running
        return ([], [], phase == .running)
    }

    /// Adds a caller that waits until the work is connected, unless it is, or the work of the caller has ended.
    ///
    /// - Parameter user: The number of the caller; `nil` for a caller that is no user.
    mutating func enroll(_ user: UInt64?) -> SupervisionStateMachine.Enrollment {
        if let user, !users.contains(user) { return .ended }
        return isConnected ? .reached : .waits(waiters.enroll())
    }

    mutating func park(_ id: WaiterTable.ID, _ waiter: Word) -> WaitOutcome? { waiters.park(id, waiter) }

    mutating func leave(_ id: WaiterTable.ID) -> Word? { waiters.leave(id, with: .left) }
}
