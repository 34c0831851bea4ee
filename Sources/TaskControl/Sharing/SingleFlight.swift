/// A group of flights: each runs work once for all callers that ask for the same key at the same time.
///
/// ```swift
/// let profiles = SingleFlight<UserID, Profile>()
///
/// let profile = try await profiles.run(id) {      // ten views ask, one request is made
///     try await api.fetchProfile(id)
/// }
/// ```
///
/// The first caller of a key begins a *flight*: the operation, in a task of its own. Callers that come before it has ended join it, and all receive
/// the same value, or the same error. Nothing is kept: a caller that comes after the end begins a new flight. It is not a cache.
///
/// Safe to use from any thread and any isolation.
///
/// Releasing this object cancels nothing: a flight in progress continues.
///
/// Related APIs: ``withSingleFlight(key:operation:)`` needs no object: its flights are shared by the whole process. A ``TaskStore`` with
/// `.preferPrevious` starts work once too, and gives its callers a task instead of a value.
///
/// ## Cancellation
/// Every caller can leave, also the first caller: a cancelled caller receives `CancellationError` at once, and the others and the work continue. The
/// last one to leave cancels the work (see ``AbandonedFlightBehavior``). From that moment on no caller joins the flight: a later caller begins a
/// new one, even while the cancelled work still runs. If a result and a cancellation come at the same time, the result counts.
///
/// ## Priorities
/// A flight has its first caller's priority, and is raised to that of a caller with a higher priority, where the system supports it (macOS 26,
/// Linux).
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let _flights: _FlightTable

    /// Creates an object without flights.
    ///
    /// - Parameters:
    ///   - name: The name shown in diagnostics.
    ///   - behavior: The rule for the work when its last caller has left.
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

    /// The name shown in diagnostics.
    public var name: String? { _flights.name }

    /// Returns the value of a key, from the current flight or from a new one.
    ///
    /// ## Cancellation
    /// A cancelled caller stops waiting immediately. The last caller that leaves cancels the work. A caller that was cancelled before the call does not
    /// begin a flight.
    ///
    /// - Parameters:
    ///   - key: The key of the flight. Its `==` is called while a lock is held, if hashes are equal, and must not call this object.
    ///   - operation: Runs in a task of its own, in the isolation in which it is written, with the first caller's task-locals, priority and task
    ///     name. Not called if there is a flight to join. Not begun if all callers have stopped waiting by then.
    /// - Returns: The value of the flight.
    /// - Throws: The error of the flight, to all of its callers; `CancellationError` if the caller is cancelled or ``cancelAll()`` is called;
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

    /// Lets the next caller of a key begin a new flight, for example when the old flight fetches a value that is known to be out of date.
    ///
    /// Callers that wait for the old flight still receive its result.
    public func forget(_ key: Key) {
        _flights.forget(_ErasedKey(key))
    }

    /// The number of flights in progress, including forgotten flights and excluding cancelled ones. It may have changed by the time the caller uses
    /// it.
    public var inFlightCount: Int { _flights.count }

    /// Cancels all flights, also those that continue without callers. Their callers receive `CancellationError` at once.
    public func cancelAll() { _flights.cancelAll(because: nil) }

    /// Cancels all flights for a reason, which `Task.cancellationCause` returns inside their operations. Otherwise the same as ``cancelAll()``.
    ///
    /// - Parameter reason: A description of the reason, for logs.
    public func cancelAll(because reason: String) { _flights.cancelAll(because: reason) }
}
