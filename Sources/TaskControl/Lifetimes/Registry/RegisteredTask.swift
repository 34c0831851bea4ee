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

    /// Returns the handle of a task that `run(for:)` or `forEach(_:for:)` created.
    static func delivery(_ task: Task<DeliveryOutcome, Never>) -> Self { Self(handle: task.handle, isDelivery: true) }

    /// The task, if it has no value; otherwise `nil`.
    var plain: Task<Void, Never>? { isDelivery ? nil : handle }

    /// The task, if `run(for:)` or `forEach(_:for:)` created it; otherwise `nil`.
    var delivery: Task<DeliveryOutcome, Never>? { isDelivery ? handle.task(of: DeliveryOutcome.self) : nil }

    var isCancelled: Bool { handle.isCancelled }

    func cancel() { handle.cancel() }

    /// Waits for the end of a task that the registry has created.
    ///
    /// - Returns: The outcome of the task, if `run(for:)` or `forEach(_:for:)` created it; otherwise `nil`.
    func waitForEnd() async -> DeliveryOutcome? {
        if let delivery { return await delivery.value }
        await handle.value
        return nil
    }

    /// An unretained handle of a registered task, in one word.
    ///
    /// The task is known to be alive only while it is registered: it is removed from the registry before it ends, by
    /// the task itself or by an object that retains the task. So code that reads this handle must create a retained
    /// handle with `owned` while it holds the lock of the registry.
    struct Unowned: Sendable {
        private let task: _TaskHandle.Unowned
        private let isDelivery: Bool

        init(_ task: RegisteredTask) {
            self.task = .init(task.handle)
            isDelivery = task.isDelivery
        }

        var owned: RegisteredTask { RegisteredTask(handle: task.owned, isDelivery: isDelivery) }
    }
}
