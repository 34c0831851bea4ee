internal import TaskControl

extension LeaseSession {
    /// Enters the line (``FleetLine``), renews the lease, and watches the line. Returns when the lease is lost, the
    /// caller no longer needs the lease, or the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.watchClock() }
            group.addTask { await self.watchLine() }
            if let stop {
                group.addTask {
                    await stop()
                    if !Task.isCancelled { self.update { $0.withdraw() } }
                }
            }
            await perform()
            group.cancelAll()
        }
    }

    // MARK: Actions

    private func perform() async {
        while !Task.isCancelled {
            let now = time.now
            switch update({ $0.next(at: now) }) {
            case .grant: await grant(now)
            case .enter(let lease): await enter(lease, now)
            case .renew(let lease): await renew(lease, now)
            case .verify(let lease, let token): await verify(lease, token, now)
            case .abandon(let lease): await abandon(lease)
            case .wait(let time): await pause(until: time)
            case .stop: return
            }
        }
    }

    private func grant(_ sent: Duration) async {
        willGrant()
        do {
            let lease = try await call { try await self.store.grantLease(timeToLive: self.timeToLive) }
            let now = time.now
            update { $0.granted(lease, sent: sent, at: now) }
        } catch {
            failed(error) { $0.entryFailed($1, sent: sent, at: $2) }
        }
    }

    private func enter(_ lease: LeaseID, _ sent: Duration) async {
        let key = line.key(of: lease)
        // If an earlier attempt was not answered, the caller's entry may exist already. Then this transaction reads it.
        let transaction = StoreTransaction(
            comparisons: [.absent(key)],
            success: [.put(key, holder, lease: lease), .read(StoreRange(.prefix(line.prefix), order: .creation))],
            failure: [.read(StoreRange(.prefix(line.prefix), order: .creation))]
        )
        do {
            let result = try await call { try await self.store.transact(transaction) }
            let now = time.now
            let own = result.reads.first?.first { $0.key.isSameKey(as: key) }
            if let own, own.lease == lease {
                let sight = sight(of: result, key)
                update { $0.entered(Lease.FencingToken(rawValue: own.createRevision), sight, sent: sent, at: now) }
                emitTurn()
            } else {
                update { $0.entryWasForeign(at: now) }
            }
        } catch {
            failed(error) { $0.entryFailed($1, sent: sent, at: $2) }
        }
    }

    private func renew(_ lease: LeaseID, _ sent: Duration) async {
        do {
            let renewed = try await call { try await self.store.renewLease(lease) }
            let now = time.now
            update { $0.renewed(renewed, sent: sent, at: now) }
        } catch {
            failed(error) { $0.renewalFailed($1, sent: sent, at: $2) }
        }
    }

    private func verify(_ lease: LeaseID, _ token: Lease.FencingToken, _ sent: Duration) async {
        let key = line.key(of: lease)
        var reads: [StoreTransaction.Operation] = [
            .read(StoreRange(.prefix(line.prefix), order: .creation, limit: line.permits))
        ]
        if let resultKey = line.resultKey { reads.append(.read(.key(resultKey))) }
        let transaction = StoreTransaction(comparisons: [.createRevision(key, token.rawValue)], success: reads)
        do {
            let result = try await call { try await self.store.transact(transaction) }
            let now = time.now
            if result.reads.count > 1 { keep(result: result.reads[1].first) }
            let sight = result.succeeded ? sight(of: result, key) : nil
            let isProof = update { machine in
                let end = machine.validUntil
                machine.verified(sight, sent: sent, at: now)
                return machine.validUntil != end
            }
            if isProof { forgetError() }
            emitTurn()
        } catch {
            failed(error) { $0.verificationFailed($1, sent: sent, at: $2) }
        }
    }

    private func abandon(_ lease: LeaseID) async {
        do {
            try await call { try await self.store.revokeLease(lease) }
        } catch {
            // The lease is no longer renewed, and expires.
            if Task.isCancelled { return }
            events?.emit(.leaseLeftToExpire, error: error, isInside: false)
        }
        update { $0.abandonedEnded() }
    }

    private func sight(of result: StoreTransaction.Result, _ key: String) -> Machine.Sight {
        let entries = result.reads.first ?? []
        let index = entries.firstIndex { $0.key.isSameKey(as: key) }
        return Machine.Sight(
            ahead: Set(entries[..<(index ?? entries.count)].map { StoreKey($0.key) }),
            isListed: index != nil,
            resultRevision: result.reads.count > 1 ? result.reads[1].first?.modifyRevision : nil,
            revision: result.revision,
            term: result.term
        )
    }

    // MARK: Calls

    /// Runs an operation that calls the store, with the time limit that ``LeaseStateMachine/limit(at:)`` returns.
    ///
    /// - Throws: The error of the operation; ``StoreError`` with the reason ``StoreError/Reason/ambiguous`` if the store does not answer within the
    ///   limit.
    nonisolated(nonsending) func call<Answer: Sendable>(
        _ operation: nonisolated(nonsending) () async throws -> Answer
    ) async throws -> Answer {
        let now = time.now
        let limit = read { $0.limit(at: now) }
        do {
            return try await withDeadline(in: limit, clock: clock, operation: operation)
        } catch is DeadlineExceededError {
            throw StoreError(.ambiguous, "the store has not answered for \(limit)")
        }
    }

    /// Reports the error of a failed call of the store to diagnostics, and then to the state machine: calls `report`
    /// with the state machine, the kind of the error and the current time. Does nothing if this task is cancelled.
    private func failed(_ error: any Error, _ report: (inout Machine, Machine.Failure, Duration) -> Void) {
        if Task.isCancelled { return }
        events?.emit(.storeCallFailed, error: error, isInside: false)
        keep(error)
        let (failure, now) = (Machine.Failure(error), time.now)
        update { report(&$0, failure, now) }
    }

    // MARK: Waiting

    /// Waits until the session's stopwatch has reached the time `end`, or until the state machine must act at once
    /// (``LeaseStateMachine/isUrgent``).
    private func pause(until end: Duration) async {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { [time] in
                do {
                    try await time.sleep(until: end.upToNanosecond)
                } catch {
                    if !Task.isCancelled { self.clockFailed(error) }
                }
                return true
            }
            group.addTask {
                await self.wait { (machine: borrowing Machine) -> Bool? in machine.isUrgent ? true : nil } ?? false
            }
            _ = await group.next()
            group.cancelAll()
        }
    }

    /// Notifies the state machine at the time at which the lease expires, which each renewal moves to a later time.
    /// Returns when the task is cancelled or the clock cannot sleep.
    private func watchClock() async {
        while let expiry = await wait(for: { (machine: borrowing Machine) -> Duration? in machine.expiry }) {
            do {
                try await time.sleep(until: expiry.upToNanosecond)
            } catch {
                if !Task.isCancelled { clockFailed(error) }
                return
            }
            let now = time.now
            update { $0.expire(at: now) }
        }
    }

    private func clockFailed(_ error: any Error) {
        // The error is stored first, because the change of the state wakes the caller, which reads the error.
        keep(error)
        update { $0.clockFailed() }
    }

    /// Watches the line (``FleetLine``), so that a change is noticed before the next renewal. The watch only makes the reaction faster: the line is
    /// also read after each renewal. Returns when the task is cancelled.
    ///
    /// A watch notices that the content of the store is replaced while the watch runs. If another use of the store has noticed it before, the watch
    /// would watch the new content.
    private func watchLine() async {
        // The revision up to which changes were reported.
        var seen: Int64 = 0
        while let revision = await wait(for: { (machine: borrowing Machine) -> Int64? in machine.revision }) {
            do {
                try checkContent()
                try await store.watch(.prefix(line.watched), after: max(revision, seen)) {
                    try checkContent()
                    seen = max(seen, $0.revision)
                    self.notice($0)
                }
            } catch {
                if Task.isCancelled { return }
                if (error as? StoreError)?.reason == .replaced {
                    let now = time.now
                    update { $0.contentWasReplaced(at: now) }
                }
            }
            let pause = read { $0.pause }
            try? await time.sleep(until: time.now + pause)
            if Task.isCancelled { return }
        }
    }

    private func checkContent() throws {
        if hasLostContent { throw StoreError(.replaced, "the content of the store was replaced") }
    }

    private func notice(_ report: StoreChanges) {
        guard let own = read({ $0.lease.map(line.key) }) else { return }
        update { machine in
            if !report.isComplete { machine.reportWasIncomplete() }
            for change in report.changes {
                switch change {
                case .delete(let key, _): machine.deleted(StoreKey(key), isOwn: key.isSameKey(as: own))
                case .put(let entry): if line.resultKey?.isSameKey(as: entry.key) ?? false { machine.hint() }
                }
            }
        }
    }

    private func emitTurn() {
        guard let events, read({ $0.phase }) == .adopted else { return }
        events.emit(.resultAdopted, isInside: false)
    }
}

extension LeaseStateMachine.Failure {
    /// Classifies an error that a store has thrown. An error of another type than ``StoreError`` counts as ambiguous: the operation may have been
    /// executed.
    init(_ error: any Error) {
        guard let error = error as? StoreError else {
            self = .ambiguous
            return
        }
        self =
            switch error.reason {
            case .unavailable: .unavailable
            case .ambiguous: .ambiguous
            case .leaseNotFound: .leaseNotFound
            case .replaced: .replaced
            case .unauthorized, .refused, .operationFailed: .final
            }
    }
}
