/// A turn as it is seen from inside: a task-local, so that child tasks see it too.
///
/// Each queue has a task-local of its own. So a turn inside another queue's turn hides nothing, and nothing is allocated for a turn.
@usableFromInline
struct HeldTurn: Sendable {
    @usableFromInline
    struct Mark: Sendable {
        let queue: UInt64
        let id: TurnStorage.ID
    }

    @usableFromInline let local: TaskLocal<Mark?>
    @usableFromInline let mark: Mark

    @inlinable
    nonisolated(nonsending) func holding<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async rethrows -> Value {
        try await local.withValue(mark, operation: body)
    }
}

/// Where one queue's turns are marked.
struct HeldTurns: Sendable {
    private static let queues = Locked<UInt64>(0)

    private let local = TaskLocal<HeldTurn.Mark?>(wrappedValue: nil)
    /// A task may outlive a queue, and another queue get its task-local's address: no two queues have the same number.
    private let queue: UInt64 = queues.withLock { last in
        last += 1
        return last
    }

    func turn(_ id: TurnStorage.ID) -> HeldTurn {
        HeldTurn(local: local, mark: HeldTurn.Mark(queue: queue, id: id))
    }

    /// The turn that the caller, or a task that it stems from, was given. It may be over.
    var current: TurnStorage.ID? {
        guard let mark = local.get(), mark.queue == queue else { return nil }
        return mark.id
    }
}
