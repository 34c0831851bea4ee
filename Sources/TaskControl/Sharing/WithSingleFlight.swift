/// Runs work once for all in this process who ask for it at the same time.
///
/// ```swift
/// let token = try await withSingleFlight(key: "token-refresh") {
///     try await auth.refreshToken()      // ten requests meet an expired token, one refresh is made
/// }
/// ```
///
/// The first caller begins a *flight*: the operation, in a task of its own. Those who come before it has ended join it, and all get
/// the same value, or the same error. Nothing is kept: who comes after the end begins anew.
///
/// Flights are told apart by the key, its type, and the type of the value: `1` and `1.0` are two keys. In a large program, and wherever two servers or
/// two users can be in play, give the keys a type of their own, or use a ``SingleFlight``, which shares with nobody.
///
/// ## Cancellation
/// Every caller can leave, the first one too: one that is cancelled gets `CancellationError` at once, and the others and the work go on. The
/// last one to leave cancels the work; who comes then begins a new flight. In a tie between a result and a cancellation, the result counts.
///
/// - Parameters:
///   - key: Its `==` is called under a lock, when hashes are alike; as in a dictionary it must not come back here.
///   - operation: Runs in a task of its own, in the isolation in which it is written, with the first caller's task-locals, priority and task name. Not
///     called if there is a flight to join. Not begun if everybody has left before.
/// - Returns: What the flight returns.
/// - Throws: What the flight throws, to all of its callers; `CancellationError` if the caller is cancelled;
///   ``SingleFlightReentrancyError`` if the caller is inside the flight of its own key.
/// - Complexity: O(1).
@inlinable
public nonisolated(nonsending) func withSingleFlight<Key: Hashable & Sendable, Value: Sendable>(
    key: Key,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) () async throws -> Value
) async throws -> Value {
    let flights = SingleFlightRegistry.shared._flights
    let caller = try flights.join(_ErasedKey(_SharedKey<Key, Value>(key)), operation: received(operation))
    guard let caller else { throw SingleFlightReentrancyError(key: key) }
    return try await caller.value()
}

/// What ``withSingleFlight(key:operation:)`` has in the air: for tests, and for a look at a running program.
public final class SingleFlightRegistry: Sendable {
    /// The one of this process.
    public static let shared = SingleFlightRegistry()

    @usableFromInline let _flights = _FlightTable(origin: .withSingleFlight)

    private init() {}

    /// How many flights are in the air, cancelled ones not included. It may have changed when the caller looks at it.
    public func inFlightCount() -> Int { _flights.count }
}

/// A key, and the type of what it leads to.
@usableFromInline
struct _SharedKey<Key: Hashable & Sendable, Value>: Hashable, Sendable, CustomStringConvertible {
    @usableFromInline let key: Key

    @inlinable
    init(_ key: Key) {
        self.key = key
    }

    @inlinable var description: String { key as? String ?? String(describing: key) }
}
