/// An object that runs work once for all callers that ask it for the same key at the same time.
///
/// ```swift
/// let profiles = SingleFlight<UserID, Profile>()
///
/// let profile = try await profiles.value(for: id) {      // ten views ask, one request is made
///     try await api.fetchProfile(id)
/// }
/// ```
///
/// The first caller of a key begins a *flight*: the operation, in a task of its own. Callers that come before the
/// flight has ended join it, and all receive the same value, or the same error. Nothing is cached: a caller that comes
/// after the end begins a new flight.
///
/// Safe to use from any thread and any isolation. A key needs `Hashable` and nothing else, as in a ``TaskStore``.
///
/// Releasing this object cancels nothing: a flight in progress continues. As a ``TaskOwner``, it can be drained, closed
/// and shut down: its tasks are its flights.
///
/// Related APIs: ``withSingleFlight(key:operation:)`` needs no object: its flights are shared by the whole process. A ``TaskStore`` with
/// `.preferPrevious` starts work once too, and gives its callers a task instead of a value.
///
/// ## Cancellation
/// Every caller, also the first, can stop waiting: a cancelled caller receives `CancellationError` at once, and the
/// work continues for the others. When the last caller has stopped waiting, the work is cancelled, unless this object
/// was created with ``AbandonedFlightBehavior/finish``. From that cancellation on, no caller joins the flight: a later
/// caller begins a new one, even while the cancelled work still runs. If the caller is cancelled at the same time as
/// the result arrives, the caller receives the result.
///
/// ## Priorities
/// A flight has its first caller's priority, and is raised to that of a caller with a higher priority, where the system supports it (<doc:Ordering#Priorities>).
public final class SingleFlight<Key: Hashable, Value: Sendable>: TaskOwner, ClosableOwner {
    @usableFromInline let _flights: _FlightTable

    /// Creates an object that runs no work yet.
    ///
    /// - Parameters:
    ///   - name: The name shown in diagnostics; `nil` for none.
    ///   - behavior: The rule for work whose last caller has stopped waiting. By default, the work is cancelled.
    public init(name: String? = nil, whenAbandoned behavior: AbandonedFlightBehavior = .cancel) {
        _flights = _FlightTable(
            origin: .singleFlight,
            name: name,
            runsToCompletion: behavior == .finish,
            emitsLife: true
        )
    }

    deinit {
        _flights.source.emit(.deallocated)
    }

    /// The name shown in diagnostics; `nil` if this object has none.
    public var name: String? { _flights.name }

    /// Returns the value of a key: of the work that other callers of the key wait for, or of the given work, which
    /// later callers then join.
    ///
    /// The first caller of a key begins a *flight*: the operation, in a task of its own. Callers that come before the
    /// flight has ended join it, and receive the same value or error.
    ///
    /// ## Cancellation
    /// A cancelled caller stops waiting immediately, and the work continues for the other callers. When the last caller
    /// has stopped waiting, the work is cancelled, unless this ``SingleFlight`` was created with
    /// ``AbandonedFlightBehavior/finish``. A caller that was cancelled before the call neither begins nor joins a
    /// flight.
    ///
    /// - Parameters:
    ///   - key: The key of the flight. Its `==`, which is called if hashes are equal, runs while a lock is held, and
    ///     must not call this object.
    ///   - operation: Runs in a task of its own, in the isolation in which it is written, with the first caller's
    ///     task-locals, priority and task name, but not its turns of queues and its deadline (see
    ///     <doc:SharingAndPolicies>). Not called if there is a flight to join, or if the flight is cancelled before the
    ///     operation begins.
    /// - Returns: The value of the flight.
    /// - Throws: The error of the operation, to all of its callers; `CancellationError` if the caller is cancelled;
    ///   ``CancellationCause`` if it is not, and ``cancelAll()`` is called, or this object was closed before;
    ///   ``ReentrancyError`` if the caller is inside the operation of the same key, or if the flight waits for
    ///   the caller, through other flights or turns of queues.
    /// - Complexity: O(1). From inside another flight or a turn of a queue, O(*n*) in the number of calls that wait inside
    ///   the flight to join, and inside the flights and turns that these calls wait for.
    @export(implementation)
    public nonisolated(nonsending) func value(
        for key: sending Key,
        @_inheritActorContext @_implicitSelfCapture
        operation: sending @escaping @isolated(any) () async throws -> Value
    ) async throws -> Value {
        let caller = try _flights.join(_ErasedKey(key), operation: received(operation))
        guard let caller else { throw ReentrancyError(key: String(describing: key)) }
        return try await caller.value()
    }

    /// Makes the next caller of a key run the work again instead of joining the work in progress, for example because
    /// that work fetches a value that is known to be out of date.
    ///
    /// Callers that already wait still receive the result of the old work. If no work for the key is in progress, the
    /// call has no effect.
    ///
    /// - Parameter key: The key of the work.
    /// - Complexity: O(1).
    public func forget(_ key: Key) {
        _flights.forget(_ErasedKey(key))
    }

    /// The number of operations in progress, each counted once for all of its callers. Includes operations whose key
    /// was forgotten with ``forget(_:)``, and excludes cancelled operations. The number may have changed by the time
    /// the caller uses it.
    public var count: Int { _flights.count }

    /// Cancels all work in progress, also work that continues without callers. The callers immediately receive
    /// ``CancellationCause`` with the reason, and `CancellationError` only if they are cancelled themselves; later
    /// callers begin new work.
    ///
    /// - Complexity: O(*n*) in the number of operations in progress and their callers.
    public func cancelAll() { cancelAll(for: .requested(reason: nil)) }

    /// Cancels all work in progress for a reason, which `Task.cancellationCause` inside the operations returns.
    /// Otherwise the same as ``cancelAll()``.
    ///
    /// - Parameter reason: A description of the reason, for logs.
    public func cancelAll(because reason: String) { cancelAll(for: .requested(reason: reason)) }

    /// Cancels all work in progress, and refuses later work: callers then receive ``CancellationCause``, except those
    /// that join work in progress during ``TaskOwner/shutdown(grace:waiting:cancellationGrace:clock:)``.
    public func close() {
        refuse(waiting: .run)
        cancelAll(for: .shutdown(name: name))
    }

    package func refuse(waiting: WaitingWorkBehavior) { _flights.refuse(waiting: waiting) }

    package func cutOff(for cause: CancellationCause, within limit: CancellationLimit?) async -> ShutdownReport {
        await _flights.cutOff(for: cause, within: limit)
    }

    package func cancelAll(for cause: CancellationCause) { _flights.cancelAll(cause) }

    package func drain(staysWhenCancelled: Bool) async throws(CancellationError) {
        try await _flights.drain(staysWhenCancelled: staysWhenCancelled)
    }
}
