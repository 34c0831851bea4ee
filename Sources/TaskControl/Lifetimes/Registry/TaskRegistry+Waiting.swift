extension TaskRegistry {
    // MARK: For a turn, or a quiet time

    /// A task asks whether its body may run. Its own flag does not suffice: a cancellation that came while the task was being created reaches the
    /// task only when that exists.
    ///
    /// - Returns: `nil` if it must wait first: then `waitAndBegin` answers.
    func begin(_ id: ID) -> Bool? {
        switch start(id) {
        case .run: true
        case .skip: false
        case .wait, .quiet: nil
        }
    }

    /// Waits until the body may run: for its turn, or for its quiet time.
    ///
    /// - Returns: Whether it may; if not, it never will.
    func waitAndBegin(_ id: ID) async -> Bool {
        while true {
            switch start(id) {
            case .run:
                return true
            case .skip:
                return false
            case .wait:
                emitWaiting(id, nil)
                await parkUntilTurn(id)
            case .quiet(let quietTime):
                emitWaiting(id, quietTime)
                // If this throws, the task was cancelled, which is looked at next; or the clock fails, and there is no quiet to wait for.
                try? await clock.sleep(for: quietTime.saturated)
                let isCancelled = Task.isCancelled
                return change { $0.machine.quietTimeEnded(id, isCancelled: isCancelled) } == .run
            }
        }
    }

    @inline(__always)
    private func start(_ id: ID) -> Machine.Start {
        let isCancelled = Task.isCancelled
        return change { $0.machine.begin(id, isCancelled: isCancelled) }
    }

    /// - Parameter quietTime: What it waits for; `nil`: for its turn.
    private func emitWaiting(_ id: ID, _ quietTime: Duration?) {
        Diagnostics.emit(
            isInside: true,
            source.event(.waiting, .entered(.waiting), about: subject(id), delay: quietTime)
        )
    }

    private func parkUntilTurn(_ id: ID) async {
        _ = await withTaskCancellationHandler {
            await raising {
                await withUnsafeContinuation { (waiter: Waiter) in
                    if !state.withLock({ $0.machine.park(id, waiter) }) { waiter.resume(returning: .reached) }
                }
            } with: { [self] priority in
                raise(state.withLock { $0.machine.raise(before: id, to: priority.rawValue) }, to: priority)
            }
        } onCancel: {
            // A handler resumes its own task only, and calls nobody else.
            let decision = decide { Machine.Answer(value: (), effects: $0.machine.leave(id)) }
            for waiter in decision.effects.lists?.waking ?? [] { waiter.resume(returning: .reached) }
            let (isNews, retired) = (decision.isNews, decision.retired)
            guard isNews || retired != nil else { return }
            performOutsideHandler { [self] in
                if isNews { onChange?() }
                emitCancelled(retired)
            }
        }
    }

    // MARK: For the handle of another task

    /// A task that stands for another whose handle its creator has not attached yet, on another thread or further up on this one.
    func follow(_ followed: ID) -> Job {
        spawn(name: nil, priority: nil, isolatedTo: nil, FollowingBody(registry: self, followed: followed))
    }

    /// The handle of a task that may still be in creation; `nil` if it has ended.
    func job(of id: ID) async -> Job? {
        _ = await withUnsafeContinuation { (waiter: Waiter) in
            if !state.withLock({ $0.machine.follow(id, waiter) }) { waiter.resume(returning: .reached) }
        }
        return state.withLock { $0.machine.job(of: id) }
    }

    // MARK: For the end of all

    /// Returns when nothing is registered, which includes tasks that were cancelled and still run. They are raised to the caller's priority.
    ///
    /// - Parameter staysWhenCancelled: If not, a cancelled caller leaves at once with `CancellationError`. Nothing else is thrown.
    func drain(staysWhenCancelled: Bool = false) async throws {
        if !staysWhenCancelled { try Task.checkCancellation() }
        guard let id = state.withLock({ $0.machine.enrollDrainer() }) else { return }
        let wait = source.emitDraining()
        let outcome = await withTaskCancellationHandler {
            await raising {
                await withUnsafeContinuation { (waiter: Waiter) in
                    let outcome = state.withLock { $0.machine.parkDrainer(id, waiter) }
                    if let outcome { waiter.resume(returning: outcome) }
                }
            } with: { [self] priority in
                raise(state.withLock { $0.machine.raiseAll(to: priority.rawValue) }, to: priority)
            }
        } onCancel: {
            if staysWhenCancelled { return }
            // May come before the waiter is parked: the machine remembers it.
            state.withLock { $0.machine.drainerLeaves(id) }?.resume(returning: .left)
        }
        source.emitDrained(wait, hasLeft: outcome == .left)
        if outcome == .left { throw CancellationError() }
    }
}
