import Foundation
import TaskControl
import TaskControlFleet
import TaskControlTesting
import Testing

/// The promises of ``CoordinationStore``, as checks that run on any store.
///
///     @Test(arguments: StoreContract.checks) func keepsThePromise(_ check: StoreContract.Check) async throws {
///         try await check.run(StoreContract(EtcdStore(endpoints: …), prefix: "contract/\(UUID())/"))
///     }
///
/// A check throws a ``Violation`` for a promise that the store does not keep. Checks may run at the same time, on one store too.
struct StoreContract: Sendable {
    /// A promise, and how it is checked.
    struct Check: Sendable, CustomTestStringConvertible {
        /// The promise.
        let name: String
        /// Whether the check waits until leases expire.
        let waitsForLeases: Bool
        /// Checks the promise.
        let run: @Sendable (StoreContract) async throws -> Void

        init(
            _ name: String,
            waitsForLeases: Bool = false,
            _ check: @escaping @Sendable (StoreContract) async throws -> Void
        ) {
            (self.name, self.waitsForLeases) = (name, waitsForLeases)
            // Each check has keys of its own.
            run = { contract in
                var contract = contract
                contract.prefix += "\(name)/"
                try await check(contract)
            }
        }

        var testDescription: String { name }
    }

    /// A promise that a store has not kept.
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    /// All checks.
    static let checks = leaseChecks + transactionChecks + readChecks + watchChecks

    let store: any StoreOperations
    /// The beginning of all keys. No other run uses it.
    var prefix: String
    /// The shortest duration of a lease that the store grants as asked: for etcd and SQLite 2 s.
    var timeToLive = Duration.seconds(2)
    /// How long a check waits for what must come. The store may take that long to end a lease.
    var patience = Duration.seconds(300)
    /// The clock of the store.
    var clock: any Clock<Duration> = ContinuousClock()
    /// Makes the store drop the history of its watches; `nil`: the store cannot be made to.
    var compact: (@Sendable () async throws -> Void)?

    init(_ store: any StoreOperations, prefix: String) {
        self.store = store
        self.prefix = prefix
    }

    // MARK: Tools

    /// The key with a name.
    func key(_ name: String) -> String { prefix + name }

    /// The keys of this check.
    var all: StoreRange.Keys { .prefix(prefix) }

    func expect(_ condition: Bool, _ message: @autoclosure () -> String, line: Int = #line) throws {
        if !condition { throw Violation(description: "\(message()) (line \(line))") }
    }

    /// Expects that an operation throws a ``StoreError`` with a reason.
    func expect(
        _ reason: StoreError.Reason,
        _ what: String,
        line: Int = #line,
        _ operation: () async throws -> Void
    ) async throws {
        do {
            try await operation()
        } catch let error as StoreError {
            return try expect(error.reason == reason, "\(what) throws \(error), not \(reason)", line: line)
        }
        throw Violation(description: "\(what) does not throw (line \(line))")
    }

    /// Runs a check that has to renew a lease in time. A busy machine can wake it too late: it then runs again with leases of twice the duration.
    func withTimeToRenew(_ check: (Duration) async throws -> Void) async throws {
        for factor in [1, 2, 4] {
            do {
                return try await check(timeToLive * factor)
            } catch let error as StoreError where error.reason == .leaseNotFound && factor < 4 {}
        }
    }

    func put(_ name: String, _ value: String = "", lease: LeaseID? = nil) -> StoreTransaction.Operation {
        .put(key(name), Data(value.utf8), lease: lease)
    }

    /// Executes operations.
    @discardableResult
    func transact(_ operations: StoreTransaction.Operation...) async throws -> StoreTransaction.Result {
        try await store.transact(StoreTransaction(success: operations))
    }

    /// Returns the names of the entries, without the prefix.
    func names(_ range: StoreRange? = nil) async throws -> [String] {
        try await store.read(range ?? StoreRange(all)).entries.map { String($0.key.dropFirst(prefix.count)) }
    }

    func entry(_ name: String) async throws -> StoreEntry? {
        try await store.read(.key(key(name))).entries.first
    }

    /// Runs operations at the same time.
    func concurrently(_ count: Int, _ operation: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            for number in 0..<count { group.addTask { try await operation(number) } }
            try await group.waitForAll()
        }
    }

    /// Does something within the patience of the check.
    func soon<Value: Sendable>(
        _ what: String,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            return try await Self.limited(patience, self.clock, operation)
        } catch is TimeoutError {
            throw Violation(description: "waited \(patience) for \(what)")
        }
    }

    private static func limited<Value: Sendable>(
        _ limit: Duration,
        _ clock: some Clock<Duration>,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withTimeout(limit, clock: clock, operation: operation)
    }

    func sleep(_ duration: Duration) async throws { try await self.clock.sleep(for: duration) }

    /// Returns a closure that returns the time since this call.
    func stopwatch() -> @Sendable () -> Duration { Self.elapsed(self.clock) }

    private static func elapsed<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    // MARK: Watches

    private struct Enough: Error {}

    /// Watches until the reports are enough, and returns them.
    ///
    /// - Parameters:
    ///   - range: The entries to watch; `nil`: those of this check.
    ///   - onBegin: Called in a task of its own at the first report.
    func watch(
        _ range: StoreRange? = nil,
        after revision: Int64,
        _ what: String,
        onBegin: (@Sendable () async throws -> Void)? = nil,
        until isEnough: @escaping @Sendable ([StoreChanges]) -> Bool
    ) async throws -> [StoreChanges] {
        let (range, store) = (range ?? StoreRange(all), store)
        return try await soon(what) {
            let (reports, hasBegun) = (Locked<[StoreChanges]>([]), Gate())
            async let reaction: Void? = {
                guard let onBegin else { return nil }
                try await hasBegun.wait()
                return try await onBegin()
            }()
            do {
                try await store.watch(range, after: revision) { report in
                    let all = reports.withLock { reports in
                        reports.append(report)
                        return reports
                    }
                    hasBegun.open()
                    if isEnough(all) { throw Enough() }
                }
                throw Violation(description: "a watch has returned")
            } catch is Enough {
                hasBegun.open()
                _ = try await reaction
                return reports.withLock(\.self)
            }
        }
    }

    /// Returns the revision after all entries of this moment.
    func revision() async throws -> Int64 { try await store.read(StoreRange(all)).revision }
}

extension StoreChanges {
    /// The changes in short, such as "put a" and "delete a".
    func texts(without prefix: String) -> [String] {
        changes.map { change in
            switch change {
            case .put(let entry): "put \(entry.key.dropFirst(prefix.count))"
            case .delete(let key, _): "delete \(key.dropFirst(prefix.count))"
            }
        }
    }
}

extension StoreChanges.Change {
    /// The revision of the change.
    var revision: Int64 {
        switch self {
        case .put(let entry): entry.modifyRevision
        case .delete(_, let revision): revision
        }
    }
}
