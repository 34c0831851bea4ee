#if SQLite
public import Foundation
internal import GRDB
internal import TaskControl

/// A store in a file of SQLite, for the processes of one machine, such as an app and its extensions.
///
/// ```swift
/// let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.com.example.app")!
/// let store = try SQLiteStore(path: folder.appending(path: "fleet.sqlite").path)
/// try await withLease("token refresh", in: store) { lease in try await refresh() }
/// ```
///
/// All processes open the same file; the first one creates it. Two stores for one file in one process coordinate as two processes do. The file must be
/// on a disk of this machine: a network file system has neither the locks nor the clock that a lease needs, and a process of another machine is
/// refused. Don't delete the file, and don't replace it by a backup, while a process uses it.
///
/// ``SQLiteStore`` exists with the package trait `SQLite`, which adds GRDB. On Linux, building needs the headers of SQLite: without them, the
/// compiler reports that `sqlite3.h` is not found, and `apt-get install libsqlite3-dev` (`dnf install sqlite-devel`) installs them.
///
/// ## Leases
/// A lease has an end on the clock of the machine that counts from its start, continues during sleep, and cannot be set. A process that finds a lease
/// past its end removes its entries. Leases of an earlier start of the machine are over. Where a process may not read the identity of the start,
/// such a lease ends at the latest one duration after the start.
///
/// The shortest lease is 100 ms. The revision increases by 2²⁴ when the machine has been started again: a power failure can take back the last
/// transactions, and the numbers of those are not given twice. A process that may not read the identity of the start takes each opening of the file for
/// a start, as far as the revision is concerned. The revision of a new file is the number of seconds since 2001, times 2²⁰: after a file
/// was lost, the tokens of the new one are greater. The calendar is read for this number only, and not for leases. Every answer has the term 0.
///
/// ## Locks
/// An operation is a transaction of a few microseconds to milliseconds, and holds the lock of the file for that time only: never while it is
/// suspended, and never as long as a lease. A process that is killed in a transaction leaves no lock and no part of the transaction. A process that
/// is *stopped* in one, for example by SIGSTOP, blocks the others until it continues; they receive ``StoreError/Reason/unavailable`` after the busy
/// timeout. Operations wait for the lock on a queue of the store, and block no thread of Swift concurrency.
///
/// ## iOS
/// - Put the file into the container of an app group: no other folder is shared with extensions.
/// - iOS ends an app that is suspended while it has a lock of a file in a shared container (exception `0xdead10cc`). Post ``suspendNotification`` before
///   the app is suspended, such as in `applicationDidEnterBackground`, or at the end of the background task that it starts there; and
///   ``resumeNotification`` when it runs again. In between, operations that write throw ``StoreError/Reason/unavailable``: leases are lost, as they
///   would be in a suspended app.
/// - Before the first unlock after a start, and for a file with complete protection while the device is locked, the file cannot be read: operations
///   throw ``StoreError/Reason/unavailable`` or ``StoreError/Reason/unauthorized``. A later call opens the file again.
///
/// ## Errors
/// - ``StoreError/Reason/unavailable``: another process had the lock for longer than the busy timeout, the store is suspended, or the file cannot be
///   opened, read or written at this time. Nothing was changed.
/// - ``StoreError/Reason/ambiguous``: the disk has failed in a commit.
/// - ``StoreError/Reason/unauthorized``: the file or its folder cannot be written by this process.
/// - ``StoreError/Reason/refused``: the disk is full, the file is damaged or belongs to something else, processes of two machines use it, or a transaction
///   changes a key twice.
///
/// ## Cancellation
/// A caller that is cancelled leaves at once. An operation that has begun continues, and an operation that has not begun has no effect.
public final class SQLiteStore: CoordinationStore {
    /// The shortest lease: several times as long as a transaction takes that waits for the disk.
    static let shortestLease = Duration.milliseconds(100)

    private let connection: SQLiteConnection
    private let pollInterval: Duration
    private let clock: any Clock<Duration>

    /// The notification that suspends all stores of the process: post it before iOS suspends the app.
    ///
    /// It is the notification of GRDB with which all databases of the process are suspended that observe it.
    public static var suspendNotification: Notification.Name { Database.suspendNotification }

    /// The notification that ends the suspension of all stores of the process: post it when the app runs again.
    public static var resumeNotification: Notification.Name { Database.resumeNotification }

