internal import Foundation
internal import TaskControlResilience

/// A table with one value for each host that a client talks to, such as a retry budget or a resilience policy.
///
/// Before a value is added to a table that has 64 values or more, other values are evicted until it has fewer than 64:
/// first the values whose eviction has no effect (``HostValueUse/unused``), then those that contain the history of
/// earlier calls (``HostValueUse/used``). In each of these groups, the least recently used values are evicted first.
/// Values that a call is using, and values that protect a failing host (``HostValueUse/needed``), are never evicted, so
/// the table can exceed 64 values. An evicted value is created again on demand.
final class HostTable<Value: Sendable>: Sendable {
    private let machine = Locked(HostTableStateMachine<Value>(comfortable: 64))
    private let judge: @Sendable (Value) -> HostValueUse

    /// Creates an empty table.
    ///
    /// - Parameter judge: Returns how important it is to keep a value in the table. Never called while a lock is held.
    init(_ judge: @escaping @Sendable (Value) -> HostValueUse) {
        self.judge = judge
    }

    /// Returns the value of a host, and creates it if there is none.
    func value(of host: String, make: @Sendable (String) -> Value) -> Value {
        value(of: host, isBorrowed: false, make: make)
    }

    /// A value that stays in the table until it is returned to it.
    struct Loan: Sendable {
        let value: Value
        private let end: (@Sendable () -> Void)?

        /// - Parameter end: Returns the value to its table; `nil` for a value of no table.
        init(_ value: Value, end: (@Sendable () -> Void)? = nil) {
            (self.value, self.end) = (value, end)
        }

        /// Returns the value to the table. Must be called once.
        func giveBack() { end?() }
    }

    /// Returns the value of a host, and creates it if there is none. It stays in the table until it is returned.
    func borrow(of host: String, make: @Sendable (String) -> Value) -> Loan {
        Loan(value(of: host, isBorrowed: true, make: make)) { [machine] in machine.withLock { $0.giveBack(host) } }
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

    /// Returns the entries that can be evicted before another one is added, in the order of their eviction. Empty while
    /// the table has room.
    private func removable() -> [HostTableStateMachine<Value>.Candidate] {
        let candidates = machine.withLock { $0.candidates() }.map { (candidate: $0, use: judge($0.value)) }
        return [.unused, .used].flatMap { use in candidates.filter { $0.use == use }.map(\.candidate) }
    }
}

/// The importance of keeping the value of a host, which decides about its eviction.
enum HostValueUse: Hashable, Sendable {
    /// Evicting the value has no effect, since a new value would be the same.
    case unused
    /// The value contains the history of earlier calls, which would be lost.
    case used
    /// The value protects a host that fails, and must not be evicted.
    case needed
}

extension RetryBudget {
    /// The importance of keeping the budget of a host: `used` if retries have taken tokens that were not returned.
    var hostUse: HostValueUse { available < capacity ? .used : .unused }
}

extension ResiliencePolicy {
    /// The importance of keeping the policy of a host, which depends on its breaker. The limits need
    /// not be considered, because a policy is not evicted while a call uses it.
    var hostUse: HostValueUse {
        switch breaker?.state {
        case .open(let retryAfter) where retryAfter > .zero: .needed
        case .halfOpen: .needed
        case .open: .used
        default: .unused
        }
    }
}
