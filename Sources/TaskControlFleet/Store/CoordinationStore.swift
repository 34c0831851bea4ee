public import Foundation

/// A replicated or shared store of small values, in which several processes coordinate.
///
/// Use `EtcdStore` (product `TaskControlEtcd`) for several machines, `SQLiteStore` (package trait `SQLite`) for the processes of one machine, and
/// ``MemoryStore`` for tests. You rarely call a store directly: pass it to ``withLease(_:in:timeToLive:holder:clock:body:)``, ``FleetSemaphore``,
/// ``FleetFlight`` and ``LeaderElection``. To write to the store while you hold a lease, commit the changes under the lease:
///
/// ```swift
/// guard try await store.commit(if: ["report/monday": nil], put: ["report/monday": Data()], under: lease)
/// else { return }                                                         // the lease is lost, or there is a report
/// ```
///
/// Transactions are serializable, and all processes see them in the same order.
///
/// A type of your own can wrap a store of this package: it imports this module with `@_spi(Store)`, and returns the
/// `backend` of that store.
///
/// ## Errors
/// An operation that fails throws ``StoreError``. Its ``StoreError/Reason`` shows whether the operation may have taken
/// effect. After a cancellation, or when a deadline (`withDeadline`) is reached, the operation may have taken effect as
/// well.
///
/// ## Cancellation
/// A cancelled caller returns at once: the operation throws `CancellationError`.
public protocol CoordinationStore: Sendable {
    /// The connection to the store, which is opaque.
    ///
    /// - Note: Only with `@_spi(Store) import TaskControlFleet`.
    @_spi(Store) var backend: StoreBackend { get }
}

/// The connection of a ``CoordinationStore`` to its database. Opaque: the operations by which leases work are those of this package.
///
/// - Note: Only with `@_spi(Store) import TaskControlFleet`.
@_spi(Store)
public struct StoreBackend: Sendable {
    package let operations: any StoreOperations

    package init(_ operations: any StoreOperations) { self.operations = operations }
}

extension CoordinationStore {
    /// Returns the value of a key, including the latest changes of all processes.
    ///
    /// - Parameter key: The key, compared byte by byte in UTF-8.
    /// - Returns: The value; `nil` if the store has no entry with this key.
    /// - Throws: ``StoreError``; `CancellationError` if the caller is cancelled.
    public nonisolated(nonsending) func value(for key: String) async throws -> Data? {
        try await backend.operations.read(.key(key)).entries.first?.value
    }

    /// Changes entries if all conditions hold, in one atomic step. Keys are compared byte by byte, in UTF-8.
    ///
    /// - Parameters:
    ///   - values: The conditions: the value that each of these keys must have; `nil` if the store must have no entry with the
    ///     key. If there are none, the changes are made unless the lease is lost.
    ///   - entries: The keys and values of the entries that are created or replaced. They stay until they are deleted.
    ///   - keys: The keys of the entries that are deleted. A key that is in both parameters is refused
    ///     (``StoreError/Reason/refused``).
    ///   - lease: The lease that must still be held in this store; `nil` for no such condition. With it, no fencing token is
    ///     needed.
    /// - Returns: Whether all conditions held and the changes were made. If `false`, nothing was changed.
    /// - Throws: ``StoreError``, with the reason ``StoreError/Reason/ambiguous`` if the changes may have been made; `CancellationError` if the
    ///   caller is cancelled.
    public nonisolated(nonsending) func commit(
        if values: [String: Data?] = [:],
        put entries: [String: Data] = [:],
        delete keys: [String] = [],
        under lease: Lease? = nil
    ) async throws -> Bool {
        let conditions = values.map { key, value in
            value.map { StoreTransaction.Comparison.value(key, $0) } ?? .absent(key)
        }
        let transaction = StoreTransaction(if: conditions, put: entries, delete: keys)
        return try await backend.operations.transact(lease?.guarded(transaction) ?? transaction).succeeded
    }
}
