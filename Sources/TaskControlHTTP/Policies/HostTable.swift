internal import Foundation
internal import TaskControlResilience

/// A table with one value for each host that a client talks to, such as a retry budget or a resilience policy.
///
/// Before a value is added to a table that has 64 values or more, and when a value is returned to a table that has more,
/// other values are evicted: first those whose eviction has no effect (``HostValueUse/unused``), then those that contain
/// the history of earlier calls (``HostValueUse/used``). In each of these groups, the least recently used values are evicted
/// first. Values that a call is using, and values whose history still matters (``HostValueUse/needed``), are never evicted,
/// so the table can exceed 64 values. An evicted value is created again on demand.
final class HostTable<Value: Sendable>: Sendable {
    private typealias Machine = HostTableStateMachine<Value>

    private let machine = Locked(Machine())
    private let judge: @Sendable (Value) -> HostValueUse

    /// The number of values above which values are evicted.
    private static var limit: Int { 64 }
    /// The number of needed values that one call passes over. With more than one, the table finds the values that are no
    /// longer needed faster than hosts are added.
    private static var mostPassedOver: Int { 4 }

    /// Creates an empty table.
    ///
    /// - Parameter judge: Returns how important it is to keep a value in the table. Never called while a lock is held.
    init(_ judge: @escaping @Sendable (Value) -> HostValueUse) {
        self.judge = judge
    }

    /// Returns the value of a host, and creates it if there is none.
    func value(of host: String, make: @Sendable (String) -> Value) -> Value {
        value(of: host, isBorrowed: false, make: make).value
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
        let (value, place) = value(of: host, isBorrowed: true, make: make)
        return Loan(value) { [self] in
            if machine.withLock({ $0.giveBack(place) }) > Self.limit { evict(downTo: Self.limit) }
        }
    }

    private func value(
        of host: String,
        isBorrowed: Bool,
        make: @Sendable (String) -> Value
    ) -> (value: Value, place: Machine.Place) {
        if let used = machine.withLock({ $0.use(host, isBorrowed: isBorrowed) }) { return used }
        let made = make(host)
        evict(downTo: Self.limit - 1)
        return machine.withLock { $0.add(made, host, isBorrowed: isBorrowed) }
    }

    /// Evicts values until the table has no more than `limit` values, or the values that it looks at are needed.
    ///
    /// - Complexity: O(1), amortized.
    private func evict(downTo limit: Int) {
        for queue in Machine.Queue.allCases {
            var rest = Self.mostPassedOver
            while rest > 0, let candidate = machine.withLock({ $0.examine(queue, downTo: limit) }) {
                let use = judge(candidate.value)
                let evicted = machine.withLock { $0.settle(candidate, use) }
                withExtendedLifetime(evicted) {}
                if use == .needed { rest -= 1 }
            }
        }
    }
}

/// The importance of keeping the value of a host, which decides about its eviction.
enum HostValueUse: Hashable, Sendable, CaseIterable {
    /// Evicting the value has no effect, since a new value would be the same.
    case unused
    /// The value contains the history of earlier calls, which would be lost. When it no longer matters is not known.
    case used
    /// The value contains a history that matters for a limited time, in which the value must not be evicted.
    case needed
}

extension RetryBudget {
    /// The importance of keeping the budget of a host: `used` if retries have taken tokens that were not returned.
    var hostUse: HostValueUse { available < capacity ? .used : .unused }
}

extension ResiliencePolicy {
    /// The importance of keeping the policy of a host: `needed` while one of its parts has a history that ends, also as one
    /// of the client's own parts (``PartWithHistory``), and otherwise `used` if it has hedging or parts whose history is not
    /// known.
    var hostUse: HostValueUse {
        if breaker?.hasHistory == true || rate?.hasHistory == true || permits?.hasHistory == true {
            return .needed
        }
        var use: HostValueUse = hedging == nil ? .unused : .used
        for parts in [callParts, attemptParts] {
            for part in parts {
                switch (part as? any PartWithHistory)?.hasHistory {
                case true?: return .needed
                case false?: continue
                case nil: use = .used
                }
            }
        }
        return use
    }
}
