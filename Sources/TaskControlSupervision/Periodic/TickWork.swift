internal import TaskControl

/// The closures of one call of `every`: what happens at a tick, and with an error.
package struct TickWork<Tick: Sendable>: Sendable {
    /// Does the work of a tick. Returns `false` if no tick may follow, because the owner was deallocated.
    let perform: @Sendable (Tick) async throws -> Bool
    /// Passes an error on. Returns whether it was received, or the owner was deallocated.
    let handle: @Sendable (any Error) async -> Settlement

    /// Creates work without an owner.
    ///
    /// - Parameter isolation: The isolation of the work.
    package init(
        isolation: (any Actor)?,
        _ work: @escaping @Sendable (Tick) async throws -> Void,
        onError: (@isolated(any) @Sendable (any Error) async -> Void)?
    ) {
        perform = { tick in
            try await Self.begin(work, tick, isolation: isolation)
            return true
        }
        handle = { error in
            guard let onError else { return .unhandled }
            await onError(error)
            return .received
        }
    }

    /// Creates work whose values are delivered to an owner. The owner is not retained while the work runs.
    package init<Owner: AnyObject & Sendable, Value: Sendable>(
        for owner: Owner,
        _ work: @escaping @Sendable (Tick) async throws -> Value,
        deliver: @escaping @isolated(any) @Sendable (Owner, Value) async -> Void,
        onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)?
    ) {
        Self.checkIsolation(deliver.isolation, of: Owner.self)
        let owner = TickOwner(owner)
        perform = { tick in
            guard owner.exists else { return false }
            let value = try await work(tick)
            return try await owner.hand(value, deliver, isolation: deliver.isolation)
        }
        handle = Self.handler(onError, of: owner)
    }

    /// Creates work that an owner does. The owner is retained while the work runs.
    ///
    /// - Parameter isolation: The isolation of the work.
    package init<Owner: AnyObject & Sendable>(
        of owner: Owner,
        isolation: (any Actor)?,
        _ work: @escaping @Sendable (Owner, Tick) async throws -> Void,
        onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)?
    ) {
        Self.checkIsolation(isolation, of: Owner.self)
        let owner = TickOwner(owner)
        perform = { tick in try await owner.hand(isolation: isolation) { try await work($0, tick) } }
        handle = Self.handler(onError, of: owner)
    }

    private static func checkIsolation(_ isolation: (any Actor)?, of owner: Any.Type) {
        if isolation == nil { reportUnisolatedDelivery(to: owner, in: TaskOrigin("AsyncLifetime.every", .every)) }
    }

    private static func handler<Owner>(
        _ onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)?,
        of owner: TickOwner<Owner>
    ) -> @Sendable (any Error) async -> Settlement {
        { error in
            guard let onError else { return .unhandled }
            do {
                return try await owner.hand(error, onError, isolation: onError.isolation) ? .received : .ownerReleased
            } catch {
                return .unhandled
            }
        }
    }

    /// Calls the work, unless the task was cancelled before the work could begin in its isolation.
    private static func begin(
        _ work: @Sendable (Tick) async throws -> Void,
        _ tick: Tick,
        isolation: isolated (any Actor)?
    ) async throws {
        try Task.checkCancellation()
        try await work(tick)
    }
}
