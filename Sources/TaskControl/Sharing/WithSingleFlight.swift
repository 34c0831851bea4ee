/// Runs work once for all callers in this process that ask for it at the same time.
///
/// ```swift
/// let token = try await withSingleFlight(key: "token-refresh") {
///     try await auth.refreshToken()      // ten requests meet an expired token, one refresh is made
/// }
/// ```
///
/// The first caller begins a *flight*: the operation, in a task of its own. Callers that come before the flight has
/// ended join it, and all receive the same value, or the same error. Nothing is cached: a caller that comes after the
/// end begins a new flight.
///
/// Flights are distinguished by the key, its type, and the type of the value: `1` and `1.0` are two keys. In a large program, and wherever keys of
/// different servers or users can be equal, give the keys a type of their own, or use a ``SingleFlight``, which shares only with its own callers.
///
/// ## Cancellation
/// Every caller, also the first, can stop waiting: a cancelled caller receives `CancellationError` at once, and the
/// work continues for the others. When the last caller has stopped waiting, the work is cancelled; a later caller
/// begins a new flight. If the caller is cancelled at the same time as the result arrives, the caller receives the
/// result.
///
/// - Parameters:
///   - key: The key of the flight. Its `==`, which is called if hashes are equal, runs while a lock is held, and must
///     not call this function.
///   - operation: Runs in a task of its own, in the isolation in which it is written, with the first caller's
///     task-locals, priority and task name, but not its turns of queues and its deadline (see
///     <doc:SharingAndPolicies>). Not called if there is a flight to join, or if all callers have stopped waiting before
///     the operation begins.
/// - Returns: The value of the flight.
/// - Throws: The error of the operation, to all of its callers; `CancellationError` if the caller is cancelled;
///   ``ReentrancyError`` if the caller is inside the operation of the same key, or if the flight waits for
///   the caller, through other flights or turns of queues.
/// - Complexity: O(1), and from inside another flight or a turn as for ``SingleFlight/value(for:operation:)``.
@export(implementation)
public nonisolated(nonsending) func withSingleFlight<Key: Hashable, Value: Sendable>(
    key: sending Key,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) () async throws -> Value
) async throws -> Value {
    let caller = try _SharedFlights.table.join(_ErasedKey(_SharedKey<Key, Value>(key)), operation: received(operation))
    guard let caller else { throw ReentrancyError(key: String(describing: key)) }
    return try await caller.value()
}

/// The flights of ``withSingleFlight(key:operation:)`` that are in progress in this process.
@usableFromInline
enum _SharedFlights {
    private static let ofProcess = make()

    @usableFromInline static var table: _FlightTable { ProcessValues.value(of: Self.self, ofProcess, make: make) }

    private static func make() -> _FlightTable { _FlightTable(origin: .withSingleFlight) }
}

/// The key under which ``withSingleFlight(key:operation:)`` shares an operation: the client's key, and the type of the
/// operation's value.
@usableFromInline
struct _SharedKey<Key: Hashable, Value>: Hashable, CustomStringConvertible, WrappingKey {
    @usableFromInline let key: Key

    @export(implementation)
    init(_ key: Key) {
        self.key = key
    }

    @export(implementation) var description: String { key as? String ?? String(describing: key) }

    @usableFromInline var plainText: String { _ErasedKey.plainText(of: key) }
}
