public import TaskControl

extension AsyncLifetime {
    /// Receives the elements of a connection for an owner, and connects again when the connection ends or fails, until the
    /// lifetime ends or the owner is deallocated.
    ///
    /// ```swift
    /// lifetime.keepRunning("feed", for: model) { (last: Int?) in
    ///     try await server.heartbeat()                       // connects, from the element after `last` on
    ///     return updates
    /// } deliver: { model, update in
    ///     await model.apply(update)
    /// }
    /// ```
    ///
    /// The owner is retained while it receives an element, and neither while the work connects nor while it waits for an
    /// element or a restart: if nothing else retains it, it is deallocated at once. If the lifetime belongs to the owner,
    /// the connection is then cancelled. Otherwise the work ends at the next element.
    ///
    /// The work is running, as ``SupervisedWork/waitUntilReady()`` understands it, when `connect` has returned. Delays,
    /// limit and states are those of ``keepRunning(_:restart:limit:backoff:stableAfter:waitingFor:grace:priority:clock:operation:)``:
    /// after more restarts than `limit` allows, the next failure is final.
    ///
    /// ## Ordering
    /// `deliver` is called for one element at a time, in the order of the elements. A connection begins when the previous
    /// one has ended, and its elements follow those of the previous one. An element is delivered at most once: `connect`
    /// receives the last element that was delivered, for a server that can continue after it, such as one that reads
    /// `Last-Event-ID`.
    ///
    /// ## Cancellation
    /// The end of the lifetime cancels the connection, and no element is delivered after it. The same applies to
    /// ``SupervisedWork/stop()``.
    ///
    /// - Parameters:
    ///   - name: The name, which debuggers and diagnostics show.
    ///   - owner: The owner, which is retained only while it receives an element.
    ///   - restart: The rule for when the work connects again. By default ``RestartRule/always``: also when the sequence
    ///     ends without an error.
    ///   - limit: The largest number of restarts per period. By default 5 in 60 seconds.
    ///   - backoff: The delay before each restart: see ``TaskControl/RetryBackoff/supervision`` for the default.
    ///   - stableAfter: After a connection of this length, the delays begin again with the first one.
    ///   - silenceLimit: The time for which a connection waits for an element, including the first one. The wait begins
    ///     when `connect` has returned, and when `deliver` has returned: the time that the owner needs does not count. At
    ///     the limit, the connection is cancelled and awaited, and has failed with `TimeoutError`, so that it is made again.
    ///     `nil`, the default: no limit. To limit `connect`, use `withTimeout` in it.
    ///   - condition: Returns the reports of a condition for which the work waits before it is restarted, such as whether the
    ///     network can be reached: first its state, and then each change. While the last report is `false`, and before the
    ///     first report, no run begins, also after the delay; a `true` after a `false` ends the delay. A stream that ends
    ///     holds up nothing. The first run does not wait. `nil`, the default: no condition.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - clock: Measures the delays, the period of the limit, and `silenceLimit`.
    ///   - connect: Connects. Receives the last element that was delivered; `nil` if there is none. Returns the elements. If the
    ///     closure has more than one statement, the compiler needs the type of its parameter, as in the example.
    ///     Runs on no actor, with the task-locals of the code that calls this function. It must not capture the owner.
    ///   - deliver: Receives the owner and an element, in the isolation of the code that calls this function.
    /// - Returns: A handle with which the state of the work can be observed, and the work stopped. If the lifetime is
    ///   closed, nothing runs, and the state is ``SupervisedWork/State/stopped``.
    @discardableResult
    public func keepRunning<Owner: AnyObject & Sendable, Elements: AsyncSequence & SendableMetatype>(
        _ name: String,
        for owner: Owner,
        restart: RestartRule = .always,
        limit: RestartLimit = .restarts(5, per: .seconds(60)),
        backoff: RetryBackoff = .supervision,
        stableAfter: Duration = .seconds(60),
        silenceLimit: Duration? = nil,
        waitingFor condition: (@Sendable () async -> AsyncStream<Bool>)? = nil,
        priority: TaskPriority? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        connect: @escaping @Sendable (_ last: Elements.Element?) async throws -> Elements,
        @_inheritActorContext deliver: @escaping @isolated(any) @Sendable (Owner, Elements.Element) async -> Void
    ) -> SupervisedWork where Elements.Element: Sendable, Elements.AsyncIterator: SendableMetatype {
        if deliver.isolation == nil {
            reportUnisolatedDelivery(to: Owner.self, in: TaskOrigin("AsyncLifetime.keepRunning", .keepRunning))
        }
        let (owner, last) = (TickOwner(owner), Locked<Elements.Element?>(nil))
        return keepRunning(
            name,
            restart: restart,
            limit: limit,
            backoff: backoff,
            stableAfter: stableAfter,
            waitingFor: condition,
            priority: priority,
            clock: clock
        ) { @Sendable run in
            guard owner.exists else { return run.endWork() }
            let elements = try await connect(last.withLock(\.self))
            run.storage.ready()
            let hasEnded = try await pass(elements, within: silenceLimit, on: clock) { element in
                guard try await owner.hand(element, deliver, isolation: deliver.isolation) else { return false }
                let old = last.withLock { last in
                    defer { last = element }
                    return last
                }
                // Released here, where the lock is free.
                withExtendedLifetime(old) {}
                return true
            }
            guard hasEnded else { return run.endWork() }
            // A sequence ends without an error when its task is cancelled.
            try Task.checkCancellation()
        }
    }

