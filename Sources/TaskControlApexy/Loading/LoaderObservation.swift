/// The registration of a handler with ``ContentLoader/observe(_:)``, which ends with ``end()`` or when this object is
/// released.
///
/// Safe to use from any thread and any isolation.
public final class LoaderObservation: Sendable {
    private let handlers: LoaderHandlers
    private let number: Int

    init(_ handlers: LoaderHandlers, _ handler: @escaping @MainActor () -> Void) {
        self.handlers = handlers
        number = handlers.add(handler)
    }

    deinit { end() }

    /// Ends the observation and releases the handler. A second call does nothing.
    ///
    /// If this function is called on the main actor, the handler is not called any more once the function has returned.
    /// If it is called elsewhere, a call of the handler that has already begun on the main actor may still be running.
    public func end() {
        handlers.remove(number)
    }
}

/// The handlers of a ``ContentLoader``, in an object of their own, so that an observation does not retain the loader.
final class LoaderHandlers: Sendable {
    private struct State {
        var handlers: [Int: @MainActor () -> Void] = [:]
        var last = 0
    }

    private let state = Locked(State())

    func add(_ handler: @escaping @MainActor () -> Void) -> Int {
        state.withLock {
            $0.last += 1
            $0.handlers[$0.last] = handler
            return $0.last
        }
    }

    func remove(_ number: Int) {
        // Released after the lock, with the objects that it captures.
        _ = state.withLock { $0.handlers.removeValue(forKey: number) }
    }

    /// Calls each handler, in the order of the registrations, except those that are added or removed during this call.
    @MainActor func call() {
        for number in state.withLock({ $0.handlers.keys.sorted() }) {
            state.withLock { $0.handlers[number] }?()
        }
    }
}
