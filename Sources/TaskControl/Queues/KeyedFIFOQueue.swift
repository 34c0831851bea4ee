/// A FIFO queue for each key: calls with the same key take turns, in their order, and calls with different keys run at
/// the same time.
///
/// ```swift
/// actor Activities {
///     private let turns = KeyedFIFOQueue<String>()
///     private var shown: [String: Int] = [:]
///
///     func show(_ number: Int, tag: String) async throws -> Int? {
///         try await turns.run(forKey: tag) {          // nothing else with this tag runs meanwhile, even if this suspends
///             try await send("\(tag): \(number)")
///             return shown.updateValue(number, forKey: tag)
///         }
///     }
/// }
/// ```
///
/// A key has a queue from its first call until none of its calls runs or waits. Nothing is kept for other keys.
///
/// Safe to use from any thread and any isolation. A key needs `Hashable` and nothing else, as in a ``TaskStore``.
///
/// Related types: ``FIFOQueue`` is the queue of one key. ``TaskStore`` with `.wait` starts a task per call, which belongs to
/// the store, and returns no value. ``SingleFlight`` runs the work once for all callers of a key.
public final class KeyedFIFOQueue<Key: Hashable>: Sendable {
    @usableFromInline let _lines: _KeyedTurns

    /// Creates a queue without calls.
    ///
    /// - Parameter name: The name shown in errors and diagnostics; `nil` for none.
    public init(name: String? = nil) {
        _lines = _KeyedTurns(name: name)
    }

    /// The name shown in errors and diagnostics; `nil` if the queue has none.
    public var name: String? { _lines.name }

    /// Waits for a turn of a key, runs `body` in the caller's task, and ends the turn.
    ///
    /// Ordering, priorities and cancellation are those of ``FIFOQueue/run(_:)``, for the calls with an equal key. A
    /// cancelled caller that waits stops waiting immediately, without running `body`.
    ///
    /// - Parameters:
    ///   - key: The key. Its `==`, which is called if hashes are equal, runs while a lock is held, and must not call this
    ///     object.
    ///   - body: Runs in the caller's isolation, so that it may use an actor's state.
    /// - Returns: The value that `body` returns.
    /// - Throws: The error that `body` throws; `CancellationError` if the caller was cancelled before its turn;
    ///   ``ReentrancyError`` if the caller is inside a turn of the same key, or if the turn that runs waits for the caller,
    ///   through flights or turns of other queues and keys.
    /// - Complexity: O(1) on average, and from inside a flight or a turn as for ``FIFOQueue/run(_:)``.
    @export(implementation)
    public nonisolated(nonsending) func run<Value>(
        forKey key: sending Key,
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        let line = _lines.enter(_ErasedKey(key))
        defer { _lines.leave(line) }
        return try await line.turns.run(body)
    }
}
