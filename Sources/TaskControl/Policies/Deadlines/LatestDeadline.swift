/// The deadline of a flight, which is one run of an operation for several callers (see ``SingleFlight``). It is the
/// latest deadline of the callers, or none if one of the callers has none, and can change when another caller joins.
@usableFromInline
final class _LatestDeadline: Sendable {
    private struct State {
        /// Whether one of the callers has no deadline. The flight then has none either.
        var isUnlimited = false
        /// The latest of the deadlines that cannot change: those of callers that are not inside another flight; `nil`
        /// if there is none.
        var fixed: Deadline?
        var version = 0
        /// The deadlines of callers that are inside other flights. They change with the deadlines of those flights.
        var moving: [Deadline.Inherited] = []
    }

    private let state = Locked(State())

    private init() {}

    /// Creates the deadline of a flight that the current task begins.
    ///
    /// - Returns: `nil` if the current task has no deadline: the flight then has none, regardless of later callers.
    @usableFromInline
    static func ofCurrentTask() -> _LatestDeadline? {
        guard Deadline.current != nil else { return nil }
        let deadline = _LatestDeadline()
        deadline.joinCurrentTask()
        return deadline
    }

    /// The deadline that applies now; `nil` if the flight has no deadline.
    var current: Deadline? {
        let (isUnlimited, fixed, moving) = state.withLock { ($0.isUnlimited, $0.fixed, $0.moving) }
        if isUnlimited { return nil }
        var latest = fixed
        for inherited in moving {
            guard let deadline = inherited.current else { return nil }
            if latest?.isBefore(deadline) ?? true { latest = deadline }
        }
        return latest
    }

    /// Adds the deadline of the current task, which joins the flight as another caller. If the task has no deadline,
    /// the flight has none from then on.
    @usableFromInline
    func joinCurrentTask() {
        guard let joining = Deadline.local, joining.current != nil else {
            return state.withLock { $0.isUnlimited = true }
        }
        guard joining.latest == nil, let deadline = joining.fixed else {
            return state.withLock { $0.moving.append(joining) }
        }
        while true {
            let (fixed, version) = state.withLock { ($0.fixed, $0.version) }
            // The comparison may call a clock of the client, so it is made without holding the lock.
            if let fixed, !fixed.isBefore(deadline) { return }
            let isReplaced = state.withLock { state in
                guard state.version == version else { return false }
                state.version += 1
                state.fixed = deadline
                return true
            }
            // The replaced object is released here, where the lock is free.
            if isReplaced { return withExtendedLifetime(fixed) {} }
        }
    }
}

/// Creates the task of a flight, with the deadline of the flight instead of the deadline of the current task.
///
/// - Parameters:
///   - flight: The deadline of the flight; `nil` for none.
///   - spawn: Creates the task.
/// - Returns: The task that `spawn` creates.
@usableFromInline
func _withDeadline(of flight: _LatestDeadline?, _ spawn: () -> Task<Void, Never>) -> Task<Void, Never> {
    if let flight {
        return Deadline.$local.withValue(Deadline.Inherited(fixed: nil, latest: flight), operation: spawn)
    }
    return Deadline.local == nil ? spawn() : Deadline.$local.withValue(nil, operation: spawn)
}
