/// A turn as it is seen from inside: a task-local, so that child tasks see it too.
///
/// Each queue has a task-local of its own. So a turn inside another queue's turn hides nothing, and nothing is allocated for a turn.
@usableFromInline
struct HeldTurn: Sendable {
    /// Where it is marked. The runtime knows a task-local by its address: a mark keeps it, in tasks that outlive the queue too, so
    /// that no other task-local gets that address and takes the mark for its own.
    @usableFromInline let local: TaskLocal<HeldTurn?>
    let id: TurnStorage.ID

    @inlinable
    nonisolated(nonsending) func holding<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async rethrows -> Value {
        try await local.withValue(self, operation: body)
    }
}

/// Where one queue's turns are marked.
struct HeldTurns: Sendable {
    private let local = TaskLocal<HeldTurn?>(wrappedValue: nil)

    func turn(_ id: TurnStorage.ID) -> HeldTurn { HeldTurn(local: local, id: id) }

    /// The turn that the caller, or a task that it stems from, was given. It may be over.
    var current: TurnStorage.ID? { local.get()?.id }
}
