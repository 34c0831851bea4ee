/// An owner that work is done for and that it does not keep alive: held weakly, and strongly only while a closure is handed it.
struct WeakOwner<Owner: AnyObject & Sendable>: Sendable {
    private weak let owner: Owner?

    init(_ owner: Owner) {
        self.owner = owner
    }

    /// What a task does for an owner: works without it, and hands it what comes of that.
    func work<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value,
        _ deliver: @escaping @isolated(any) @Sendable (Owner, Value) async -> Void,
        _ failed: (@isolated(any) @Sendable (Owner, any Error) async -> Void)?,
        in origin: TaskOrigin
    ) -> Operation {
        {
            do {
                let value = try await work()
                _ = await hand(value, deliver, isolation: deliver.isolation)
            } catch {
                await settle(error, failed, in: origin)
            }
        }
    }

    /// - Returns: Whether there was an owner and the task was not cancelled, and so the receiver was called. Both are looked at in the
    ///   receiver's isolation: what happens there before the receiver is called, counts.
    func hand<Value: Sendable>(
        _ value: Value,
        _ receiver: @isolated(any) @Sendable (Owner, Value) async -> Void,
        isolation: isolated (any Actor)?
    ) async -> Bool {
        guard !Task.isCancelled, let owner else { return false }
        await receiver(owner, value)
        return true
    }

    nonisolated(nonsending) func settle(
        _ error: any Error,
        _ failed: (@isolated(any) @Sendable (Owner, any Error) async -> Void)?,
        in origin: TaskOrigin
    ) async {
        await TaskControl.settle(error, in: origin) {
            guard let failed else { return false }
            return await hand(error, failed, isolation: failed.isolation)
        }
    }
}

// The same for owners that are actors, whose closures run on them.
extension WeakOwner where Owner: Actor {
    func work<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value,
        _ deliver: @escaping @Sendable (isolated Owner, Value) async -> Void,
        _ failed: (@Sendable (isolated Owner, any Error) async -> Void)?,
        in origin: TaskOrigin
    ) -> Operation {
        {
            do {
                let value = try await work()
                _ = await hand(value, deliver)
            } catch {
                await settle(error, failed, in: origin)
            }
        }
    }

    nonisolated(nonsending) func hand<Value: Sendable>(
        _ value: Value,
        _ receiver: @Sendable (isolated Owner, Value) async -> Void
    ) async -> Bool {
        guard let owner else { return false }
        return await Self.hand(value, to: owner, receiver)
    }

    private static func hand<Value: Sendable>(
        _ value: Value,
        to owner: isolated Owner,
        _ receiver: @Sendable (isolated Owner, Value) async -> Void
    ) async -> Bool {
        guard !Task.isCancelled else { return false }
        await receiver(owner, value)
        return true
    }

    nonisolated(nonsending) func settle(
        _ error: any Error,
        _ failed: (@Sendable (isolated Owner, any Error) async -> Void)?,
        in origin: TaskOrigin
    ) async {
        await TaskControl.settle(error, in: origin) {
            guard let failed else { return false }
            return await hand(error, failed)
        }
    }
}
