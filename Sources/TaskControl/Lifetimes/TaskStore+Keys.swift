// A key that a store returns must not be shared by two isolations, so these members exist for keys that are Sendable, and for
// keys whose conformance to Hashable is isolated to an actor, since such a store is used on that actor only. For other keys
// the compiler chooses the form that it refuses. Where a type of keys is a generic parameter, the compiler knows neither, and
// chooses the form for isolated keys: generic code must itself require Sendable keys to share what a store returns.

extension TaskStore where Key: Sendable {
    /// The keys that have at least one task that runs, or starts at once, and that the store has not cancelled. A key
    /// whose tasks all wait is not among them: see ``taskIsWaiting(forKey:)``. Observable, as ``TaskOwner/count`` is.
    ///
    /// A running task that was cancelled through its own `Task` handle, not by the store, counts until it has ended.
    ///
    /// - Complexity: O(*n*) in the number of tasks with a key.
    public var runningKeys: Set<Key> { readRunningKeys() }

    /// Cancels the running and waiting tasks of each key that satisfies a predicate, as ``cancelTask(forKey:)`` does
    /// for one key. The tasks of all these keys are cancelled in one step: in a store with a limit, none of them starts
    /// because another one is cancelled.
    ///
    /// - Parameter predicate: Called while no lock is held, and before any task is cancelled, once per key that has tasks
    ///   which were not cancelled before.
    /// - Throws: The error that `predicate` throws. The tasks of the keys that satisfied it before are cancelled.
    /// - Complexity: O(*n*) in the number of keys, and in the number of tasks that are cancelled.
    public func cancelAll(where predicate: (Key) throws -> Bool) rethrows { try cancelKeys(where: predicate) }
}

extension TaskStore {
    /// The keys that have at least one task that runs, or starts at once, and that the store has not cancelled, for a
    /// type of keys whose conformance to `Hashable` is isolated to an actor, as in a project with default isolation.
    ///
    /// - Complexity: O(*n*) in the number of tasks with a key.
    public var runningKeys: Set<Key> { readRunningKeys() }

    /// Cancels the running and waiting tasks of each key that satisfies a predicate, for a type of keys whose
    /// conformance to `Hashable` is isolated to an actor, as in a project with default isolation.
    ///
    /// - Parameter predicate: Called while no lock is held, and before any task is cancelled, once per key that has tasks
    ///   which were not cancelled before.
    /// - Throws: The error that `predicate` throws. The tasks of the keys that satisfied it before are cancelled.
    /// - Complexity: O(*n*) in the number of keys, and in the number of tasks that are cancelled.
    public func cancelAll(where predicate: (Key) throws -> Bool) rethrows { try cancelKeys(where: predicate) }

    private func readRunningKeys() -> Set<Key> {
        observation.access()
        return Set(registry.runningKeys.map { $0.unwrapped(as: Key.self) })
    }

    private func cancelKeys(where predicate: (Key) throws -> Bool) rethrows {
        var keys: [_ErasedKey] = []
        defer { registry.cancel(keys: keys) }
        for key in registry.liveKeys where try predicate(key.unwrapped(as: Key.self)) { keys.append(key) }
    }
}

extension TaskStore where Key: SendableMetatype {
    /// Refused: a key that is not `Sendable` can't be returned to code in another isolation.
    @_KeyMustBeSendable
    @available(
        *,
        deprecated,
        message: "The type of the keys must conform to Sendable: the store returns a key to code in any isolation."
    )
    public var runningKeys: Set<Key> { _KeyMustBeSendable.refuse() }

    /// Refused: a key that is not `Sendable` can't be passed to code in another isolation.
    @_KeyMustBeSendable
    @available(
        *,
        deprecated,
        message: "The type of the keys must conform to Sendable: the store passes a key to code in any isolation."
    )
    public func cancelAll(where predicate: (Key) throws -> Bool) rethrows { _KeyMustBeSendable.refuse() }
}

/// The isolation of the members that the compiler must refuse for keys that are not `Sendable`. Code can't be isolated to
/// it, so that a call is an error, whose text contains this name.
@globalActor
public final actor _KeyMustBeSendable {
    /// The only instance.
    public static let shared = _KeyMustBeSendable()

    private init() {}

    /// Ends the process: for language modes in which the compiler warns.
    package nonisolated static func refuse() -> Never {
        fatalError("The type of the keys must conform to Sendable.")
    }
}
