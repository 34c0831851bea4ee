#if SQLite
internal import GRDB

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