    /// Receives the elements of a connection for an owner, and connects again when the connection ends or fails, for a server
    /// that cannot continue after an element.
    ///
    /// ```swift
    /// lifetime.keepRunning("feed", for: model) {
    ///     try await server.heartbeat()                       // connects
    ///     return updates
    /// } deliver: { model, update in
    ///     await model.apply(update)
    /// }
    /// ```
    ///
    /// Ordering, cancellation, the owner and the parameters are those of
    /// the form whose `connect` receives the last element.
    ///
    /// - Parameters:
    ///   - name: The name, which debuggers and diagnostics show.
    ///   - owner: The owner, which is retained only while it receives an element.
    ///   - restart: The rule for when the work connects again. By default ``RestartRule/always``.
    ///   - limit: The largest number of restarts per period. By default 5 in 60 seconds.
    ///   - backoff: The delay before each restart.
    ///   - stableAfter: After a connection of this length, the delays begin again with the first one.
    ///   - silenceLimit: The time for which a connection waits for an element before it has failed with `TimeoutError`.
    ///     `nil`, the default: no limit.
    ///   - condition: Returns the reports of a condition for which the work waits before it is restarted. `nil`, the default: no
    ///     condition.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - clock: Measures the delays, the period of the limit, and `silenceLimit`.
    ///   - connect: Connects, and returns the elements. It must not capture the owner.
    ///   - deliver: Receives the owner and an element, in the isolation of the code that calls this function.
    /// - Returns: A handle with which the state of the work can be observed, and the work stopped.
    @discardableResult
    public func keepRunning<Owner: AnyObject & Sendable, Elements: AsyncSequence & SendableMetatype>(
        _ name: String,
        for owner: Owner,
        restart: RestartRule = .always,
        limit: RestartLimit = .restarts(5, per: .seconds(60)),
        backoff: RetryBackoff = .supervision,
        stableAfter: Duration = .seconds(60),
        silenceLimit: Duration? = nil,
        waitingFor condition: (@Sendable () async -> AsyncStream<Bool>)? = nil,
        priority: TaskPriority? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        connect: @escaping @Sendable () async throws -> Elements,
        @_inheritActorContext deliver: @escaping @isolated(any) @Sendable (Owner, Elements.Element) async -> Void
    ) -> SupervisedWork where Elements.Element: Sendable, Elements.AsyncIterator: SendableMetatype {
        keepRunning(
            name,
            for: owner,
            restart: restart,
            limit: limit,
            backoff: backoff,
            stableAfter: stableAfter,
            silenceLimit: silenceLimit,
            waitingFor: condition,
            priority: priority,
            clock: clock,
            connect: { _ in try await connect() },
            deliver: deliver
        )
    }

