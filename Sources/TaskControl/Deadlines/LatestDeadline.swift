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
        /// The deadlines of callers that are inside other flights. They change with the deadlines of those flights.
        var moving: [Deadline.Inherited] = []
        /// The number of elements of `moving` at which those of ended flights are removed.
        var limit = 8
        /// Incremented by each change of `fixed` and `moving`.
        var version = 0
        /// Whether the flight has ended. No caller joins it any more, so its deadline cannot change.
        var hasEnded = false
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
    ///
    /// - Complexity: O(*n*) in the number of flights that have not ended and from which callers have joined.
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

    /// The number of deadlines that can change.
    var changingCount: Int { state.withLock { $0.moving.count } }

    private var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Records that the flight has ended.
    func end() { state.withLock { $0.hasEnded = true } }

    /// Adds the deadline of the current task, which joins the flight as another caller. If the task has no deadline,
    /// the flight has none from then on.
    ///
    /// - Complexity: O(1), amortized, and O(*n*) in the number of flights that have not ended and from which callers have
    ///   joined.
    @usableFromInline
    func joinCurrentTask() {
        guard let joining = Deadline.local, joining.current != nil else {
            return state.withLock { $0.isUnlimited = true }
        }
        guard joining.latest == nil, let deadline = joining.fixed else {
            let isFull = state.withLock { state in
                state.moving.append(joining)
                state.version += 1
                return state.moving.count >= state.limit
            }
            return isFull ? removeEnded() : ()
        }
        join([deadline])
    }

    /// Adds deadlines that cannot change.
    ///
    /// - Parameter moving: The changing deadlines that remain, and the version of the state that they were made from;
    ///   `nil` to leave them as they are. Nothing is added if the state has another version.
    private func join(_ deadlines: [Deadline], leaving moving: (deadlines: [Deadline.Inherited], version: Int)? = nil) {
        while true {
            let state = self.state.withLock { $0 }
            if let moving, moving.version != state.version { return }
            var new = state
            // The comparisons may call a clock of the client, so they are made without holding the lock.
            for deadline in deadlines where new.fixed?.isBefore(deadline) ?? true { new.fixed = deadline }
            new.version += 1
            if let moving {
                new.moving = moving.deadlines
                new.limit = max(8, 2 * moving.deadlines.count)
            }
            let isReplaced = self.state.withLock { current in
                guard current.version == state.version else { return false }
                (new.isUnlimited, new.hasEnded) = (current.isUnlimited, current.hasEnded)
                current = new
                return true
            }
            // The replaced objects are released here, where the lock is free.
            if isReplaced { return withExtendedLifetime(state) {} }
        }
    }

    /// Replaces the deadlines of ended flights, which no longer change, by the latest of them, and those of callers that
    /// have joined from the same flight by one.
    private func removeEnded() {
        let (moving, version) = state.withLock { ($0.moving, $0.version) }
        var (ended, live): ([Deadline], RareDictionary<ObjectIdentifier, Deadline.Inherited>) = ([], RareDictionary())
        for inherited in moving {
            guard let flight = inherited.latest else { continue }
            if flight.hasEnded {
                guard let deadline = inherited.current else { return state.withLock { $0.isUnlimited = true } }
                ended.append(deadline)
            } else if let other = live[ObjectIdentifier(flight)] {
                live[ObjectIdentifier(flight)] = .later(other, inherited)
            } else {
                live[ObjectIdentifier(flight)] = inherited
            }
        }
        // If another caller has joined meanwhile, the next one tries again.
        join(ended, leaving: (live.values, version))
    }
}

extension Deadline.Inherited {
    /// Returns the one of two deadlines in the same flight that has the later fixed part, or none.
    fileprivate static func later(_ one: Deadline.Inherited, _ other: Deadline.Inherited) -> Deadline.Inherited {
        guard let fixed = one.fixed, let another = other.fixed else { return one.fixed == nil ? one : other }
        return fixed.isBefore(another) ? other : one
    }
}

/// Creates the task of a flight, with the deadline of the flight instead of the deadline of the current task.
///
/// - Parameters:
///   - flight: The deadline of the flight; `nil` for none.
///   - isInherited: Whether the current task has a deadline.
///   - spawn: Creates the task.
/// - Returns: The task that `spawn` creates.
@usableFromInline
func _withDeadline(
    of flight: _LatestDeadline?,
    instead isInherited: Bool,
    _ spawn: () -> Task<Void, Never>
) -> Task<Void, Never> {
    if let flight {
        return Deadline.$local.withValue(Deadline.Inherited(fixed: nil, latest: flight), operation: spawn)
    }
    return isInherited ? Deadline.$local.withValue(nil, operation: spawn) : spawn()
}
