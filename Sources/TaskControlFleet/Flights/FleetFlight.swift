internal import Foundation
internal import TaskControl

/// Runs an operation once for the callers of all processes that wait for it at the same time: usually once, *never exactly once*. If the process that runs it is
/// paused or loses contact to the store, another process runs it again, perhaps while the first one still runs; the operation must be safe to repeat.
///
/// ```swift
/// let tokens = FleetFlight<Token>("tokens", in: store)
///
/// let token = try await tokens.value(for: account) {        // an app and its extensions ask, one request is made
///     try await server.refreshToken(of: account)
/// }
/// ```
///
/// The first caller of a key runs the operation under a lease, and publishes its result in the store. The callers that wait when the result is published receive it.
/// If the process that runs the operation ends or loses its lease, the next caller runs it. Results are not cached: a later caller runs the operation again. The
/// published value stays in the store for one duration of the lease, where all clients of the store can read it. It must not be larger than an entry of the store
/// may be.
///
/// The callers of one process share one place in the line, through a `SingleFlight`.
///
/// Safe to use from any thread and any isolation.
///
/// ## Cancellation
/// A cancelled caller returns at once, also the first one. The last caller of a process to leave cancels its operation or leaves the line, and a caller of another
/// process runs the operation.
public final class FleetFlight<Value: Codable & Sendable>: Sendable {
    private let flights: SingleFlight<String, Value>
    private let store: any CoordinationStore
    private let timeToLive: Duration
    private let holder: String?
    private let clock: any Clock<Duration>
    private let source: EventSource

    /// Creates an object without flights. The store is not called.
    ///
    /// - Parameters:
    ///   - name: The name. All processes that use it in the same store share the flights, and must use the same type of value.
    ///   - store: The store.
    ///   - timeToLive: The duration of the lease of the operation, as for ``withLease(_:in:timeToLive:holder:clock:body:)``.
    ///   - holder: A description of this process, for people who inspect the store; `nil` for the host and the process ID.
    ///   - clock: Measures the leases.
    public init(
        _ name: String,
        in store: any CoordinationStore,
        timeToLive: Duration = .seconds(15),
        holder: String? = nil,
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        flights = SingleFlight(name: name)
        source = EventSource(.fleetFlight, name: name)
        (self.store, self.timeToLive, self.holder, self.clock) = (store, timeToLive, holder, clock)
        Diagnostics.emit(source.event(.created))
    }

    deinit { Diagnostics.emit(source.event(.deallocated)) }

    /// The name of the group of flights, which all processes that share them use.
    public var name: String { source.name ?? "" }

    /// Returns the value of a key: from the operation, or from the operation of another caller in this or another process.
    ///
    /// ## Cancellation
    /// A cancelled caller returns at once. The last caller of this process to leave cancels the operation, or leaves the line.
    ///
    /// - Parameters:
    ///   - key: The key of the flight. It may have any characters.
    ///   - operation: Runs in a task of its own, in the isolation in which it is written, with the first caller's task-locals, priority and task name. Not called if
    ///     another caller's result is received. It is cancelled when its lease is lost.
    /// - Returns: The value.
    /// - Throws: The error of the operation; ``FleetFlightError`` if the operation has failed in another process; ``LeaseLostError`` if the lease was lost while the
    ///   operation ran; ``StoreError``; `CancellationError` if the caller is cancelled; `SingleFlightReentrancyError` if the caller is inside the flight of its key.
    public nonisolated(nonsending) func value(
        for key: String,
        @_inheritActorContext @_implicitSelfCapture
        operation: @escaping @isolated(any) @Sendable () async throws -> Value
    ) async throws -> Value {
        try await flights.run(key) { try await self.run(key, operation) }
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
        let outcome = try await session.perform { result in
            line.publication(of: result)
        } body: { _ in
            try await operation()
        }
        switch outcome {
        case .value(let value): return value
        case .adopted(let entry): return try adopted(entry, key)
        }
    }

    private func adopted(_ entry: StoreEntry, _ key: String) throws -> Value {
        let published: PublishedResult<Value>
        do {
            published = try JSONDecoder().decode(PublishedResult<Value>.self, from: entry.value)
        } catch {
            throw FleetFlightError(key: key, message: "the published result has another type")
        }
        switch published {
        case .value(let value): return value
        case .failure(let message): throw FleetFlightError(key: key, message: message)
        }
    }
}

extension FleetLine {
    /// Returns what is published of a result; `nil` if the waiters must run the operation themselves: it was cancelled, or its value cannot be encoded.
    fileprivate func publication<Value: Codable>(
        of result: Result<Value, any Error>
    ) -> LeaseSession.Publication? {
        let published: PublishedResult<Value>
        switch result {
        case .success(let value): published = .value(value)
        case .failure(let error):
            if error is CancellationError { return nil }
            published = .failure(Diagnostics.text(of: error))
        }
        guard let resultKey, let value = try? JSONEncoder().encode(published) else { return nil }
        return LeaseSession.Publication(key: resultKey, value: value)
    }
}
