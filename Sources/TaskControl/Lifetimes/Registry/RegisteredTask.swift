/// The handle of a registered task, in the type that it was created with: the value of a task must be awaited in its own type.
enum RegisteredTask: Hashable, Sendable {
    /// A task without a value, or one that was created elsewhere, whose value is not asked for.
    case plain(_TaskHandle)
    /// A task that delivers to an owner.
    case delivery(Task<DeliveryOutcome, Never>)

    var handle: _TaskHandle {
        switch self {
        case .plain(let task): task
        case .delivery(let task): task.handle
        }
    }

    var isCancelled: Bool { handle.isCancelled }

    func cancel() { handle.cancel() }

    /// Waits for the end of a task that the registry has created.
    ///
    /// - Returns: How its work has ended; `nil` if it delivers to no owner.
    func waitForEnd() async -> DeliveryOutcome? {
        switch self {
        case .plain(let task):
            await task.value
            return nil
        case .delivery(let task): return await task.value
        }
    }
}
