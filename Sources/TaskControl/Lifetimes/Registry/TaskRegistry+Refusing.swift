// A task notices the end of its owner by its cancellation, which a shutdown requests only after the grace period. Work
// that starts again and again, such as a periodic task, must stop when the grace period begins.

extension AsyncLifetime {
    /// Registers a closure that is called when a shutdown of the lifetime begins: the lifetime then refuses new tasks,
    /// and cancels the present ones only after the grace period. The closure is not called when the lifetime is closed,
    /// which cancels its tasks at once.
    ///
    /// Each shutdown that begins while the closure is registered calls the closure once, in the task that calls
    /// `shutdown`, without holding a lock.
    ///
    /// - Returns: The registration of the closure, which ends when the returned object is released.
    package func onRefusal(_ handler: @escaping @Sendable () -> Void) -> RefusalRegistration {
        let number = Diagnostics.nextNumber()
        registry.state.withLock { $0.refusalHandlers[number] = handler }
        return RefusalRegistration(registry, number)
    }
}

/// The registration of a closure with `onRefusal(_:)`. Releasing this object ends the registration.
package final class RefusalRegistration: Sendable {
    private weak let registry: TaskRegistry?
    private let number: UInt64

    fileprivate init(_ registry: TaskRegistry, _ number: UInt64) {
        self.registry = registry
        self.number = number
    }

    deinit {
        let handler = registry?.state.withLock { $0.refusalHandlers.removeValue(forKey: number) }
        // Perhaps the last reference to the captured values of the closure: released here, where the lock is not held.
        withExtendedLifetime(handler) {}
    }
}