    /// Creates a store for a file. The first operation opens the file, or creates it; its folder must exist.
    ///
    /// - Parameters:
    ///   - path: The path of the file. SQLite adds two files, whose names end in "-wal" and "-shm".
    ///   - pollInterval: The time between two looks of a watch at the revision of the file. By default 100 ms: a waiter learns within 50 ms on average
    ///     that it is its turn, and ten looks per second take less than a hundredth of a processor. At least 1 ms.
    ///   - busyTimeout: The longest wait of an operation for other processes, from its call on: the time behind other operations of this store counts. By
    ///     default 1 s, in which hundreds of transactions of other processes end, and which is less than the time between two renewals of a lease of
    ///     15 s. From zero to an hour.
    ///   - historyLimit: The number of changes that are kept for watches. By default 1,000: as many as all processes together can make
    ///     within the poll interval. Of large changes fewer are kept: at most 4 MiB. A watch that misses changes reports that it is incomplete.
    ///   - clock: The clock that measures the poll interval.
    /// - Throws: ``StoreError`` with the reason ``StoreError/Reason/refused`` for a path that several processes cannot open: an empty one, ":memory:", or
    ///   a URI.
    public convenience init(
        path: String,
        pollInterval: Duration = .milliseconds(100),
        busyTimeout: Duration = .seconds(1),
        historyLimit: Int = 1_000,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws(StoreError) {
        guard !path.isEmpty, path != ":memory:", !path.hasPrefix("file:") else {
            throw StoreError(.refused, "a store needs the path of a file that other processes can open")
        }
        let file = SQLiteFile(
            path: path,
            wait: BusyWait(timeout: busyTimeout),
            history: SQLiteHistoryLimit(changes: historyLimit),
            clock: .system
        )
        self.init(file, pollInterval: pollInterval, clock: clock)
    }

    init(_ file: SQLiteFile, pollInterval: Duration, clock: any Clock<Duration>) {
        connection = SQLiteConnection(file)
        self.pollInterval = max(.milliseconds(1), pollInterval).saturated
        self.clock = clock
    }

    // MARK: Operations

    /// Grants a new lease.
    ///
    /// - Parameter timeToLive: The duration. Less than 100 ms counts as 100 ms, more than 100 years as 100 years.
    /// - Returns: The lease with that duration.
    public nonisolated(nonsending) func grantLease(timeToLive: Duration) async throws -> StoreLease {
        let wanted = max(Self.shortestLease, timeToLive).saturated
        // Rounded up.
        let nanoseconds = wanted.wholeNanoseconds + (.nanoseconds(wanted.wholeNanoseconds) < wanted ? 1 : 0)
        return try await connection.write { content in
            StoreLease(id: try content.grant(nanoseconds), timeToLive: .nanoseconds(nanoseconds))
        }
    }

    /// Renews a lease: its whole duration begins again.
    ///
    /// - Parameter id: The lease.
    /// - Throws: ``StoreError`` with the reason ``StoreError/Reason/leaseNotFound`` if the lease has expired or was revoked, or if the machine was
    ///   started again.
    public nonisolated(nonsending) func renewLease(_ id: LeaseID) async throws -> StoreLease {
        try await connection.write { content in
            StoreLease(id: id, timeToLive: .nanoseconds(try content.renew(id)))
        }
    }

    /// Ends a lease and removes the entries that are attached to it. Does nothing if there is no such lease.
    ///
    /// - Parameter id: The lease.
    public nonisolated(nonsending) func revokeLease(_ id: LeaseID) async throws {
        try await connection.write { try $0.revoke(id) }
    }

    /// Compares, and then changes and reads, in one transaction of SQLite.
    ///
    /// A transaction that changes nothing does not wait for processes that write.
    ///
    /// - Parameter transaction: The comparisons and the operations. No key may be put or deleted twice.
    public nonisolated(nonsending) func transact(_ transaction: StoreTransaction) async throws
        -> StoreTransaction.Result
    {
        // A transaction that only compares and reads, such as the proof of a renewal, needs no lock.
        try await transaction.onlyReads
            ? connection.read { try $0.transact(transaction) } : connection.write { try $0.transact(transaction) }
    }

    /// Reads the entries of a range, as they are after the last transaction of any process. Does not wait for processes that write.
    ///
    /// - Parameter range: The entries to read. A limit of less than 1 counts as 1.
    public nonisolated(nonsending) func read(_ range: StoreRange) async throws -> StoreSnapshot {
        try await connection.read { StoreSnapshot(entries: try $0.read(range), revision: $0.revision) }
    }

    /// Reports the changes of a range, which it looks for at each poll interval.
    ///
    /// The watch continues while the file is locked or cannot be read. While it runs, leases that expire are ended within the poll interval, also
    /// if no process calls the store.
    ///
    /// - Parameters:
    ///   - range: The entries to watch. Its order and limit do not matter.
    ///   - revision: The revision after which changes are reported.
    ///   - receive: Called with each group of changes, in the caller's isolation. The first call has no changes.
    /// - Throws: The error of `receive`; `CancellationError`; ``StoreError`` with a reason that time does not resolve.
    public nonisolated(nonsending) func watch(
        _ range: StoreRange,
        after revision: Int64,
        receive: nonisolated(nonsending) (StoreChanges) async throws -> Void
    ) async throws {
        var progress = SQLiteWatch(range.keys, after: revision)
        while true {
            do {
                progress = try await connection.read { [progress] in try $0.advance(progress) }
            } catch let error as StoreError where error.reason == .unavailable || error.reason == .ambiguous {
                // Read again later.
            }
            if let changes = progress.report.take() {
                try await receive(changes)
            } else {
                try await clock.sleep(for: pollInterval)
            }
        }
    }
}

extension StoreTransaction {
    /// Whether no operation puts or deletes.
    fileprivate var onlyReads: Bool {
        (success + failure).allSatisfy { operation in
            if case .read = operation { true } else { false }
        }
    }
}
#endif
