/// The handle of a registered task, which knows the type that the task was created with: the value of a task must be awaited in its own type.
///
/// One reference and a flag: the compiler retains and releases an enumeration of two references with a multiple of the instructions.
struct RegisteredTask: Hashable, Sendable {
    /// For what can be done to every task.
    let handle: _TaskHandle
    private let isDelivery: Bool

    /// A task without a value, or one that was created elsewhere, whose value is not asked for.
    static func plain(_ task: _TaskHandle) -> Self { Self(handle: task, isDelivery: false) }

    /// A task that delivers to an owner.
    static func delivery(_ task: Task<DeliveryOutcome, Never>) -> Self { Self(handle: task.handle, isDelivery: true) }

    /// The task, if it has no value.
    var plain: Task<Void, Never>? { isDelivery ? nil : handle }

    /// The task, if it delivers to an owner.
    var delivery: Task<DeliveryOutcome, Never>? { isDelivery ? handle.task(of: DeliveryOutcome.self) : nil }

    var isCancelled: Bool { handle.isCancelled }

    func cancel() { handle.cancel() }

    /// Waits for the end of a task that the registry has created.
    ///
    /// - Returns: The outcome of its work; `nil` if it delivers to no owner.
    func waitForEnd() async -> DeliveryOutcome? {
        if let delivery { return await delivery.value }
        await handle.value
        return nil
    }

    /// A registered task as the books of a registry keep it: not retained, in one word.
    ///
    /// An entry leaves the books before its task ends: the task removes it itself, or an object that retains the task does. So whatever reads the
    /// books makes an owned handle while it holds their lock.
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
