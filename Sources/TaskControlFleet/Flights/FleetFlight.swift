internal import Foundation
internal import TaskControl

/// An object that shares the results of operations among processes, through a ``CoordinationStore``. An operation
/// normally runs once for all callers, in all processes, that wait for the value of the same key at the same time.
///
/// *The operation can run more than once*: if the process that runs it is paused or loses contact with the store,
/// another process runs it again, perhaps while the first process still runs it. The operation must be safe to repeat.
///
/// ```swift
/// let tokens = FleetFlight<Token>("tokens", in: store)
///
/// let token = try await tokens.value(for: account) {        // an app and its extensions ask, one request is made
///     try await server.refreshToken(of: account)
/// }
/// ```
///
/// The first caller of a key runs the operation while it holds a lease, and publishes the result in the store. All
/// callers that wait for the same key at that time receive the result. If the process that runs the operation ends or
/// loses its lease, the next caller runs the operation. Results are not cached: a caller that comes later runs the
/// operation again.
///
/// The published result stays in the store for the duration of one lease, where all clients of the store can read it.
/// If the operation throws, the result is the text of the error, as diagnostics show it: after
/// `TaskDiagnostics.Configuration.redact`, if it is configured. If the value cannot be encoded, or if its JSON is larger
/// than the store's limit for an entry, the result is not published, and the next caller in another process runs the
/// operation again. A caller that cannot decode a published value, for example because another version of the program
/// has published it, runs the operation itself when it is its turn.
///
/// The callers of one process share one operation, through a `SingleFlight`, and one entry in the store.
///
/// Safe to use from any thread and any isolation. A value is encoded and decoded in a task that all callers share, so its
/// conformance to `Codable` must belong to no actor: a module that isolates its types to the main actor by default declares
/// `nonisolated struct Token: Codable`.
///
/// ## Cancellation
/// A cancelled caller throws `CancellationError` at once, even if it is the first caller. When all callers of a process
/// are cancelled, the process stops waiting for a result. If it runs the operation, the operation is cancelled, and the
/// next caller, in another process, runs it instead.
public final class FleetFlight<Value: Codable & Sendable>: Sendable {
    private let flights: SingleFlight<StoreKey, Value>
    private let store: any StoreOperations
    private let timeToLive: Duration
    private let holder: String?
    private let clock: any Clock<Duration>
    private let source: EventSource

    /// Creates an object that runs no operation yet. Does not call the store.
    ///
    /// - Parameters:
    ///   - name: The name under which results are shared: all processes that use the same name in the same store share
    ///     the results, and should use the same type of value.
    ///   - store: The store in which the processes coordinate.
    ///   - timeToLive: The duration of the lease under which an operation runs. If a process crashes while it runs the
    ///     operation, another waiting process runs it when this time has passed. See
    ///     ``withLease(_:in:timeToLive:holder:clock:body:)`` for the default and the limits.
    ///   - holder: A description of this process, for people who inspect the store; `nil` for the host name and the process ID.
    ///   - clock: The clock that measures the leases. It must continue while the machine sleeps, as the default does.
    public init(
        _ name: String,
        in store: any CoordinationStore,
        timeToLive: Duration = .seconds(15),
        holder: String? = nil,
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        flights = SingleFlight(name: name)
        source = EventSource(.fleetFlight, name: name)
        (self.store, self.timeToLive, self.holder, self.clock) = (store.backend.operations, timeToLive, holder, clock)
        source.emit(.created)
    }

    deinit { source.emit(.deallocated) }

    /// The name under which results are shared, which is the same in all processes that share them.
    public var name: String { source.name ?? "" }

    /// Returns the value for a key: runs the operation, or waits for the result of a caller that already runs it, in this or another process.
    ///
    /// ## Cancellation
    /// A cancelled caller throws `CancellationError` at once. When all callers of the key in this process are
    /// cancelled, the process cancels the operation if it runs it, and otherwise stops waiting for the result of
    /// another process.
    ///
    /// - Parameters:
    ///   - key: The key: callers with the same key share one result. It may contain any characters. Keys are compared
    ///     byte by byte, in UTF-8.
    ///   - operation: Produces the value. Runs in a new task, in the isolation in which the closure is written, with the first caller's task-locals,
    ///     priority and task name. It is not called if the result of another caller is received, and it is cancelled if the lease under which it runs
    ///     is lost.
    /// - Returns: The value.
    /// - Throws: The error of the operation; ``StoreError`` with the reason
    ///   ``StoreError/Reason/operationFailed`` if the operation has failed in another process;
    ///   ``LeaseLostError`` if the lease was lost while the operation ran;
    ///   ``StoreError`` if the store fails; `CancellationError` if the caller is cancelled;
    ///   `ReentrancyError` if the operation of a key asks for the value of the same key.
    public nonisolated(nonsending) func value(
        for key: String,
        @_inheritActorContext @_implicitSelfCapture
        operation: @escaping @isolated(any) @Sendable () async throws -> Value
    ) async throws -> Value {
        try await flights.value(for: StoreKey(key)) { try await self.run(key, operation) }
    }

    private func run(_ key: String, _ operation: @isolated(any) @Sendable () async throws -> Value) async throws
        -> Value
    {
        let events = CallEvents.begin(
            .fleetFlight,
            .waiting,
            .waiting,
            owner: source.identity,
            ownerName: source.name
        )
        let line = FleetLine.flight(name, key: key)
        let session = LeaseSession(line, store, timeToLive: timeToLive, holder: holder, clock: clock, events: events)
        return try await session.perform { result in
            line.publication(of: result)
        } adopt: { entry in
            switch try? JSONDecoder().decode(PublishedResult<Value>.self, from: entry.value) {
            case .value(let value)?: value
            case .failure(let message)?: throw StoreError(.operationFailed, message)
            case nil: nil
            }
        } body: { _ in
            try await operation()
        }
    }
}

extension FleetLine {
    /// Returns the entry with which a result is published in the store. Returns `nil` if the other callers must run the operation themselves, because
    /// the operation was interrupted or its value cannot be encoded.
    fileprivate func publication<Value: Codable>(
        of result: Result<Value, any Error>
    ) -> LeaseSession.Publication? {
        let published: PublishedResult<Value>
        switch result {
        case .success(let value): published = .value(value)
        case .failure(let error):
            if isInterruption(error) { return nil }
            published = .failure(Diagnostics.redactedText(of: error))
        }
        guard let resultKey, let value = try? JSONEncoder().encode(published) else { return nil }
        return LeaseSession.Publication(key: resultKey, value: value)
    }
}
