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
    /// The identity of the file that was opened last, and is not known to be lost; `nil` if there is none. Used only on the dispatch queue.
    private let identity = Locked<Data?>(nil)
    private let counted = Locked(0)

    init(_ file: SQLiteFile) {
        self.file = file
    }

    /// The number of files that were lost: that were at the path when they were opened, and later were not.
    var losses: Int { counted.withLock(\.self) }

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
    /// - Parameters:
    ///   - losses: The ``losses`` at an earlier time, if the caller needs the file of that time: if it was lost since, this function throws at once,
    ///     without waiting for the opening of another file. `nil`, the default, for the file of now.
    ///   - body: Reads the content.
    /// - Returns: The value of the function.
    /// - Throws: ``StoreError``; `CancellationError` if the caller is cancelled.
    nonisolated(nonsending) func read<Value: Sendable>(
        after losses: Int? = nil,
        _ body: @escaping @Sendable (inout SQLiteContent) throws -> Value
    ) async throws -> Value {
        try await onQueue(after: losses) {
            let value: Value? = try self.transaction(.deferred) { content in
                content.hasExpiredLeases ? nil : try body(&content)
            }
            return try value ?? self.writing(body)
        }
    }

    // MARK: On the queue

    /// Calls a function on the dispatch queue of this connection. If the caller is cancelled, `CancellationError` is
    /// thrown at once: a function that has not begun is not called, and a function that has begun continues.
    ///
    /// If the file is lost after this call and before its turn, the function is not called either: it was meant for the lost file. So calls that
    /// wait, among them those of watches, never wait for the opening of another file.
    private nonisolated(nonsending) func onQueue<Value: Sendable>(
        after losses: Int? = nil,
        _ call: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let (isCancelled, deadline) = (Locked(false), file.wait.newDeadline())
        return try await withCancellableContinuation { continuation in
            // The lock is held while the call is put into the queue: of two calls, the one that has counted more losses is behind the other.
            let isInTime = counted.withLock { now in
                let wanted = losses ?? now
                guard wanted == now else { return false }
                queue.async { [self] in
                    if isCancelled.withLock({ $0 }) {
                        continuation.resume(throwing: CancellationError())
                    } else if wanted != self.losses {
                        continuation.resume(throwing: StoreError.replacedFile)
                    } else {
                        file.wait.begin(until: deadline)
                        continuation.resume(with: Result(catching: call))
                    }
                }
                return true
            }
            if !isInTime { continuation.resume(throwing: StoreError.replacedFile) }
            return { isCancelled.withLock { $0 = true } }
        }
    }

    /// Records that the file is lost: the next call opens the file that is at the path then.
    private func lose() {
        identity.withLock { $0 = nil }
        counted.withLock { $0 += 1 }
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
                let error = lossBehind(error, of: place)
                isBroken = !StoreError.leavesConnectionUsable(error)
                let thrown = rollBack(connection, error, in: .beforeCommit, &isBroken)
                if thrown.reason == .replaced { lose() }
                throw thrown
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

    /// Returns the error of an operation that has waited in vain for the lock of the file: a file that is lost meanwhile is not waited for. Returns any
    /// other error as it is.
    private func lossBehind(_ error: any Error, of place: SQLitePlace) -> any Error {
        guard (error as? DatabaseError)?.resultCode == .SQLITE_BUSY else { return error }
        do {
            return try SQLitePlace(file.path) == place ? error : StoreError.replacedFile
        } catch {
            return error
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
            // The connection was given up for another reason, and the file may have been lost since.
            if let last = identity.withLock(\.self), try SQLitePlace(file.path)?.identity != last {
                lose()
                throw StoreError.replacedFile
            }
            let new = try file.open()
            opened.withLock { $0 = new }
            identity.withLock { $0 = new.place.identity }
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
        // SQLite has rolled back a transaction for which the disk has no room.
        let isAmbiguous = step == .commit && error.resultCode != .SQLITE_FULL
        self.init(isAmbiguous ? .ambiguous : Self.reason(of: error.extendedResultCode), message)
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
