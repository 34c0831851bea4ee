import TaskControl

/// The watch of a namespace that all watchers of a store share: one connection, which is made when the first watcher comes, and made again
/// until the last one has left.
final class EtcdWatches: Sendable {
    private typealias Machine = WatchStateMachine<UnsafeContinuation<Void, Never>>

    private struct State {
        var machine = Machine()
        /// The task of the last run, and the number of the run.
        var task: Task<Void, Never>?
        var run = 0
        /// The number of entries at a revision, up to which a watch has received everything.
        var counted: (revision: Int64, count: Int64)?
        /// The endpoint of the watch. Requests have their own: a watch that moves on says nothing about them.
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
                    parking: { waiter in state.withLock { $0.machine.park(id, waiter) } == nil ? nil : () },
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
            // Detached: the connection belongs to all watchers, and has no context of the first.
            let task = Task.detached(name: "EtcdStore.watch") { [self] in await self.run(run) }
            // The task of a later run can be here already.
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

    /// Makes connections until the run is over.
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
            do { try await clock.sleep(for: delay) } catch {
                if !Task.isCancelled { act { $0.failed(run, Self.clockFailure(error).storeError) } }
                break
            }
        }
    }

    /// The failure of a clock that cannot sleep, without which no watch can be verified.
    private static func clockFailure(_ error: any Error) -> EtcdFailure {
        EtcdFailure(.refused, "the clock of the store cannot sleep: \(type(of: error))")
    }

    /// Delays between connections that fail: the first is shorter than a person notices, and the cap the time after which a cluster that is back
    /// is found at the latest.
    private static let backoff = RetryBackoff.exponential(base: .milliseconds(50)).capped(at: .seconds(2))

    /// Makes one connection, and returns when it has ended.
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
        // The token was accepted.
        if state.withLock({ $0.machine.isOpen(next.number) }) { hasRefusedToken = false }
        // Earlier versions of etcd refuse a watch with a token that has expired with "permission denied".
        guard let failure, failure.kind == .tokenRefused || failure.kind == .unauthorized, let token, !hasRefusedToken
        else { return failure?.storeError }
        hasRefusedToken = true
        connection.refuse(token)
        return StoreError(.unavailable, failure.message)
    }

    /// Reads the messages of a connection.
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

    /// Reports a loss after a message that is too long, which every connection from the same revision would receive again.
    ///
    /// The changes of the message are not after the present revision. If that cannot be read, the next connection tries again.
    private func skip(_ number: Int, _ failure: EtcdFailure, at endpoint: Int) async {
        guard let revision = try? await revision() else { return }
        connection.emit(.watchInterrupted, failure.storeError, at: endpoint)
        act { $0.lost(upTo: revision, of: number) }
    }

    private func receive(_ message: EtcdWatchResponse, of number: Int) throws {
        if message.canceled == true {
            // After a compaction the stream stays open, and so it does after a refusal, which also says that the watch was created.
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

    /// Verifies a connection that is silent. Returns when a connection does not open in time, and with a failure when the clock cannot sleep.
    private func listen(_ number: Int) async -> EtcdFailure? {
        var limit = openTimeout
        while true {
            do { try await clock.sleep(for: limit) } catch { return Task.isCancelled ? nil : Self.clockFailure(error) }
            limit = silenceLimit
            switch state.withLock({ $0.machine.tick(number) }) {
            case .fine: break
            case .end: return nil
            case .verify(let end):
                // If no endpoint answers, the next tick verifies.
                guard let revision = try? await revisionOfChange(after: end) else { continue }
                act { $0.verified(revision, of: number) }
            }
        }
    }

    /// Compares the entries of the namespace with those at a revision.
    ///
    /// The revision of the store alone says nothing about a namespace: other users of the cluster write as well, and etcd sends the notifications of
    /// progress every 10 minutes by default (`--experimental-watch-progress-notify-interval`). The entries are the same if none was put after the
    /// revision, and their number is the same. An entry that was put and removed in between may be missing: the watch can be late, and loses nothing,
    /// because its next connection still begins after the revision.
    ///
    /// - Returns: The revision of the store, if the entries differ; `nil` if they are the same.
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

    /// Returns the number of entries of the namespace at a revision; `nil` if the store no longer knows it.
    private func count(at revision: Int64) async throws -> Int64? {
        // To etcd, the revision 0 is the present.
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

    /// Returns the revision of the store.
    private func revision() async throws -> Int64? {
        let (key, _) = keys.all
        let request = EtcdRangeRequest(key: key, limit: 1, keys_only: true)
        let response: EtcdRangeResponse = try await connection.send("kv/range", request, .allowed)
        return response.header?.revision?.value
    }

    /// Returns when a connection must end.
    private func closing(_ number: Int) async {
        await suspend(
            parking: { waiter in state.withLock { $0.machine.parkCloser(number, waiter) } == nil ? nil : () },
            onCancel: { [state] in state.withLock { $0.machine.leaveCloser(number) }?.resume() }
        )
    }
}

extension Int64 {
    /// The next revision. There is none after the largest.
    fileprivate var successor: Int64 { self == .max ? .max : self + 1 }
}
