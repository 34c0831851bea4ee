/// A weak reference to the object for which `run(for:)` or `forEach(_:for:)` does work. The object is retained only
/// while a closure that has received it runs.
@usableFromInline
struct _WeakOwner<Owner: AnyObject & Sendable>: Sendable {
    @usableFromInline weak let owner: Owner?

    @export(implementation)
    init(_ owner: Owner) {
        self.owner = owner
    }

    /// Returns the work of a task, which runs `work` without the owner, and then passes the result or the error to
    /// `receiver`.
    ///
    /// - Parameter origin: The public function that started the work, for the report of an error.
    func work<Receiver: _Receiver<Owner, Value>, Value>(
        _ work: @escaping @Sendable () async throws -> Value,
        _ receiver: Receiver,
        in origin: _WorkOrigin
    ) -> DeliveryWork {
        DeliveryWork { outcome in
            if let outcome { return await end(outcome, receiver, in: origin) }
            return await perform(work, receiver, in: origin)
        }
    }

    /// Passes the outcome of work that does not begin to `receiver`.
    ///
    /// - Returns: The outcome.
    private nonisolated(nonsending) func end<Receiver: _Receiver>(
        _ outcome: DeliveryOutcome,
        _ receiver: Receiver,
        in origin: _WorkOrigin
    ) async -> DeliveryOutcome where Receiver.Owner == Owner {
        if case .failed(let error) = outcome { return await settle(error, receiver, in: origin) }
        if receiver.isNotified { await receiver.notify(outcome, of: self) }
        return outcome
    }

    /// Returns the work of a task, which passes each element of a sequence to `receiver`.
    ///
    /// - Parameters:
    ///   - elements: The sequence, which only the task iterates.
    ///   - silence: The limit of each wait for an element; `nil` for none.
    ///   - origin: The public function that started the work, for the report of an error.
    func iteration<Receiver: _Receiver<Owner, Elements.Element>, Elements: AsyncSequence & SendableMetatype>(
        of elements: sending Elements,
        _ receiver: Receiver,
        _ silence: SilenceLimit?,
        in origin: _WorkOrigin
    ) -> DeliveryWork where Elements.AsyncIterator: SendableMetatype {
        // Sent to this call, and from here to the one task that iterates it.
        nonisolated(unsafe) let elements = elements
        return DeliveryWork { end in
            if let end { return await self.end(end, receiver, in: origin) }
            do {
                var outcome =
                    if let silence {
                        try await silence.run { try await pass(silence.limiting(elements), to: receiver) }
                    } else {
                        try await pass(elements, to: receiver)
                    }
                if case .delivered = outcome, Task.isCancelled { outcome = .cancelledNow }
                if receiver.isNotified { await receiver.notify(outcome, of: self) }
                return outcome
            } catch {
                return await settle(error, receiver, in: origin)
            }
        }
    }

    /// Passes each element of a sequence to `receiver`, until one is not delivered.
    @inline(__always)
    private func pass<Receiver: _Receiver<Owner, Elements.Element>, Elements: AsyncSequence>(
        _ elements: Elements,
        to receiver: Receiver
    ) async throws -> DeliveryOutcome {
        for try await element in elements {
            let outcome = await receiver.deliver(element, to: self)
            guard case .delivered = outcome else { return outcome }
        }
        return .delivered
    }

    /// Runs `work` without the owner. Then passes the result, or the error that `work` threw, to `receiver`, and the
    /// outcome, if `receiver` is notified of it.
    ///
    /// - Parameter origin: The public function that started the work, for the report of an error.
    /// - Returns: The outcome: whether the result was delivered, or the reason why not.
    @export(implementation)
    @inline(__always)
    nonisolated(nonsending) func perform<Receiver: _Receiver<Owner, Value>, Value>(
        _ work: @Sendable () async throws -> Value,
        _ receiver: Receiver,
        in origin: _WorkOrigin
    ) async -> DeliveryOutcome {
        do {
            let value = try await work()
            let outcome = await receiver.deliver(value, to: self).ofReturnedWork
            if receiver.isNotified { await receiver.notify(outcome, of: self) }
            return outcome
        } catch {
            return await settle(error, receiver, in: origin)
        }
    }

