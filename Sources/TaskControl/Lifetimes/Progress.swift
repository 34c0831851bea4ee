/// Work that reports its progress to the object for which it is done.
extension AsyncLifetime {
    /// Does work that reports its progress to its owner, as `run(for:)` does work without progress.
    ///
    /// ```swift
    /// lifetime.run(for: self, reporting: Double.self) { [api] report in
    ///     try await api.upload(movie) { fraction in report(fraction) }
    /// } deliver: { model, receipt in
    ///     model.receipt = receipt
    /// } onProgress: { model, fraction in
    ///     model.fraction = fraction
    /// }
    /// ```
    ///
    /// ## Ordering
    /// `onProgress` receives the newest value only: a value is dropped if a newer one comes before the owner could receive it.
    /// Values come in the order of the reports, one at a time. The last value that the work has reported is received before
    /// `deliver` or `onError` begins, and none after it.
    ///
    /// ## Cancellation
    /// Once the task is cancelled, `onProgress` does not begin, as `deliver` does not.
    ///
    /// - Parameters:
    ///   - owner: The object that receives the progress and the result. Held weakly.
    ///   - type: The type of the progress, such as `Double.self`.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - work: Receives a closure that reports the progress, which can be called from any thread and returns immediately. Runs as
    ///     the work of `run(for:)` does.
    ///   - deliver: Receives the owner and the result of `work`.
    ///   - onProgress: Receives the owner and the newest progress. Runs in the isolation of the code that calls this function. The
    ///     owner is retained until this closure returns, and `deliver` waits for it.
    ///   - onError: Receives the error that the work threw, as in `run(for:)`.
    ///   - onEnd: Receives the outcome, as in `run(for:)`.
    /// - Returns: The task, whose value is its outcome.
    @discardableResult
    public func run<Owner: AnyObject & Sendable, Value: Sendable, Progress: Sendable>(
        for owner: Owner,
        reporting type: Progress.Type,
        name: String? = nil,
        priority: TaskPriority? = nil,
        work: @escaping @Sendable (_ report: @escaping @Sendable (Progress) -> Void) async throws -> Value,
        @_inheritActorContext deliver: @escaping @isolated(any) @Sendable (Owner, Value) async -> Void,
        @_inheritActorContext onProgress: @escaping @isolated(any) @Sendable (Owner, Progress) async -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)? = nil,
        @_inheritActorContext onEnd: (@isolated(any) @Sendable (Owner, DeliveryOutcome) async -> Void)? = nil
    ) -> Task<DeliveryOutcome, Never> {
        if deliver.isolation == nil { _reportUnisolatedDelivery(to: Owner.self, in: .lifetimeRun) }
        let owner = _WeakOwner(owner)
        let work = owner.reporting(work, to: _IsolatedReceiver(onProgress, nil))
        return _run(owner, name, priority, work, _IsolatedReceiver(deliver, onError, onEnd))
    }

    /// Does work that reports its progress to its owner, an actor.
    ///
    /// `deliver`, `onProgress`, `onError` and `onEnd` run on the actor, to which they are isolated by their parameter. In all other
    /// respects, this function is the same as `run(for:reporting:)` for an object that is not an actor.
    @discardableResult
    public func run<Owner: Actor, Value: Sendable, Progress: Sendable>(
        for owner: Owner,
        reporting type: Progress.Type,
        name: String? = nil,
        priority: TaskPriority? = nil,
        work: @escaping @Sendable (_ report: @escaping @Sendable (Progress) -> Void) async throws -> Value,
        deliver: @escaping @Sendable (isolated Owner, Value) async -> Void,
        onProgress: @escaping @Sendable (isolated Owner, Progress) async -> Void,
        onError: (@Sendable (isolated Owner, any Error) async -> Void)? = nil,
        onEnd: (@Sendable (isolated Owner, DeliveryOutcome) async -> Void)? = nil
    ) -> Task<DeliveryOutcome, Never> {
        let owner = _WeakOwner(owner)
        let work = owner.reporting(work, to: ActorReceiver(deliver: onProgress, onError: nil))
        return _run(owner, name, priority, work, ActorReceiver(deliver: deliver, onError: onError, onEnd: onEnd))
    }
}

extension TaskSlot {
    /// Does work that reports its progress to an object, according to the behavior of the slot: see `run(for:reporting:)` of an
    /// ``AsyncLifetime``, and `run(for:)` of this slot. A task that a newer one has cancelled reports no more progress.
    ///
    /// - Parameters:
    ///   - owner: The object that receives the progress and the result. Held weakly.
    ///   - type: The type of the progress, such as `Double.self`.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - work: Receives a closure that reports the progress, which can be called from any thread and returns immediately.
    ///   - deliver: Receives the owner and the result of `work`.
    ///   - onProgress: Receives the owner and the newest progress. Runs in the isolation of the code that calls this function.
    ///   - onError: Receives the error that the work threw, as in `run(for:)`.
    ///   - onEnd: Receives the outcome, as in `run(for:)`.
    /// - Returns: The task that `run(for:)` returns.
    @discardableResult
    public func run<Owner: AnyObject & Sendable, Value: Sendable, Progress: Sendable>(
        for owner: Owner,
        reporting type: Progress.Type,
        name: String? = nil,
        priority: TaskPriority? = nil,
        work: @escaping @Sendable (_ report: @escaping @Sendable (Progress) -> Void) async throws -> Value,
        @_inheritActorContext deliver: @escaping @isolated(any) @Sendable (Owner, Value) async -> Void,
        @_inheritActorContext onProgress: @escaping @isolated(any) @Sendable (Owner, Progress) async -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)? = nil,
        @_inheritActorContext onEnd: (@isolated(any) @Sendable (Owner, DeliveryOutcome) async -> Void)? = nil
    ) -> Task<DeliveryOutcome, Never> {
        let work = _WeakOwner(owner).reporting(work, to: _IsolatedReceiver(onProgress, nil))
        return run(
            for: owner,
            name: name,
            priority: priority,
            work: work,
            deliver: deliver,
            onError: onError,
            onEnd: onEnd
        )
    }
}

extension _WeakOwner {
    /// Returns work that passes the progress of `work` to `receiver`, the newest value only, until it returns or throws.
    func reporting<Receiver: _Receiver<Owner, Progress>, Progress: Sendable, Value: Sendable>(
        _ work: @escaping @Sendable (@escaping @Sendable (Progress) -> Void) async throws -> Value,
        to receiver: Receiver
    ) -> @Sendable () async throws -> Value {
        {
            let (values, reports) = AsyncStream<Progress>.makeStream(bufferingPolicy: .bufferingNewest(1))
            async let passing: Void = { for await value in values { _ = await receiver.deliver(value, to: self) } }()
            do {
                let value = try await work { reports.yield($0) }
                reports.finish()
                await passing
                return value
            } catch {
                reports.finish()
                await passing
                throw error
            }
        }
    }
}
