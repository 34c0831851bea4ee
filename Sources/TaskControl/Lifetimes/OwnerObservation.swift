internal import Observation

/// An owner whose tasks are observable, for systems with the Observation framework (macOS 14, iOS 17, tvOS 17, watchOS 10):
/// a view that reads the state of the owner is updated when it changes.
protocol ObservableOwner: RegistryOwner {
    var observation: OwnerObservation { get }
}

// The requirement is documented in `TaskOwner`.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension ObservableOwner {
    public var count: Int {
        observation.access()
        return registry.liveCount
    }
}

extension TaskStore {
    /// Returns whether a key has a task that runs, or starts at once, and that the store has not cancelled. A task that
    /// waits to start does not count: see ``taskIsWaiting(forKey:)``. Observable, as ``TaskOwner/count`` is.
    ///
    /// A running task that was cancelled through its own `Task` handle, not by the store, counts until it has ended.
    ///
    /// - Complexity: O(*n*) in the number of tasks under the key.
    public func taskIsRunning(forKey key: Key) -> Bool {
        observation.access()
        return registry.isRunning(_ErasedKey(key))
    }

    /// Returns whether a key has a task that waits to start: for older tasks, for a quiet time, for the end of an interval,
    /// or for a place in a store with a limit. Observable, as ``TaskOwner/count`` is.
    ///
    /// - Complexity: O(*n*) in the number of tasks under the key.
    public func taskIsWaiting(forKey key: Key) -> Bool {
        observation.access()
        return registry.isWaiting(_ErasedKey(key))
    }
}

/// The `Observable` object through which changes of an owner are observed. Separate from the owner, because tasks report
/// their end even after the owner was deallocated.
///
/// Observers are notified *after* a change, not before: the owner may change on any thread, so an observer that reads
/// the owner between a notification and the change would see the old state, and would not be notified again.
final class OwnerObservation: Sendable {
    /// An `ObservationRegistrar`, created when the owner is first read; `nil` before, and where the platform has none
    /// (before macOS 14 and iOS 17).
    private let registrar = Locked<(any Sendable)?>(nil)

    private var contents: Void { () }

    func access() {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { return }
        let registrar = registrar.withLock { registrar in
            if registrar == nil { registrar = ObservationRegistrar() }
            return registrar
        }
        (registrar as! ObservationRegistrar).access(self, keyPath: \.contents)
    }

    func changed() {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { return }
        guard let registrar = registrar.withLock({ $0 }) else { return }
        (registrar as! ObservationRegistrar).withMutation(of: self, keyPath: \.contents) {}
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension OwnerObservation: Observable {}
