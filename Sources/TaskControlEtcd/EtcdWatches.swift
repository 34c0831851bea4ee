import TaskControl
internal import TaskControlFleet

/// The connection that all watches of an ``EtcdStore`` share. It watches all keys of the namespace, is made when the first watch begins, is made
/// again when it ends, and ends with the last watch.
final class EtcdWatches: Sendable {
    private typealias Machine = WatchStateMachine

    private struct State {
        var machine = Machine()
        /// The task that makes the connections; `nil` if there is none. The task serves one run: the time from the first watch to the end of the last
        /// one. ``run`` is the number of this run.
        var task: Task<Void, Never>?
        var run = 0
        /// The number of entries that the namespace had at `revision`, up to which the connection has received all
        /// changes; `nil` if the number was not read.
        var counted: (revision: Int64, count: Int64)?
        /// The choice of the endpoint for the shared connection. Requests choose their endpoint independently: an
        /// endpoint that ends a watch may still answer requests.
        var rotation: EtcdEndpointRotation
    }

    private let connection: EtcdConnection
    private let keys: EtcdKeys
    private let openTimeout: Duration
    private let silenceLimit: Duration
    private let clock: any Clock<Duration>
    private let state: Locked<State>

    init(
        _ connection: EtcdConnection,
        _ keys: EtcdKeys,
        openTimeout: Duration,
        silenceLimit: Duration,
        clock: any Clock<Duration>
    ) {
        self.connection = connection
        self.keys = keys
        self.openTimeout = openTimeout
        self.silenceLimit = silenceLimit
        self.clock = clock
        state = Locked(State(rotation: EtcdEndpointRotation(count: connection.endpoints.count)))
    }

    // MARK: Watchers

    nonisolated(nonsending) func watch(
        _ range: StoreRange,
        after revision: Int64,
        receive: nonisolated(nonsending) (StoreChanges) async throws -> Void
    ) async throws {
        try Task.checkCancellation()
        let id = add(range, after: revision)
        defer { act { $0.remove(id) } }
        while true {
            switch state.withLock({ $0.machine.next(id) }) {
            case .report(let changes): try await receive(changes)
            case .failure(let error): throw error
            case .left: throw CancellationError()
            case .wait:
                await suspend(
                    parking: { waiter in state.withLock { $0.machine.park(id, Word(waiter)) } == nil ? nil : () },
                    onCancel: { [state] in state.withLock { $0.machine.leave(id) }?.resume() }
                )
            }
            try Task.checkCancellation()
        }
    }

    private func add(_ range: StoreRange, after revision: Int64) -> Machine.ID {
        let (id, action) = state.withLock { $0.machine.add(range, after: revision) }
        carryOut(action)
        return id
    }

    private func act(_ event: (inout Machine) -> Machine.Action) {
        carryOut(state.withLock { event(&$0.machine) })
    }

    private func carryOut(_ action: Machine.Action) {
        for waiter in action.wake { waiter.resume() }
        switch action.command {
        case .run(let run):
            // The task is detached, because the connection belongs to all watches: it must not have the context of the first one.
            let task = Task.detached(name: "EtcdStore.watch") { [self] in await self.run(run) }
            // Another thread may already have stored the task of a later run.
            let old = state.withLock { state in
                guard run > state.run else { return task as Task<Void, Never>? }
                defer { (state.task, state.run) = (task, run) }
                return state.task
            }
            old?.cancel()
        case .stop(let run):
            let task = state.withLock { $0.run == run ? $0.task.take() : nil }
            task?.cancel()
        case nil: break
        }
    }

    // MARK: Connections

    /// Makes the connections of the run with this number, one after another, until the last watch has ended or etcd has
    /// refused the watch.
    private func run(_ run: Int) async {
        var schedule = RetrySchedule(Self.backoff)
        // A token that is refused twice in a row is not out of date.
        var hasRefusedToken = false
        while let next = state.withLock({ $0.machine.connect(run) }) {
            let endpoint = state.withLock { $0.rotation.current }
            let failure = await connect(next, at: endpoint, hasRefusedToken: &hasRefusedToken)
            let (action, continuation) = state.withLock { $0.machine.ended(next.number, failure) }
            carryOut(action)
            guard !Task.isCancelled, case .again(let failures, let elsewhere) = continuation else { break }
            if elsewhere {
                state.withLock { $0.rotation.failed(endpoint) }
                connection.emit(.watchInterrupted, failure, at: endpoint)
            }
            if failures == 1 { schedule = RetrySchedule(Self.backoff) }
            guard failures > 0,
                let delay = schedule.delay(afterAttempt: failures, error: CancellationError(), hint: nil)
            else { continue }
            do { try await sleep(for: delay, on: clock) } catch {
                if !Task.isCancelled { act { $0.failed(run, Self.clockFailure(error).storeError) } }
                break
            }
        }
    }

