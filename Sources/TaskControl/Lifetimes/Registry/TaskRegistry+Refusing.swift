// A task learns of the end of its owner by its cancellation, and a shutdown with a grace cancels late: work that begins again and again must know before.

extension AsyncLifetime {
    /// Registers a closure that is called when the lifetime is shut down: when it begins to refuse tasks, which is before the grace period. Not
    /// called when the lifetime is closed, which cancels its tasks at once.
    ///
    /// - Returns: The registration, which ends when it is released.
    package func onRefusal(_ handler: @escaping @Sendable () -> Void) -> RefusalRegistration {
        let number = Diagnostics.nextNumber()
        registry.state.withLock { $0.refusalHandlers[number] = handler }
        return RefusalRegistration(registry, number)
    }
}

/// The registration of a closure with `onRefusal(_:)`. It ends when this object is released.
package final class RefusalRegistration: Sendable {
    private weak let registry: TaskRegistry?
    private let number: UInt64

    fileprivate init(_ registry: TaskRegistry, _ number: UInt64) {
        self.registry = registry
        self.number = number
    }

    deinit {
        let handler = registry?.state.withLock { $0.refusalHandlers.removeValue(forKey: number) }
        // Perhaps the last reference to what it has captured: released here, where the lock is free.
        withExtendedLifetime(handler) {}
    }
}
