internal import Observation

/// The observable state of a store, for systems with the Observation framework (macOS 14, iOS 17, tvOS 17, watchOS 10):
/// a view that reads it is updated when it changes.
extension TaskStore {
    /// The number of tasks, under all keys, that run or wait to start and that the store has not cancelled. Observable:
    /// a SwiftUI view that reads this property is updated when it changes (macOS 14, iOS 17, tvOS 17, watchOS 10).
    ///
    /// A running task that was cancelled through its own `Task` handle, not by the store, counts until it has ended.
    public var count: Int {
        observation.access()
        return registry.liveCount
    }

    /// The keys that have at least one task that runs or waits to start and that the store has not cancelled.
    /// Observable, as ``count`` is.
    ///
    /// A running task that was cancelled through its own `Task` handle, not by the store, counts until it has ended.
    ///
    /// - Complexity: O(*n*) in the number of keys.
    public var runningKeys: Set<Key> {
        observation.access()
        return Set(registry.liveKeys.map { $0.unwrapped(as: Key.self) })
    }

    /// Returns whether a key has a task that runs or waits to start and that the store has not cancelled. Observable,
    /// as ``count`` is.
    ///
    /// A task that waits to start also counts as running here, as in ``runningKeys``. A running task that was cancelled
    /// through its own `Task` handle, not by the store, counts until it has ended.
    public func taskIsRunning(forKey key: Key) -> Bool {
        observation.access()
        return registry.isLive(_ErasedKey(key))
    }
}

/// The `Observable` object through which changes of a store are observed. Separate from the store, because tasks report
/// their end even after the store was deallocated.
///
/// Observers are notified *after* a change, not before: the store may change on any thread, so an observer that reads
/// the store between a notification and the change would see the old state, and would not be notified again.
final class TaskStoreObservation: Sendable {
    /// An `ObservationRegistrar`; `nil` where the platform has none (before macOS 14 and iOS 17).
    private let registrar: (any Sendable)?

    init() {
        if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) {
            registrar = ObservationRegistrar()
        } else {
            registrar = nil
        }
    }

    private var contents: Void { () }

    func access() {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { return }
        (registrar as! ObservationRegistrar).access(self, keyPath: \.contents)
    }

    func changed() {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { return }
        (registrar as! ObservationRegistrar).withMutation(of: self, keyPath: \.contents) {}
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension TaskStoreObservation: Observable {}
