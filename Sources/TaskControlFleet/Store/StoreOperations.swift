internal import Foundation

/// The six operations of a store.
///
/// A store contains entries: keys with values. It has one sequence of revisions: each transaction that changes entries
/// has the next revision, and each entry records the revisions at which it was created and last changed.
///
/// An entry can be attached to a lease: a period of time that a process extends by renewing the lease. When the lease
/// ends, the store removes the entry. A watch reports changes of entries.
package protocol StoreOperations: CoordinationStore {
    /// The number of times that the content of the store was replaced or lost, as far as this object has noticed
    /// (``StoreError/Reason/replaced``). A lease belongs to the content in which it was granted. By default 0.
    var losses: Int { get }

    /// Grants a new lease. When the lease expires or is revoked, the store removes the entries that are attached to it.
    ///
    /// - Parameter timeToLive: The requested duration, which the store may extend to its minimum or round up to its resolution.
    /// - Returns: The lease with the duration that the store has granted. The duration begins when the store grants the lease: after the call has
    ///   begun, and before it returns.
    /// - Throws: ``StoreError``; `CancellationError` if the caller is cancelled.
    nonisolated(nonsending) func grantLease(timeToLive: Duration) async throws -> StoreLease

    /// Renews a lease: its whole duration begins again at the renewal.
    ///
    /// The answer alone does not prove that the lease was renewed: in a cluster, a former leader can answer as well. To
    /// prove the renewal, execute a transaction after this function has returned: the lease was renewed if the
    /// `StoreTransaction.Result.term` of the transaction's result is equal to the `StoreLease.term` of the returned
    /// lease.
    ///
    /// - Parameter id: The ID of the lease.
    /// - Returns: The lease with its granted duration. The duration begins when the store renews the lease: after the
    ///   call has begun, and before it returns.
    /// - Throws: ``StoreError``, with the reason ``StoreError/Reason/leaseNotFound`` if the lease has expired or was revoked; `CancellationError` if
    ///   the caller is cancelled.
    nonisolated(nonsending) func renewLease(_ id: LeaseID) async throws -> StoreLease

    /// Revokes a lease, and removes the entries that are attached to it. Does nothing if there is no such lease.
    ///
    /// - Parameter id: The ID of the lease.
    /// - Throws: ``StoreError``; `CancellationError` if the caller is cancelled.
    nonisolated(nonsending) func revokeLease(_ id: LeaseID) async throws

    /// Executes a transaction: checks conditions, and then changes and reads entries, in one atomic step.
    ///
    /// - Parameter transaction: The conditions, the operations to execute if all of them hold, and the operations to
    ///   execute otherwise.
    /// - Returns: The outcome: which operations were executed, and the entries that were read.
    /// - Throws: ``StoreError``, with the reason ``StoreError/Reason/leaseNotFound`` if the transaction attaches an entry to a lease that does not
    ///   exist; then nothing is changed. `CancellationError` if the caller is cancelled.
    nonisolated(nonsending) func transact(_ transaction: StoreTransaction) async throws -> StoreTransaction.Result

    /// Reads the entries of a range, including the latest changes of all processes.
    ///
    /// - Parameter range: The entries to read.
    /// - Returns: The entries, and the revision at which they were read.
    /// - Throws: ``StoreError``; `CancellationError` if the caller is cancelled.
    nonisolated(nonsending) func read(_ range: StoreRange) async throws -> StoreSnapshot

    /// Reports the changes of a range in the order of their revisions, until the caller is cancelled, `receive` throws,
    /// or an error occurs that the watch cannot resolve.
    ///
    /// A watch continues after a lost connection: it reports the changes after the last revision that it has reported,
    /// and reports no change twice. If the store no longer has some of these changes, the next report is incomplete
    /// (`StoreChanges.isComplete`): then read the range, and compare the result with the entries that you know.
    ///
    /// A watch can report changes late, and reports nothing while the store is unreachable. Before you act on a change, verify it with a transaction.
    ///
    /// - Parameters:
    ///   - range: The entries to watch. The order and the limit of the range do not matter.
    ///   - revision: The revision after which changes are reported; usually the `StoreSnapshot.revision` of an
    ///     earlier read.
    ///   - receive: Called with each group of changes, in the caller's isolation. The first call has no changes: it reports that the watch has begun.
    /// - Throws: The error of `receive`; `CancellationError` if the caller is cancelled; ``StoreError`` for an error that a new connection would not
    ///   resolve, such as a missing permission.
    nonisolated(nonsending) func watch(
        _ range: StoreRange,
        after revision: Int64,
        receive: nonisolated(nonsending) (StoreChanges) async throws -> Void
    ) async throws
}

extension StoreOperations {
    package var backend: StoreBackend { StoreBackend(self) }

    package var losses: Int { 0 }
}