    /// Returns the failure for an error that the store's clock has thrown. Without a clock, no connection can be checked.
    private static func clockFailure(_ error: any Error) -> EtcdFailure {
        EtcdFailure(.refused, "the clock of the store cannot sleep: \(type(of: error))")
    }

    /// The delays between connections that fail. The first delay is 50 ms, which a person does not notice. The longest delay is 2 s: after this time
    /// at most, the store notices that the cluster is available again.
    private static let backoff = RetryBackoff.exponential(base: .milliseconds(50)).capped(at: .seconds(2))

    /// Makes one connection, and returns when it has ended.
    ///
    /// - Parameters:
    ///   - next: The connection's number, and the revision after which it begins.
    ///   - endpoint: The index of the endpoint.
    ///   - hasRefusedToken: Whether etcd has refused a token, and has not accepted a later one. Updated for this connection.
    /// - Returns: The error that has ended the connection; `nil` if the server or the state machine has ended it without an error.
    private func connect(
        _ next: Machine.Connection,
        at endpoint: Int,
        hasRefusedToken: inout Bool
    ) async -> StoreError? {
        if connection.endpoints.isEmpty { return EtcdConnection.noEndpoints.storeError }
        let token: EtcdTokens.Token?
        do {
            token = try await connection.streamToken()
        } catch {
            return error as? StoreError
        }
        let failure = await withTaskGroup(of: EtcdFailure?.self) { group in
            group.addTask { await self.read(next, at: endpoint, token: token) }
            group.addTask { await self.listen(next.number) }
            group.addTask {
                await self.closing(next.number)
                return nil
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? nil
        }
        // The server has accepted the token.
        if state.withLock({ $0.machine.isOpen(next.number) }) { hasRefusedToken = false }
        // If the token has expired, earlier versions of etcd refuse a watch with "permission denied".
        guard let failure, failure.kind == .tokenRefused || failure.kind == .unauthorized, let token, !hasRefusedToken
        else { return failure?.storeError }
        hasRefusedToken = true
        connection.refuse(token)
        return StoreError(.unavailable, failure.message)
    }

    /// Reads the messages of a connection until it ends.
    ///
    /// - Parameters:
    ///   - next: The connection's number, and the revision after which it begins.
    ///   - endpoint: The index of the endpoint.
    ///   - token: The authentication token; `nil` if the store has no credentials.
    /// - Returns: The failure that ended the connection; `nil` if it ended in another way.
    private func read(
        _ next: Machine.Connection,
        at endpoint: Int,
        token: EtcdTokens.Token?
    ) async -> EtcdFailure? {
        let (key, end) = keys.all
        let start = EtcdInteger(next.revision.successor)
        let request = EtcdWatchRequest(create_request: .init(key: key, range_end: end, start_revision: start))
        do {
            try await connection.stream("watch", request, at: endpoint, token: token) {
                (message: EtcdWatchResponse) in
                try self.receive(message, of: next.number)
            }
            return nil
        } catch {
            let failure = error as? EtcdFailure
            if let failure, failure.kind == .tooLong { await skip(next.number, failure, at: endpoint) }
            return failure
        }
    }

    /// Reports to all watches that changes were lost, because a message is longer than the limit. Each new connection from the same revision would
    /// receive this message again.
    ///
    /// The lost changes are not newer than the store's current revision: the next connection begins after this
    /// revision. If the revision cannot be read, the next connection repeats the attempt.
    ///
    /// - Parameters:
    ///   - number: The number of the connection that received the message.
    ///   - failure: The failure, for the event.
    ///   - endpoint: The index of the endpoint, for the event.
    private func skip(_ number: Int, _ failure: EtcdFailure, at endpoint: Int) async {
        guard let revision = try? await revision() else { return }
        connection.emit(.watchInterrupted, failure.storeError, at: endpoint)
        act { $0.lost(upTo: revision, of: number) }
    }

    private func receive(_ message: EtcdWatchResponse, of number: Int) throws {
        if message.canceled == true {
            // The stream stays open after a compaction, and also after a refusal, whose message also reports that the watch was created.
            guard let revision = message.compact_revision?.value, revision > 0 else {
                throw EtcdFailure(cancelReason: message.cancel_reason ?? "")
            }
            return act { $0.lost(upTo: revision, of: number) }
        }
        if message.created == true { act { $0.opened(number) } }
        let changes = (message.events ?? []).compactMap { keys.change($0).map(WatchHistory.Change.init) }
        if changes.isEmpty {
            state.withLock { $0.machine.receiveProgress(of: number) }
        } else {
            act { $0.receive(changes, of: number) }
        }
    }

    /// Checks, again and again, whether the connection with this number opens in time and then still receives messages.
    ///
    /// - Returns: The failure if the clock cannot sleep; `nil` if the connection has not opened in time, or if the
    ///   check is cancelled.
    private func listen(_ number: Int) async -> EtcdFailure? {
        var limit = openTimeout
        while true {
            do { try await sleep(for: limit, on: clock) } catch {
                return Task.isCancelled ? nil : Self.clockFailure(error)
            }
            limit = silenceLimit
            switch state.withLock({ $0.machine.tick(number) }) {
            case .fine: break
            case .end: return nil
            case .verify(let end):
                // If no endpoint answers, the next iteration verifies again.
                guard let revision = try? await revisionOfChange(after: end) else { continue }
                act { $0.verified(revision, of: number) }
            }
        }
    }

    /// Checks whether the entries of the namespace differ from those at a revision.
    ///
    /// The store's revision does not show whether the namespace has changed: other clients of etcd write outside of it, and etcd sends progress
    /// notifications only every 10 minutes by default (`--experimental-watch-progress-notify-interval`). The entries are considered equal if none was
    /// put after the revision, and their number has not changed. This misses an entry that was put and removed in between: the watch then reports
    /// both changes later, but it loses none, because its next connection begins after the revision.
    ///
    /// - Returns: The current revision of the store if the entries differ; `nil` if they are equal.
    /// - Throws: `StoreError`; `CancellationError` if the caller is cancelled.
    private func revisionOfChange(after revision: Int64) async throws -> Int64? {
        guard let present = try await self.revision(), present > revision else { return nil }
        let (key, end) = keys.all
        let request = EtcdRangeRequest(
            key: key,
            range_end: end,
            limit: 1,
            keys_only: true,
            min_mod_revision: EtcdInteger(revision.successor)
        )
        let response: EtcdRangeResponse = try await connection.send("kv/range", request, .allowed)
        guard response.kvs?.isEmpty ?? true else { return present }
        let count = response.count?.value ?? 0
        guard try await self.count(at: revision) == count else { return present }
        state.withLock { $0.counted = (revision, count) }
        return nil
    }

    /// Returns the number of entries of the namespace at a revision; `nil` if etcd has already removed (compacted) this revision.
    private func count(at revision: Int64) async throws -> Int64? {
        // To etcd, the revision 0 stands for the current revision.
        if revision <= 0 { return 0 }
        if let counted = state.withLock(\.counted), counted.revision == revision { return counted.count }
        let (key, end) = keys.all
        let request = EtcdRangeRequest(key: key, range_end: end, count_only: true, revision: EtcdInteger(revision))
        do {
            let response: EtcdRangeResponse = try await connection.send("kv/range", request, .allowed)
            return response.count?.value ?? 0
        } catch let error as StoreError where error.reason == .refused {
            // The revision was compacted.
            return nil
        }
    }

    /// Returns the current revision of the store; `nil` if etcd's response does not contain it.
    private func revision() async throws -> Int64? {
        let (key, _) = keys.all
        let request = EtcdRangeRequest(key: key, limit: 1, keys_only: true)
        let response: EtcdRangeResponse = try await connection.send("kv/range", request, .allowed)
        return response.header?.revision?.value
    }

    /// Waits until the state machine decides that the connection with this number must end, or the caller is cancelled.
    private func closing(_ number: Int) async {
        await suspend(
            parking: { waiter in state.withLock { $0.machine.parkCloser(number, Word(waiter)) } == nil ? nil : () },
            onCancel: { [state] in state.withLock { $0.machine.leaveCloser(number) }?.resume() }
        )
    }
}

extension Int64 {
    /// The next revision; the largest revision is its own successor.
    fileprivate var successor: Int64 { self == .max ? .max : self + 1 }
}
