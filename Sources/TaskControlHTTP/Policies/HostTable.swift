internal import TaskControlResilience

/// The values of the hosts that a client talks to: retry budgets, resilience policies.
///
/// More than 64 hosts are those of a crawler. Then values that are not needed are evicted, unused ones first, and are created again on demand.
final class HostTable<Value: Sendable>: Sendable {
    private let machine = Locked(HostTableStateMachine<Value>(comfortable: 64))
    private let judge: @Sendable (Value) -> HostValueUse

    /// Creates an empty table.
    ///
    /// - Parameter judge: Returns how much would be lost with a value. Never called while holding a lock.
    init(_ judge: @escaping @Sendable (Value) -> HostValueUse) {
        self.judge = judge
    }

    /// Returns the value of a host, which is made if there is none.
    func value(of host: String, make: @Sendable (String) -> Value) -> Value {
        value(of: host, isBorrowed: false, make: make)
    }

    /// Calls an operation with the value of a host. The value stays in the table until the operation has ended.
    func withValue<Result>(
        of host: String,
        make: @Sendable (String) -> Value,
        _ operation: (Value) async throws -> Result
    ) async throws -> Result {
        let value = value(of: host, isBorrowed: true, make: make)
        defer { machine.withLock { $0.giveBack(host) } }
        return try await operation(value)
    }

    private func value(of host: String, isBorrowed: Bool, make: @Sendable (String) -> Value) -> Value {
        if let value = machine.withLock({ $0.use(host, isBorrowed: isBorrowed) }) { return value }
        let made = make(host)
        let removable = removable()
        let (removed, value) = machine.withLock {
            ($0.remove(removable), $0.add(made, host, isBorrowed: isBorrowed))
        }
        withExtendedLifetime(removed) {}
        return value
    }

    /// The entries that can be evicted, the unused ones first.
    private func removable() -> [HostTableStateMachine<Value>.Candidate] {
        let candidates = machine.withLock { $0.candidates() }.map { (candidate: $0, use: judge($0.value)) }
        return [.unused, .used].flatMap { use in candidates.filter { $0.use == use }.map(\.candidate) }
    }
}

/// The loss that the eviction of a host's value would be.
enum HostValueUse: Hashable, Sendable {
    /// Nothing: a new value is the same.
    case unused
    /// The traces of earlier calls.
    case used
    /// The protection of a host that fails.
    case needed
}

extension RetryBudget {
    /// The loss that the eviction of a host's budget would be: the retries that were taken.
    var hostUse: HostValueUse { available < capacity ? .used : .unused }
}

extension ResiliencePolicy {
    /// The loss that the eviction of a host's policy would be. Limits are not considered: a policy with running calls is borrowed.
    var hostUse: HostValueUse {
        switch breaker?.state {
        case .open(let retryAfter) where retryAfter > .zero: .needed
        case .halfOpen: .needed
        case .open: .used
        default: throttle.map { $0.refusalProbability > 0 ? .used : $0.budget.hostUse } ?? .unused
        }
    }
}
