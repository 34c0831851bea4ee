public import TaskControl

extension TaskSnapshot {
    /// Returns the part of the snapshot that concerns the given tasks and calls: their entries, the entries for which
    /// they wait directly or indirectly, and the owners and the warnings of these entries. The counts of the snapshot
    /// (``droppedCount`` and ``omittedCount``) remain the same.
    ///
    /// - Parameter ids: The identities of the tasks and calls.
    /// - Complexity: O(*n*) in the number of entries and waits.
    public func concerning(_ ids: Set<TaskEvent.Identity>) -> TaskSnapshot {
        var waits: [TaskEvent.Identity: [TaskEvent.Identity]] = [:]
        for entry in owners.flatMap(\.entries) + others { entry.collectWaits(&waits) }
        var (kept, rest) = (ids, Array(ids))
        while let id = rest.popLast() {
            for other in waits[id] ?? [] where kept.insert(other).inserted { rest.append(other) }
        }
        return TaskSnapshot(
            owners: owners.compactMap { $0.concerning(kept) },
            others: others.filter { $0.concerns(kept) },
            warnings: warnings.filter { !kept.isDisjoint(with: $0.ids) },
            droppedCount: droppedCount,
            omittedCount: omittedCount,
            isTracking: isTracking
        )
    }
}

extension TaskSnapshot.Entry {
    /// Adds to `waits`, for the entry and each of its nested calls, the tasks and calls for which it waits, and its own
    /// nested calls.
    fileprivate func collectWaits(_ waits: inout [TaskEvent.Identity: [TaskEvent.Identity]]) {
        waits[id] = waitsFor + calls.map(\.id)
        for call in calls { call.collectWaits(&waits) }
    }

    fileprivate func concerns(_ ids: Set<TaskEvent.Identity>) -> Bool {
        ids.contains(id) || calls.contains { $0.concerns(ids) }
    }
}

extension TaskSnapshot.Owner {
    fileprivate func concerning(_ ids: Set<TaskEvent.Identity>) -> Self? {
        let entries = entries.filter { $0.concerns(ids) }
        guard !entries.isEmpty else { return nil }
        return Self(
            id: id,
            primitive: primitive,
            name: name,
            age: age,
            isClosed: isClosed,
            isDeallocated: isDeallocated,
            permitsOut: permitsOut,
            circuit: circuit,
            refusedCount: refusedCount,
            lastRefusalAge: lastRefusalAge,
            entries: entries
        )
    }
}

extension TaskSnapshot.Warning {
    fileprivate var ids: [TaskEvent.Identity] {
        switch self {
        case .cancelledButRunning(let id, _), .dropped(let id): [id]
        case .waitsForItself(let ids): ids
        }
    }
}
