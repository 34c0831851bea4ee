/// The handle of a registered task, which remembers the type of the task's value: a task must be awaited as the type
/// with which it was created.
///
/// Consists of a reference and a flag. Retaining and releasing an enumeration of two references would take several times as many instructions.
struct RegisteredTask: Hashable, Sendable {
    /// The task without the type of its value, for operations that a task of any type supports: to cancel, escalate and
    /// compare it.
    let handle: _TaskHandle
    private let isDelivery: Bool

    /// Creates the handle of a task that has no value or, if `isDelivery`, was created by `run(for:)` or
    /// `forEach(_:for:)`.
    init(handle: _TaskHandle, isDelivery: Bool) {
        self.handle = handle
        self.isDelivery = isDelivery
    }

    /// Returns the handle of a task without a value, or of a task that was created elsewhere and whose value is not awaited.
    static func plain(_ task: _TaskHandle) -> Self { Self(handle: task, isDelivery: false) }

    /// Returns the task, if its value is that of a task that runs `Work`; otherwise `nil`.
    func task<Work: OwnedWork>(of _: Work.Type) -> Task<Work.Success, Never>? {
        isDelivery == Work.isDelivery ? handle.task(of: Work.Success.self) : nil
    }

    var isCancelled: Bool { handle.isCancelled }

    func cancel() { handle.cancel() }

    /// Waits for the end of a task that the registry has created.
    ///
    /// - Returns: The outcome of the task; `duplicate` if it has none, because `run(for:)` or `forEach(_:for:)` did not
    ///   create it.
    func waitForEnd() async -> DeliveryOutcome {
        if isDelivery { return await handle.task(of: DeliveryOutcome.self).value }
        await handle.value
        return .duplicate
    }

    /// The word by which the machine of a registry refers to the task, without retaining it.
    var word: Word { Word(handle, isMarked: isDelivery) }

    /// Creates the retained handle of a task whose `word` is given.
    ///
    /// The task is known to be alive only while it is registered: it is removed from the registry before it ends, by
    /// the task itself or by an object that retains the task. So the lock of the registry must be held.
    init(_ word: Word) { self.init(handle: word.task, isDelivery: word.isMarked) }
}

extension TaskRegistry {
    /// Removes the current task from the registry, and emits the event of its end. Called when the work of the task has
    /// ended, or was skipped because the task was cancelled.
    ///
    /// - Parameters:
    ///   - id: The ID of the current task.
    ///   - hasRun: Whether the work of the task has run.
    func leave(_ id: ID, hasRun: Bool) {
        let moment = Diagnostics.moment
        finish(id)
        CancellationCauses.forget(.running)
        emitEnd(of: id, hasRun: hasRun, at: moment)
    }
}
