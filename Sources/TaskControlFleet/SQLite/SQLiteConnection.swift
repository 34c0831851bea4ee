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

/// The rule for how long a call of a ``SQLiteStore`` waits while another process holds the lock of the file.
///
/// The deadline of a call is counted from the time of the call, and not from the time at which the store's queue begins it: a call that waits behind
/// others in the queue does not wait for several timeouts.
final class BusyWait: Sendable {
    private let timeout: Duration
    private let now: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) -> Void
    /// The deadline of the call that the store's queue runs now, in the time that `now` returns.
    private let deadline = Locked(Duration.zero)

    /// Creates the rule for the waits of a store.
    ///
    /// - Parameters:
    ///   - timeout: The longest wait of a call. Clamped to the range from zero to an hour.
    ///   - now: Returns the current time.
    ///   - sleep: Blocks the thread for a duration.
    init(
        timeout: Duration,
        now: @escaping @Sendable () -> Duration = { continuousTime() },
        sleep: @escaping @Sendable (Duration) -> Void = {
            Thread.sleep(forTimeInterval: Double($0.wholeNanoseconds) / 1e9)
        }
    ) {
        self.timeout = min(max(.zero, timeout), .seconds(3_600))
        (self.now, self.sleep) = (now, sleep)
    }

    /// Returns the deadline of a call that is made now, in the time that `now` returns.
    func newDeadline() -> Duration { now() + timeout }

    /// Sets the deadline of the call that the store's queue begins to run, as returned by ``newDeadline()``.
    func begin(until deadline: Duration) { self.deadline.withLock { $0 = deadline } }

    /// Blocks the thread for a duration, whatever the deadline.
    func settle(_ duration: Duration) { if duration > .zero { sleep(duration) } }

    /// Blocks the thread before another attempt to acquire the lock: first for 1 ms, and for up to 50 ms in later attempts.
    ///
    /// - Parameter attempt: The number of earlier waits of the same call.
    /// - Returns: `true` if the call should try again; `false` if its deadline has been reached.
    func wait(attempt: Int) -> Bool {
        let remaining = deadline.withLock(\.self) - now()
        guard remaining > .zero else { return false }
        sleep(min(remaining, .milliseconds(1 << min(max(0, attempt), 6)), .milliseconds(50)))
        return true
    }
}

extension StoreError {
    /// The step of a transaction in which SQLite has failed: it shows whether changes may have taken effect.
    enum SQLiteStep: Hashable, Sendable {
        /// Before the commit, or in a commit that has left the transaction open: nothing was changed.
        case beforeCommit
        /// In a commit that has ended the transaction: its changes may be in the file.
        case commit
    }

    /// Creates the error that an operation of the store throws, from an error that was thrown in a step of its
    /// transaction. If that error is a ``StoreError``, it stays unchanged.
    init(_ error: any Error, in step: SQLiteStep) {
        if let error = error as? StoreError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(step == .commit ? .ambiguous : .refused, "\(type(of: error))")
            return
        }
        // The message of SQLite names tables and columns, and has no keys or values.
        let message = "\(error.message ?? "no message") (SQLite \(error.extendedResultCode.rawValue))"
        self.init(step == .commit ? .ambiguous : Self.reason(of: error.extendedResultCode), message)
    }

    /// Returns the reason of a failure that has changed nothing, from the result code of SQLite.
    private static func reason(of code: ResultCode) -> Reason {
        switch code {
        // Another process has the lock, the database is suspended (INTERRUPT, ABORT), or the file cannot be read or written at this time.
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL, .SQLITE_INTERRUPT, .SQLITE_ABORT, .SQLITE_CANTOPEN,
            .SQLITE_IOERR,
            .SQLITE_NOMEM, .SQLITE_SCHEMA:
            .unavailable
        case .SQLITE_READONLY_DBMOVED: .replaced
        case .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH: .unauthorized
        // Among them: the disk is full, the file is damaged or is not a database, a value is too large.
        default: .refused
        }
    }

    /// Returns whether an error of SQLite can be the result of a missing permission.
    static func canMeanPermission(_ error: any Error) -> Bool {
        [.SQLITE_CANTOPEN, .SQLITE_IOERR].contains((error as? DatabaseError)?.resultCode)
    }

    /// Returns whether a database connection can still be used after it has thrown an error.
    static func leavesConnectionUsable(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else {
            return (error as? StoreError).map { $0.reason != .replaced } ?? false
        }
        return switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_INTERRUPT, .SQLITE_ABORT, .SQLITE_FULL, .SQLITE_TOOBIG,
            .SQLITE_NOMEM:
            true
        default: false
        }
    }
}

#endif