    /// Passes an error of the work to `receiver`, unless the task is cancelled, or reports it to diagnostics. Then passes
    /// the outcome, if `receiver` is notified of it and has not received the error in its place.
    @usableFromInline
    nonisolated(nonsending) func settle<Receiver: _Receiver>(
        _ error: any Error,
        _ receiver: Receiver,
        in origin: _WorkOrigin
    ) async -> DeliveryOutcome where Receiver.Owner == Owner {
        let settlement = await TaskControl.settle(error, in: origin.origin) {
            await receiver.receive(error, for: self).map(Settlement.init) ?? .unhandled
        }
        let outcome: DeliveryOutcome = settlement == .partOfCancellation ? .cancelledNow : .failed(error)
        if receiver.isNotified, settlement != .received || !receiver.receivesErrorsAtEnd {
            await receiver.notify(outcome, of: self)
        }
        return outcome
    }

    /// Calls `closure` with the owner and a value, unless the task is cancelled or the owner has been deallocated.
    /// Both conditions are checked in the isolation of the closure: a change that code in that isolation has made is
    /// never missed.
    ///
    /// - Parameters:
    ///   - value: The result of the work, or its error.
    ///   - closure: The closure to call.
    ///   - isolation: The isolation of `closure`.
    /// - Returns: ``DeliveryOutcome/delivered``, or the reason why the closure was not called.
    @export(implementation)
    func hand<Value: Sendable>(
        _ value: Value,
        _ closure: @isolated(any) @Sendable (Owner, Value) async -> Void,
        isolation: isolated (any Actor)?
    ) async -> DeliveryOutcome {
        guard !_isTaskCancelled else { return .cancelledNow }
        guard let owner else { return .ownerReleased }
        await closure(owner, value)
        return .delivered
    }
}

extension _WeakOwner where Owner: Actor {
    /// Calls `closure` with the owner and a value, unless the task is cancelled or the owner has been deallocated. The
    /// former is checked on the owner, and `closure` begins there without a suspension in between.
    ///
    /// - Returns: ``DeliveryOutcome/delivered``, or the reason why the closure was not called.
    nonisolated(nonsending) func hand<Value: Sendable>(
        _ value: Value,
        _ closure: @Sendable (isolated Owner, Value) async -> Void
    ) async -> DeliveryOutcome {
        guard let owner else { return Task.isCancelled ? .cancelledNow : .ownerReleased }
        return await Self.hand(value, to: owner, closure)
    }

    private static func hand<Value: Sendable>(
        _ value: Value,
        to owner: isolated Owner,
        _ closure: @Sendable (isolated Owner, Value) async -> Void
    ) async -> DeliveryOutcome {
        guard !Task.isCancelled else { return .cancelledNow }
        await closure(owner, value)
        return .delivered
    }
}

/// The closures of an owner: `deliver`, `onError` and `onEnd`.
///
/// The two conforming types differ in how Swift isolates their closures: where a closure is written, or to the actor that
/// is its parameter. The types of closures are stored, not passed on as generic arguments: iOS 17 has no runtime type
/// of a closure that is `@isolated(any)`.
@usableFromInline
protocol _Receiver<Owner, Value>: Sendable {
    associatedtype Owner: AnyObject & Sendable
    associatedtype Value: Sendable

    /// Whether there is an `onEnd`.
    var isNotified: Bool { get }

    /// Whether `onEnd` receives errors in place of an `onError`.
    var receivesErrorsAtEnd: Bool { get }

    /// Passes a value to `deliver`, unless the task is cancelled or the owner has been deallocated.
    ///
    /// - Returns: ``DeliveryOutcome/delivered``, or the reason why the closure was not called.
    nonisolated(nonsending) func deliver(_ value: Value, to owner: _WeakOwner<Owner>) async -> DeliveryOutcome