    /// Receives the elements of a connection for an owner, hands the connection itself to the owner, and connects again when
    /// the connection ends or fails: for a connection on which the owner also sends.
    ///
    /// ```swift
    /// lifetime.keepRunning("chat", for: model) { (last: Int?) in
    ///     try await server.connect()
    /// } elements: { connection in
    ///     connection.updates
    /// } connected: { model, connection in
    ///     model.send(on: connection)
    /// } deliver: { model, update in
    ///     await model.apply(update)
    /// }
    /// ```
    ///
    /// The work is ready when `connected` has returned. A connection that is lost is replaced by the next call of `connected`; a
    /// call on the lost one fails as the connection itself says. Ordering, cancellation, the owner and the parameters are
    /// those of the form whose `connect` returns the elements. For a connection of several owners, see ``SharedConnection``.
    ///
    /// - Parameters:
    ///   - name: The name, which debuggers and diagnostics show.
    ///   - owner: The owner, which is retained only while it receives a connection or an element.
    ///   - restart: The rule for when the work connects again. By default ``RestartRule/always``.
    ///   - limit: The largest number of restarts per period. By default 5 in 60 seconds.
    ///   - backoff: The delay before each restart.
    ///   - stableAfter: After a connection of this length, the delays begin again with the first one.
    ///   - silenceLimit: The time for which a connection waits for an element before it has failed with `TimeoutError`.
    ///     `nil`, the default: no limit.
    ///   - condition: Returns the reports of a condition for which the work waits before it is restarted. `nil`, the default: no
    ///     condition.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - clock: Measures the delays, the period of the limit, and `silenceLimit`.
    ///   - connect: Connects. Receives the last element that was delivered; `nil` if there is none. It must not capture the
    ///     owner.
    ///   - elements: Returns the elements of a connection. Called after `connected`, on no actor.
    ///   - connected: Receives the owner and each new connection, before its elements, in the isolation of the code that
    ///     calls this function.
    ///   - deliver: Receives the owner and an element, in the isolation of the code that calls this function.
    /// - Returns: A handle with which the state of the work can be observed, and the work stopped.
    @discardableResult
    public func keepRunning<
        Owner: AnyObject & Sendable,
        Connection: Sendable,
        Elements: AsyncSequence & SendableMetatype
    >(
        _ name: String,
        for owner: Owner,
        restart: RestartRule = .always,
        limit: RestartLimit = .restarts(5, per: .seconds(60)),
        backoff: RetryBackoff = .supervision,
        stableAfter: Duration = .seconds(60),
        silenceLimit: Duration? = nil,
        waitingFor condition: (@Sendable () async -> AsyncStream<Bool>)? = nil,
        priority: TaskPriority? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        connect: @escaping @Sendable (_ last: Elements.Element?) async throws -> Connection,
        elements: @escaping @Sendable (Connection) async throws -> Elements,
        @_inheritActorContext connected: @escaping @isolated(any) @Sendable (Owner, Connection) async -> Void,
        @_inheritActorContext deliver: @escaping @isolated(any) @Sendable (Owner, Elements.Element) async -> Void
    ) -> SupervisedWork where Elements.Element: Sendable, Elements.AsyncIterator: SendableMetatype {
        let receiver = TickOwner(owner)
        return keepRunning(
            name,
            for: owner,
            restart: restart,
            limit: limit,
            backoff: backoff,
            stableAfter: stableAfter,
            silenceLimit: silenceLimit,
            waitingFor: condition,
            priority: priority,
            clock: clock,
            connect: { (last: Elements.Element?) -> Elements in
                let connection = try await connect(last)
                _ = try await receiver.hand(connection, connected, isolation: connected.isolation)
                return try await elements(connection)
            },
            deliver: deliver
        )
    }
}

extension SupervisedRun {
    /// Ends the work of a lifetime, which has one child: it is not restarted, and its state becomes `stopped`.
    fileprivate func endWork() { storage.engine.close(isAbrupt: true) }
}

/// Passes each element of a sequence to a closure, until the closure returns `false`.
///
/// - Parameters:
///   - elements: The sequence.
///   - silenceLimit: The limit of each wait for an element; `nil` for none.
///   - clock: Measures `silenceLimit`.
///   - receive: Receives an element.
/// - Returns: Whether the sequence has ended.
/// - Throws: The error of the sequence or of the closure; `TimeoutError` if a wait has lasted for the limit.
func pass<Elements: AsyncSequence & SendableMetatype>(
    _ elements: Elements,
    within silenceLimit: Duration?,
    on clock: some Clock<Duration>,
    to receive: @escaping @Sendable (Elements.Element) async throws -> Bool
) async throws -> Bool where Elements.Element: Sendable, Elements.AsyncIterator: SendableMetatype {
    guard let silenceLimit else { return try await pass(elements, to: receive) }
    // Only the child task of the limit iterates the sequence.
    nonisolated(unsafe) let elements = elements
    let silence = SilenceLimit(silenceLimit, clock: clock)
    return try await silence.run { try await pass(silence.limiting(elements), to: receive) }
}

private func pass<Elements: AsyncSequence>(
    _ elements: Elements,
    to receive: @Sendable (Elements.Element) async throws -> Bool
) async throws -> Bool {
    for try await element in elements {
        guard try await receive(element) else { return false }
    }
    return true
}
