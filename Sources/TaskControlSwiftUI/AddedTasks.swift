internal import TaskControl

/// The tasks that one view has added to slots. The view cancels them when it disappears, and no others: another view may use
/// the same slot.
@MainActor final class AddedTasks {
    /// An object that only the operation of a task retains: it exists until the task has ended or was skipped. If a present
    /// task stands for the new one, as with the behavior `preferPrevious`, the slot has released it when it returns.
    private final class Mark: Sendable {}

    private struct Addition {
        weak var mark: Mark?
        let task: Task<Void, Never>
    }

    private var additions: [Addition] = []

    nonisolated init() {}

    /// The number of tasks that are kept, for tests.
    var count: Int { additions.count }

    /// Adds a task to a slot.
    ///
    /// - Parameters:
    ///   - slot: The slot.
    ///   - action: The work.
    func add(to slot: TaskSlot, _ action: @escaping @MainActor () async -> Void) {
        // Those have ended, or the slot has cancelled them.
        additions.removeAll { $0.mark == nil || $0.task.isCancelled }
        let (task, mark) = Self.added(to: slot, action)
        if let mark { additions.append(Addition(mark: mark, task: task)) }
    }

    /// Adds a task to a slot. Returns the task that the slot returns, and the mark of the operation if the slot has taken it.
    private static func added(
        to slot: TaskSlot,
        _ action: @escaping @MainActor () async -> Void
    ) -> (Task<Void, Never>, Mark?) {
        var mark: Mark? = Mark()
        weak let present = mark
        let task = slot.addTask { [mark] in
            await action()
            withExtendedLifetime(mark) {}
        }
        mark = nil
        return (task, present)
    }

    /// Cancels the tasks that were added, and that have not ended.
    func cancelAll() {
        let present = additions
        additions = []
        // The newest one first: none of them begins because the one before it is cancelled.
        for addition in present.reversed() where addition.mark != nil { addition.task.cancel() }
    }
}
