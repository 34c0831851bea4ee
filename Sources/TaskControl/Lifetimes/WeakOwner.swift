/// A weak reference to the object for which `run(for:)` or `forEach(_:for:)` does work. The object is retained only
/// while a closure that has received it runs.
@usableFromInline
struct _WeakOwner<Owner: AnyObject & Sendable>: Sendable {
    @usableFromInline weak let owner: Owner?

    @export(implementation)
    init(_ owner: Owner) {
        self.owner = owner
    }

    /// Returns the work of a task, which runs `work` without the owner. The task then passes the owner, if it still
    /// exists, to `deliver` with the result, or to `onError` with the error that `work` threw.
    ///
    /// - Parameter origin: The public function that started the work, for the report of an error.
    func work<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value,
        _ deliver: @escaping @isolated(any) @Sendable (Owner, Value) async -> Void,
        _ onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)?,
        in origin: _WorkOrigin
    ) -> DeliveryWork {
        DeliveryWork { await perform(work, deliver, onError, in: origin) }
    }

    /// Runs `work` without the owner. Then passes the owner, if it still exists, to `deliver` with the result, or to
    /// `onError` with the error that `work` threw.
    ///
    /// - Parameter origin: The public function that started the work, for the report of an error.
    /// - Returns: The outcome: whether the result was delivered, or the reason why not.
    @export(implementation)
    @inline(__always)
    nonisolated(nonsending) func perform<Value: Sendable>(
        _ work: @Sendable () async throws -> Value,
        _ deliver: @isolated(any) @Sendable (Owner, Value) async -> Void,
        _ onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)?,
        in origin: _WorkOrigin
    ) async -> DeliveryOutcome {
        do {
            let value = try await work()
            return await hand(value, deliver, isolation: deliver.isolation).ofReturnedWork
        } catch {
            return await settle(error, onError, in: origin)
        }
    }

    /// Calls `receiver` with the owner and a value, unless the task is cancelled or the owner has been deallocated.
    /// Both conditions are checked in the isolation of the closure: a change that code in that isolation has made is
    /// never missed.
    ///
    /// - Parameters:
    ///   - value: The result of the work, or its error.
    ///   - receiver: The closure to call.
    ///   - isolation: The isolation of `receiver`.
    /// - Returns: ``DeliveryOutcome/delivered``, or the reason why the closure was not called.
    @export(implementation)
    func hand<Value: Sendable>(
        _ value: Value,
        _ receiver: @isolated(any) @Sendable (Owner, Value) async -> Void,
        isolation: isolated (any Actor)?
    ) async -> DeliveryOutcome {
        guard !_isTaskCancelled else { return .cancelledNow }
        guard let owner else { return .ownerReleased }
        await receiver(owner, value)
        return .delivered
    }

    /// Returns the work of a task that also passes its outcome to the owner, if the owner still exists.
    ///
    /// - Parameters:
    ///   - onEnd: Receives the outcome, also if the task is cancelled, or was before the work began. Without an
    ///     `onError`, it receives errors in its place.
    ///   - origin: The public function that started the work, for the report of an error.
    func work<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value,
        _ deliver: @escaping @isolated(any) @Sendable (Owner, Value) async -> Void,
        _ onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)?,
        onEnd: @escaping @isolated(any) @Sendable (Owner, DeliveryOutcome) async -> Void,
        in origin: _WorkOrigin
    ) -> NotifyingWork {
        // Not `==`, which needs the runtime type of the closure: iOS 17 has none for a closure that is `@isolated(any)`.
        let receivesAtEnd = if case .some = onError { false } else { true }
        return NotifyingWork(origin: origin, receivesAtEnd: receivesAtEnd) {
            await hand(try await work(), deliver, isolation: deliver.isolation).ofReturnedWork
        } receive: { error in
            guard let onError else { return await hand(.failed(error), onEnd, isolation: onEnd.isolation) }
            return await hand(error, onError, isolation: onError.isolation)
        } notify: { outcome in
            if let owner { await onEnd(owner, outcome) }
        }
    }

    @usableFromInline
    nonisolated(nonsending) func settle(
        _ error: any Error,
        _ onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)?,
        in origin: _WorkOrigin
    ) async -> DeliveryOutcome {
        let settlement = await TaskControl.settle(error, in: origin.origin) {
            guard let onError else { return .unhandled }
            return Settlement(await hand(error, onError, isolation: onError.isolation))
        }
        return settlement == .partOfCancellation ? .cancelledNow : .failed(error)
    }
}

// The work for owners that are actors, whose closures run on them.
extension _WeakOwner where Owner: Actor {
    func work<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value,
        _ deliver: @escaping @Sendable (isolated Owner, Value) async -> Void,
        _ onError: (@Sendable (isolated Owner, any Error) async -> Void)?,
        in origin: _WorkOrigin
    ) -> DeliveryWork {
        DeliveryWork {
            do {
                let value = try await work()
                return await hand(value, deliver).ofReturnedWork
            } catch {
                return await settle(error, onError, in: origin)
            }
        }
    }

    nonisolated(nonsending) func hand<Value: Sendable>(
        _ value: Value,
        _ receiver: @Sendable (isolated Owner, Value) async -> Void
    ) async -> DeliveryOutcome {
        guard let owner else { return Task.isCancelled ? .cancelledNow : .ownerReleased }
        return await Self.hand(value, to: owner, receiver)
    }

    private static func hand<Value: Sendable>(
        _ value: Value,
        to owner: isolated Owner,
        _ receiver: @Sendable (isolated Owner, Value) async -> Void
    ) async -> DeliveryOutcome {
        guard !Task.isCancelled else { return .cancelledNow }
        await receiver(owner, value)
        return .delivered
    }

    func work<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value,
        _ deliver: @escaping @Sendable (isolated Owner, Value) async -> Void,
        _ onError: (@Sendable (isolated Owner, any Error) async -> Void)?,
        onEnd: @escaping @Sendable (isolated Owner, DeliveryOutcome) async -> Void,
        in origin: _WorkOrigin
    ) -> NotifyingWork {
        NotifyingWork(origin: origin, receivesAtEnd: onError == nil) {
            await hand(try await work(), deliver).ofReturnedWork
        } receive: { error in
            guard let onError else { return await hand(.failed(error), onEnd) }
            return await hand(error, onError)
        } notify: { outcome in
            if let owner { await onEnd(owner, outcome) }
        }
    }

    nonisolated(nonsending) func settle(
        _ error: any Error,
        _ onError: (@Sendable (isolated Owner, any Error) async -> Void)?,
        in origin: _WorkOrigin
    ) async -> DeliveryOutcome {
        let settlement = await TaskControl.settle(error, in: origin.origin) {
            guard let onError else { return .unhandled }
            return Settlement(await hand(error, onError))
        }
        return settlement == .partOfCancellation ? .cancelledNow : .failed(error)
    }
}