    /// Passes an error to `onError` or, without it, to `onEnd`, unless the task is cancelled or the owner has been
    /// deallocated.
    ///
    /// - Returns: ``DeliveryOutcome/delivered``, or the reason why the closure was not called; `nil` if there is none.
    nonisolated(nonsending) func receive(_ error: any Error, for owner: _WeakOwner<Owner>) async -> DeliveryOutcome?

    /// Passes an outcome to `onEnd`, also in a cancelled task, unless the owner has been deallocated.
    nonisolated(nonsending) func notify(_ outcome: DeliveryOutcome, of owner: _WeakOwner<Owner>) async
}

/// The closures of an owner that are isolated where they are written.
@usableFromInline
struct _IsolatedReceiver<Owner: AnyObject & Sendable, Value: Sendable>: _Receiver {
    @usableFromInline let deliver: @isolated(any) @Sendable (Owner, Value) async -> Void
    @usableFromInline let onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)?
    @usableFromInline let onEnd: (@isolated(any) @Sendable (Owner, DeliveryOutcome) async -> Void)?

    @export(implementation)
    init(
        _ deliver: @escaping @isolated(any) @Sendable (Owner, Value) async -> Void,
        _ onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)?,
        _ onEnd: (@isolated(any) @Sendable (Owner, DeliveryOutcome) async -> Void)? = nil
    ) {
        self.deliver = deliver
        self.onError = onError
        self.onEnd = onEnd
    }

    // Not `==`, which needs the runtime type of the closure.
    @export(implementation) var isNotified: Bool { if case .some = onEnd { true } else { false } }

    @export(implementation) var receivesErrorsAtEnd: Bool { if case .some = onError { false } else { isNotified } }

    @export(implementation)
    @inline(__always)
    nonisolated(nonsending) func deliver(_ value: Value, to owner: _WeakOwner<Owner>) async -> DeliveryOutcome {
        await owner.hand(value, deliver, isolation: deliver.isolation)
    }

    @usableFromInline
    nonisolated(nonsending) func receive(_ error: any Error, for owner: _WeakOwner<Owner>) async -> DeliveryOutcome? {
        if let onError { return await owner.hand(error, onError, isolation: onError.isolation) }
        guard let onEnd else { return nil }
        return await owner.hand(.failed(error), onEnd, isolation: onEnd.isolation)
    }

    @usableFromInline
    nonisolated(nonsending) func notify(_ outcome: DeliveryOutcome, of owner: _WeakOwner<Owner>) async {
        if let onEnd, let owner = owner.owner { await onEnd(owner, outcome) }
    }
}

/// The closures of an owner that is an actor, which run on it.
struct ActorReceiver<Owner: Actor, Value: Sendable>: _Receiver {
    let deliver: @Sendable (isolated Owner, Value) async -> Void
    let onError: (@Sendable (isolated Owner, any Error) async -> Void)?
    var onEnd: (@Sendable (isolated Owner, DeliveryOutcome) async -> Void)?

    var isNotified: Bool { if case .some = onEnd { true } else { false } }

    var receivesErrorsAtEnd: Bool { if case .some = onError { false } else { isNotified } }

    nonisolated(nonsending) func deliver(_ value: Value, to owner: _WeakOwner<Owner>) async -> DeliveryOutcome {
        await owner.hand(value, deliver)
    }

    nonisolated(nonsending) func receive(_ error: any Error, for owner: _WeakOwner<Owner>) async -> DeliveryOutcome? {
        if let onError { return await owner.hand(error, onError) }
        guard let onEnd else { return nil }
        return await owner.hand(.failed(error), onEnd)
    }

    nonisolated(nonsending) func notify(_ outcome: DeliveryOutcome, of owner: _WeakOwner<Owner>) async {
        if let onEnd, let owner = owner.owner { await onEnd(owner, outcome) }
    }
}
