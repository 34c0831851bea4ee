// A task learns of the end of its owner by its cancellation, and a shutdown with a grace cancels late: work that begins again and again must know before.

extension AsyncLifetime {
    /// Calls a closure when the lifetime begins to refuse tasks because it is shut down, which is before the grace. Not called when the lifetime cancels its
    /// tasks at once.
    ///
    /// - Returns: The registration, which ends when it is released.
    package func onRefusal(_ handler: @escaping @Sendable () -> Void) -> RefusalRegistration {
        let number = Diagnostics.nextNumber()
        registry.state.withLock { $0.refusalHandlers[number] = handler }
        return RefusalRegistration(registry, number)
    }
}

/// A closure that a lifetime calls when it begins to refuse tasks, until this object is released.
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
