public import TaskControl

/// One connection that several owners share: it is made for its first user, closed after its last one, and made again when
/// it is lost in between.
///
/// ```swift
/// let feed = SharedConnection("feed") { (last: Int?) in
///     try await server.connect()
/// } elements: { connection in
///     connection.updates
/// }
///
/// // each screen
/// lifetime.forEach(feed.elements(bufferingPolicy: .bufferingNewest(1)), for: model) { model, update in
///     await model.apply(update)
/// }
/// try await feed.withConnection { connection in try await connection.send("hello") }
/// ```
///
/// A user is a stream that ``elements(bufferingPolicy:)`` has returned, until it has ended, is cancelled or released; or a
/// call of ``withConnection(_:)``, until it returns. Restarts follow the rules of
/// ``TaskControl/AsyncLifetime/keepRunning(_:restart:limit:backoff:stableAfter:waitingFor:grace:priority:clock:operation:)``,
/// and the streams of the users continue over them. If the connection has failed permanently, all streams fail with
/// ``SupervisionError``; the next user begins again, also with the count of restarts.
///
/// Connections never overlap: a user that comes while the connection of earlier users is being closed waits for the end of
/// that connection.
///
/// The connection belongs to ``lifetime``. To end it for all users, for example when the user of the app signs out, cancel or shut
/// down this lifetime: the streams then end without an error.
///
/// Safe to use from any thread and any isolation. If nothing else retains this object, the streams of its users do.
public final class SharedConnection<Connection: Sendable, Element: Sendable>: Sendable {
    /// A stream of the elements for one user.
    public typealias Stream = AsyncThrowingStream<Element, any Error>

    private let storage: SharedConnectionStorage<Connection, Element>

    /// Creates a shared connection, and does not connect.
    ///
    /// - Parameters:
    ///   - name: The name, which debuggers and diagnostics show.
    ///   - restart: The rule for when the work connects again. By default ``RestartRule/always``: also when the sequence
    ///     ends without an error.
    ///   - limit: The largest number of restarts per period. By default 5 in 60 seconds.
    ///   - backoff: The delay before each restart: see ``TaskControl/RetryBackoff/supervision`` for the default.
    ///   - stableAfter: After a connection of this length, the delays begin again with the first one.
    ///   - silenceLimit: The time for which a connection waits for an element before it has failed with `TimeoutError`.
    ///     `nil`, the default: no limit.
    ///   - condition: Returns the reports of a condition for which the work waits before it connects again. `nil`, the
    ///     default: no condition.
    ///   - clock: Measures the delays, the period of the limit, and `silenceLimit`.
    ///   - connect: Connects. Receives the last element that was received since the first user came; `nil` if there is none.
    ///     Runs on no actor, with the task-locals of that user, and without its deadline.
    ///   - elements: Returns the elements of a connection. Runs on no actor.
    public init<Elements: AsyncSequence & SendableMetatype>(
        _ name: String,
        restart: RestartRule = .always,
        limit: RestartLimit = .restarts(5, per: .seconds(60)),
        backoff: RetryBackoff = .supervision,
        stableAfter: Duration = .seconds(60),
        silenceLimit: Duration? = nil,
        waitingFor condition: (@Sendable () async -> AsyncStream<Bool>)? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        connect: @escaping @Sendable (_ last: Element?) async throws -> Connection,
        elements: @escaping @Sendable (Connection) async throws -> Elements
    ) where Elements.Element == Element, Elements.AsyncIterator: SendableMetatype {
        storage = SharedConnectionStorage(name) { storage in
            storage.lifetime.keepRunning(
                name,
                restart: restart,
                limit: limit,
                backoff: backoff,
                stableAfter: stableAfter,
                waitingFor: condition,
                clock: clock
            ) { @Sendable run in
                let connection = try await connect(storage.last)
                storage.connected(connection)
                defer { storage.lost() }
                run.markReady()
                _ = try await pass(elements(connection), within: silenceLimit, on: clock) { element in
                    storage.receive(element)
                    return true
                }
                // A sequence ends without an error when its task is cancelled.
                try Task.checkCancellation()
            }
        }
    }

    /// The owner of the connection.
    public var lifetime: AsyncLifetime { storage.lifetime }

    /// The number of users. It may have changed by the time the caller uses it.
    public var userCount: Int { storage.userCount }

    /// Returns a stream of the elements that are received from now on, for one more user. Connects if this is the first one.
    ///
    /// The stream continues when the connection is made again. It fails with ``SupervisionError`` if the connection has
    /// failed permanently, and ends if the connection was stopped or has completed.
    ///
    /// ## Cancellation
    /// The stream ends when the task that reads it is cancelled, or when it is released. If it was the last user, the
    /// connection is then cancelled, asynchronously.
    ///
    /// - Parameter bufferingPolicy: The elements that the stream keeps for a user that reads too slowly:
    ///   `.bufferingNewest(1)` for values of which only the newest one matters, such as a price, `.unbounded` for messages of
    ///   which none may be lost. A slow user delays neither the others nor the connection.
    /// - Complexity: O(1). An element costs O(*n*) in the number of users.
    public func elements(bufferingPolicy: Stream.Continuation.BufferingPolicy) -> Stream {
        storage.stream(bufferingPolicy)
    }

    /// Calls an operation with the connection, for example to send on it. Connects if this is the first user, and waits
    /// until the connection is made. The caller is a user until the operation has returned.
    ///
    /// If the connection is lost while the operation runs, the operation continues: what happens is what the connection
    /// throws.
    ///
    /// ## Cancellation
    /// A cancelled caller stops waiting at once, and the operation is not called.
    ///
    /// - Parameter operation: Runs in the caller's isolation and task. Must not keep the connection.
    /// - Returns: The value of the operation.
    /// - Throws: `CancellationError` if the caller is cancelled while it waits; ``SupervisionError`` if the connection has
    ///   ended instead; the error of the operation.
    public nonisolated(nonsending) func withConnection<Value>(
        _ operation: nonisolated(nonsending) (Connection) async throws -> Value
    ) async throws -> Value {
        try await storage.use(operation)
    }

    /// Waits until the connection is made, and returns at once if it is. The caller is no user: without one, it waits for the
    /// first.
    ///
    /// ## Cancellation
    /// A cancelled caller stops waiting at once.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled; otherwise ``SupervisionError`` if the connection has ended
    ///   instead.
    public func waitUntilReady() async throws {
        try Task.checkCancellation()
        try await storage.waitUntilConnected()
    }

    /// The state of the connection; `stopped` while it has no user. It may have changed by the time the caller uses it.
    public var state: SupervisedWork.State { storage.publication.state }

    /// A stream of the current state and each later state. It does not end with the connection, because another user may
    /// come.
    ///
    /// Each access creates a stream of its own. A reader that falls behind by more than 64 states misses the oldest of
    /// these states.
    public var states: AsyncStream<SupervisedWork.State> { storage.publication.stream() }
}
