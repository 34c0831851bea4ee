#if SQLite
internal import Dispatch
internal import Foundation
internal import GRDB
internal import TaskControl

/// The single database connection of a ``SQLiteStore``. The first call opens the file.
///
/// All calls run on a private dispatch queue: a call that waits for another process or for the disk blocks no thread of Swift concurrency.
final class SQLiteConnection: Sendable {
    private let file: SQLiteFile
    private let queue = DispatchQueue(label: "TaskControl.SQLiteStore")
    /// The open database, and the place of its file; `nil` before the first call. Used only on the dispatch queue of this connection, so that no
    /// thread ever waits for the lock of the `Locked`.
    private let opened = Locked<(database: DatabaseQueue, place: SQLitePlace)?>(nil)

    init(_ file: SQLiteFile) {
        self.file = file
    }

    /// Calls a function that changes the content of the file, in one transaction.
    ///
    /// The transaction first ends the leases that have expired. If the function throws, its changes are rolled back. The expired leases stay ended if
    /// the function has thrown a ``StoreError`` before it has changed anything; otherwise the next transaction ends them.
    ///
    /// - Returns: The value of the function.
    /// - Throws: ``StoreError``; `CancellationError` if the caller is cancelled. In that case, a transaction that has begun continues and may take
    ///   effect.
    nonisolated(nonsending) func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout SQLiteContent) throws -> Value
    ) async throws -> Value {
        try await onQueue { try self.writing(body) }
    }

    /// Calls a function that reads the content of the file, in one transaction that does not wait for processes that write.
    ///
    /// If a lease has expired, the transaction writes as well, and can wait: it ends the lease first, so that the function does not read the lease's
    /// entries.
    ///
    /// - Returns: The value of the function.
    /// - Throws: ``StoreError``; `CancellationError` if the caller is cancelled.
    nonisolated(nonsending) func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout SQLiteContent) throws -> Value
    ) async throws -> Value {
        try await onQueue {
            let value: Value? = try self.transaction(.deferred) { content in
                content.hasExpiredLeases ? nil : try body(&content)
            }
            return try value ?? self.writing(body)
        }
    }

    // MARK: On the queue

    /// Calls a function on the dispatch queue of this connection. If the caller is cancelled, `CancellationError` is
    /// thrown at once: a function that has not begun is not called, and a function that has begun continues.
    private nonisolated(nonsending) func onQueue<Value: Sendable>(
        _ call: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let (isCancelled, deadline) = (Locked(false), file.wait.newDeadline())
        return try await withCancellableContinuation { continuation in
            queue.async { [file] in
                if isCancelled.withLock({ $0 }) {
                    continuation.resume(throwing: CancellationError())
                } else {
                    file.wait.begin(until: deadline)
                    continuation.resume(with: Result(catching: call))
                }
            }
            return { isCancelled.withLock { $0 = true } }
        }
    }

    private func writing<Value>(_ body: (inout SQLiteContent) throws -> Value) throws -> Value {
        try transaction(.immediate) { content -> Result<Value, StoreError> in
            try content.endExpiredLeases()
            let value: Result<Value, StoreError>
            let changes = content.database.totalChangesCount
            do {
                value = .success(try body(&content))
            } catch let error as StoreError where content.database.totalChangesCount == changes {
                // Nothing was changed, except that leases have expired.
                value = .failure(error)
            }
            try content.save()
            return value
        }.get()
    }

    private func transaction<Value>(
        _ kind: Database.TransactionKind,
        _ body: (inout SQLiteContent) throws -> Value
    ) throws -> Value {
        let (database, place) = try open()
        var isBroken = false
        defer {
            // The next call opens the file again. A transaction that could not be rolled back ends with its connection.
            if isBroken { _ = opened.withLock { $0.take() } }
        }
        return try database.inDatabase { connection in
            let value: Value
            do {
                try connection.beginTransaction(kind)
                var content = try file.content(connection, at: place)
                value = try body(&content)
            } catch {
                isBroken = !StoreError.leavesConnectionUsable(error)
                throw rollBack(connection, error, in: .beforeCommit, &isBroken)
            }
            do {
                try connection.commit()
            } catch {
                isBroken = !StoreError.leavesConnectionUsable(error)
                let step: StoreError.SQLiteStep = connection.isInsideTransaction ? .beforeCommit : .commit
                throw rollBack(connection, error, in: step, &isBroken)
            }
            return value
        }
    }

    private func rollBack(
        _ connection: Database,
        _ error: any Error,
        in step: StoreError.SQLiteStep,
        _ isBroken: inout Bool
    ) -> StoreError {
        do { try connection.rollback() } catch { isBroken = true }
        return storeError(error, in: step)
    }

    private func open() throws -> (database: DatabaseQueue, place: SQLitePlace) {
        if let opened = opened.withLock({ $0 }) { return opened }
        do {
            let new = try file.open()
            opened.withLock { $0 = new }
            return new
        } catch {
            throw storeError(error, in: .beforeCommit)
        }
    }

    private func storeError(_ error: any Error, in step: StoreError.SQLiteStep) -> StoreError {
        let translated = StoreError(error, in: step)
        // SQLite reports a missing permission as a file that cannot be opened or written, as it does for reasons that pass.
        guard translated.reason == .unavailable, StoreError.canMeanPermission(error), SQLitePlace.forbids(file.path)
        else { return translated }
        return .forbiddenFile
    }
}
#endif
