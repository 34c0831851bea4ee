/// Runs work once for all who ask for it at the same time.
///
/// ```swift
/// let profiles = SingleFlight<UserID, Profile>()
///
/// let profile = try await profiles.run(id) {      // ten views ask, one request is made
///     try await api.fetchProfile(id)
/// }
/// ```
///
/// The first caller of a key begins a *flight*: the operation, in a task of its own. Those who come before it has ended join it, and all get
/// the same value, or the same error. Nothing is kept: who comes after the end begins anew. It is not a cache.
///
/// Safe to use from any thread and any isolation.
///
/// Its flights outlive it: what is in the air goes on when it is released.
///
/// Siblings: ``withSingleFlight(key:operation:)`` needs no object: its flights are shared by the whole process. A ``TaskStore`` with
/// `.preferPrevious` starts work once too, and gives its callers a task instead of a value.
///
/// ## Cancellation
/// Every caller can leave, the first one too: one that is cancelled gets `CancellationError` at once, and the others and the work go on. The
/// last one to leave cancels the work (see ``AbandonedFlightBehavior``). From that moment on the flight is nobody's: who comes then begins a new one,
/// even while the old one is still on its way out. In a tie between a result and a cancellation, the result counts.
///
/// ## Priorities
/// A flight has its first caller's priority, and is raised to that of a caller who has more, where the system can (macOS 26, Linux).
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let _flights: _FlightTable

    /// Creates an object without flights.
    ///
    /// - Parameters:
    ///   - name: The name shown in diagnostics.
    ///   - behavior: What happens to the work when its last caller has left.
    public init(name: String? = nil, whenAbandoned behavior: AbandonedFlightBehavior = .cancel) {
        _flights = _FlightTable(
            origin: .singleFlight,
            name: name,
            runsToCompletion: behavior == .finish,
            emitsLife: true
        )
    }

    deinit {
        Diagnostics.emit(_flights.source.event(.deallocated))
    }

    /// What diagnostics know it by.
    public var name: String? { _flights.name }

    /// Gets the value of a key: from the flight that is in the air, or from a new one.
    ///
    /// ## Cancellation
    /// A caller that is cancelled leaves at once. The last one to leave cancels the work. One that is cancelled before it calls begins nothing.
    ///
    /// - Parameters:
    ///   - key: Its `==` is called under a lock, when hashes are alike; as in a dictionary it must not come back here.
    ///   - operation: Runs in a task of its own, in the isolation in which it is written, with the first caller's task-locals, priority and task name. Not
    ///     called if there is a flight to join. Not begun if everybody has left before.
    /// - Returns: What the flight returns.
    /// - Throws: What the flight throws, to all of its callers; `CancellationError` if the caller is cancelled, or by ``cancelAll()``;
    ///   ``SingleFlightReentrancyError`` if the caller is inside the flight of its own key.
    /// - Complexity: O(1).
    @inlinable
    public nonisolated(nonsending) func run(
        _ key: Key,
        @_inheritActorContext @_implicitSelfCapture
        operation: sending @escaping @isolated(any) () async throws -> Value
    ) async throws -> Value {
        let caller = try _flights.join(_ErasedKey(key), operation: received(operation))
        guard let caller else { throw SingleFlightReentrancyError(key: key) }
        return try await caller.value()
    }

    /// Lets the next caller of a key begin a new flight, as when what the old one fetches is known to be out of date.
    ///
    /// Those who are on the old one keep it.
    public func forget(_ key: Key) {
        _flights.forget(_ErasedKey(key))
    }

    /// How many flights are in the air, forgotten ones included and cancelled ones not. It may have changed when the caller looks at it.
    public var inFlightCount: Int { _flights.count }

    /// Cancels all flights, also those that are to run to their completion. Their callers get `CancellationError` at once.
    public func cancelAll() { _flights.cancelAll(because: nil) }

    /// Cancels all flights for a reason, which `Task.cancellationCause` returns inside their operations. Otherwise the same as ``cancelAll()``.
    ///
    /// - Parameter reason: The reason, for people.
    public func cancelAll(because reason: String) { _flights.cancelAll(because: reason) }
}
