/// The deadline of a flight: the latest of those of its callers, which a later caller may move.
@usableFromInline
final class _LatestDeadline: Sendable {
    /// The deadline of the first caller.
    let first: Deadline

    private struct State {
        /// `nil`: a caller has none.
        var deadline: Deadline?
        var version = 0
    }

    private let state: Locked<State>

    private init(_ deadline: Deadline) {
        first = deadline
        state = Locked(State(deadline: deadline))
    }

    /// Creates the deadline of a flight that the current task begins; `nil` if the task has none, since no other caller can give the flight one.
    @usableFromInline
    static func ofCurrentTask() -> _LatestDeadline? { Deadline.current.map(_LatestDeadline.init) }

    /// The deadline as it is now; `nil`: there is none any more.
    var current: Deadline? { state.withLock { $0.deadline } }

    /// The current task waits for the flight, too.
    @usableFromInline
    func joinCurrentTask() {
        let joining = Deadline.current
        while true {
            let (latest, version) = state.withLock { ($0.deadline, $0.version) }
            // Deadlines are compared by their clocks, which may be of the client: never while holding the lock.
            guard let latest, joining.map(latest.isBefore) ?? true else { return }
            let replaced = state.withLock { state -> Deadline? in
                guard state.version == version else { return nil }
                state.version += 1
                return (state.deadline, state.deadline = joining).0
            }
            // Released here, where the lock is free.
            if replaced != nil { return }
        }
    }
}

/// Creates the task of a flight, which has the deadline of the flight and not that of its creator.
@usableFromInline
func _withDeadline(of flight: _LatestDeadline?, _ spawn: () -> Task<Void, Never>) -> Task<Void, Never> {
    // Without one, the creator has none either.
    guard let flight else { return spawn() }
    return Deadline.$local.withValue(Deadline.Inherited(fixed: flight.first, latest: flight), operation: spawn)
}
