#if SQLite

public import Foundation
internal import GRDB
internal import TaskControl

/// A store in an SQLite file, for the processes of one machine, such as an app and its extensions.
///
/// ```swift
/// let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.com.example.app")!
/// let store = try SQLiteStore(path: folder.appending(path: "fleet.sqlite").path)
/// try await withLease("token refresh", in: store) { lease in try await refresh() }
/// ```
///
/// All processes open the same file; the first one creates it. Two stores for the same file within one process coordinate as two processes do. The
/// file must be on a local disk: a network file system provides neither the locks nor the common clock that leases need, and a process on another
/// machine receives an error. Don't delete, move or link the file, and don't replace it with a backup, while a process uses it: see *Other files* below.
///
/// ``SQLiteStore`` is available with the package trait `SQLite`, which adds a dependency on GRDB. On Linux, building it needs SQLite's headers: if
/// the compiler reports that `sqlite3.h` is not found, run `apt-get install libsqlite3-dev` (or `dnf install sqlite-devel`).
///
/// ## Leases
/// The end of a lease is a time on a clock that counts from the start of the machine, continues during sleep, and
/// cannot be set. Any process that finds an expired lease removes the lease and its entries. When the machine was
/// restarted, an older lease ends one lease duration after the file is opened: the same would be seen if a process of
/// another machine opened the file, and that process waits until the lease is no longer valid for its holder. From then
/// on, the operations of the first machine throw ``StoreError/Reason/refused``.
///
/// The shortest lease is 100 ms. The store has no leader: the `StoreLease.term` is 0 in all results.
///
/// When the machine was restarted, the revision of the store increases by 2²⁴: a power failure can lose the last
/// transactions, and new transactions must not have the same revisions. If the process is not permitted to read the
/// boot ID, but another process that uses the file is, the revision increases by this number each time the process
/// opens the file. The first revision of a new file is the time since 2001 in units of 2⁻²⁰ seconds: if a file was
/// lost, the fencing tokens of its replacement are greater. The revision of a copy, such as a backup, and of a file that
/// was moved, increases to this number, or by 2²⁴ if it is greater already. So the tokens do not go back, whatever is
/// copied and lost, as long as the date does not. The date is read only for this number, and not for leases.
///
/// ## Other files
/// In each operation, the store examines the file at the path. If it is no longer the file that the store has opened,
/// because it was deleted, renamed, replaced or moved behind a symbolic link, the operation throws
/// ``StoreError/Reason/replaced``, and so do the operations that were called before and wait for their turn, and the
/// watches of the store: every lease of the lost file is lost within the poll interval, whatever else the store is used
/// for. The next operation opens or creates the file that is at the path then. Such a file gives no lease and no token
/// for the first 200 ms, in which the other processes notice that their file was lost.
///
/// While the file has another name (a hard link), all operations throw ``StoreError/Reason/refused``, and the leases
/// expire.
///
/// ## Locks
/// Each operation is one transaction, which takes between a few microseconds and a few milliseconds. The operation
/// holds the lock of the file only for this time: never while a task is suspended, and not for the duration of a lease.
/// If a process is killed during a transaction, the lock is released and the transaction has no effect. If a process is
/// *stopped* during a transaction, for example by SIGSTOP, all other processes wait until it continues; their
/// operations throw ``StoreError/Reason/unavailable`` after the `busyTimeout` that was passed to the initializer.
/// Operations wait for the lock on a dispatch queue of the store, and block no thread of Swift concurrency.
///
/// ## iOS
/// - Put the file into the container of an app group: an app shares no other folder with its extensions.
/// - iOS terminates an app that is suspended while it holds a lock of a file in a shared container (exception
///   `0xdead10cc`). Post ``suspendNotification`` before the app is suspended, for example in
///   `applicationDidEnterBackground` or at the end of the background task that it starts, and ``resumeNotification``
///   when the app runs again. Between the two notifications, operations that write throw
///   ``StoreError/Reason/unavailable``, and the leases of the process expire.
/// - The file cannot be read before the device is unlocked for the first time after a restart. A file with complete
///   data protection also cannot be read while the device is locked. Operations then throw
///   ``StoreError/Reason/unavailable`` or ``StoreError/Reason/unauthorized``; a later operation opens the file again.
///
/// ## Errors
/// - ``StoreError/Reason/unavailable``: another process held the lock for longer than the `busyTimeout`, the stores of
///   the process are suspended (``suspendNotification``), or the file cannot be opened, read or written at this time.
///   Nothing was changed.
/// - ``StoreError/Reason/ambiguous``: the disk failed during a commit, for another reason than that it is full. The
///   transaction may have taken effect.
/// - ``StoreError/Reason/unauthorized``: the process is not permitted to write the file or its folder.
/// - ``StoreError/Reason/replaced``: the file was deleted, moved or replaced. Nothing was changed.
/// - ``StoreError/Reason/refused``: the disk is full, the file is damaged, is not a file of this store, has another name or is used by a newer version
///   of this library, processes of two machines use it, or a transaction changes the same key twice.
///
/// ## Cancellation
/// If the caller is cancelled, the operation throws `CancellationError` at once. A transaction that has already begun continues and may take effect;
/// a transaction that has not begun has no effect.
public final class SQLiteStore: CoordinationStore, StoreOperations {
    /// The shortest duration of a lease: several times as long as a transaction that waits for the disk.
    static let shortestLease = Duration.milliseconds(100)

    /// The time for which a new file gives no numbers: twice the default interval of watches.
    private static let settleTime = Duration.milliseconds(200)

    private let connection: SQLiteConnection
    private let pollInterval: Duration
    private let clock: any Clock<Duration>

    /// The connection to the store, which is opaque.
    ///
    /// - Note: Only with `@_spi(Store) import TaskControlFleet`.
    @_spi(Store) public var backend: StoreBackend { StoreBackend(self) }

    /// The notification that suspends all SQLite stores of the process, until ``resumeNotification`` is posted. Post it
    /// to `NotificationCenter.default` before iOS suspends the app.
    ///
    /// This is `Database.suspendNotification` of GRDB: posting it also suspends all other GRDB databases of the process
    /// that observe it.
    public static var suspendNotification: Notification.Name { Database.suspendNotification }

    /// The notification that ends the suspension of all SQLite stores of the process, which ``suspendNotification``
    /// began. Post it to `NotificationCenter.default` when the app runs again.
    ///
    /// This is `Database.resumeNotification` of GRDB: posting it also resumes all other GRDB databases of the process
    /// that observe it.
    public static var resumeNotification: Notification.Name { Database.resumeNotification }

    /// Creates a store for a file. The initializer does not open the file: the first operation opens or creates it. The file's folder must exist.
    ///
    /// - Parameters:
    ///   - path: The path of the file. A relative path is completed with the process's current folder at the time of this call. SQLite creates two
    ///     more files next to the file, whose names end in "-wal" and "-shm".
    ///   - pollInterval: The time between two checks of a watch for new changes in the file. By default 100 ms: a
    ///     waiting caller is notified after 50 ms on average, and ten checks per second use less than 1% of a
    ///     processor. Less than 1 ms counts as 1 ms.
    ///   - busyTimeout: The longest time for which an operation waits while other processes hold the lock of the file.
    ///     The time is counted from the call of the operation, and includes the wait for earlier operations of this
    ///     store. By default 1 s, in which hundreds of transactions of other processes end, and which is less than the
    ///     time between two renewals of a lease of 15 s. Clamped to the range from zero to an hour.
    ///   - historyLimit: The maximum number of changes that the file keeps for watches. By default 1,000, which is as
    ///     many as all processes together can make within the poll interval. Less than 0 counts as 0. All kept changes together have at most 4
    ///     MiB: if changes are large, the file keeps fewer of them. If changes were removed before a watch has reported
    ///     them, the watch's next report is incomplete (`StoreChanges.isComplete`).
    ///   - clock: The clock that measures the poll interval.
    /// - Throws: ``StoreError`` with the reason ``StoreError/Reason/refused`` if the path is not that of a file that
    ///   several processes can open: an empty path, ":memory:", a URI, a path with a zero byte, or a relative path in a folder that was removed.
    public convenience init(
        path: String,
        pollInterval: Duration = .milliseconds(100),
        busyTimeout: Duration = .seconds(1),
        historyLimit: Int = 1_000,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws(StoreError) {
        guard !path.isEmpty, path != ":memory:", !path.hasPrefix("file:"), !path.utf8.contains(0),
            let path = Self.absolute(path)
        else { throw StoreError(.refused, "a store needs the path of a file that other processes can open") }
        let primitive = TaskEvent.Primitive(rawValue: "SQLiteStore")
        let limit = ComputedNumber.count(historyLimit, atLeast: 0, "SQLiteStore(historyLimit:)", primitive)
        let file = SQLiteFile(
            path: path,
            wait: BusyWait(timeout: busyTimeout),
            history: SQLiteHistoryLimit(changes: limit),
            clock: .system,
            settleTime: Self.settleTime
        )
        self.init(file, pollInterval: pollInterval, clock: clock)
    }

    /// Returns the absolute path of a path: the file is opened later, when the process may have another current folder.
    private static func absolute(_ path: String) -> String? {
        if path.utf8.first == UInt8(ascii: "/") { return path }
        let folder = FileManager.default.currentDirectoryPath
        return folder.utf8.first == UInt8(ascii: "/") ? "\(folder)/\(path)" : nil
    }

    init(_ file: SQLiteFile, pollInterval: Duration, clock: any Clock<Duration>) {
        connection = SQLiteConnection(file)
        self.pollInterval = max(.milliseconds(1), pollInterval).saturated
        self.clock = clock
    }

    // MARK: Operations

    package var losses: Int { connection.losses }

    /// Grants a new lease. When the lease expires or is revoked, the store removes the entries that are attached to it.
    ///
    /// - Parameter timeToLive: The requested duration. The granted duration is at least 100 ms and at most 100 years.
    /// - Returns: The lease with the granted duration.
    /// - Throws: ``StoreError``; `CancellationError` if the caller is cancelled.
    package nonisolated(nonsending) func grantLease(timeToLive: Duration) async throws -> StoreLease {
        let wanted = max(Self.shortestLease, timeToLive).saturated
        // Rounded up.
        let nanoseconds = wanted.wholeNanoseconds + (.nanoseconds(wanted.wholeNanoseconds) < wanted ? 1 : 0)
        return try await connection.write { content in
            StoreLease(id: try content.grant(nanoseconds), timeToLive: .nanoseconds(nanoseconds))
        }
    }

    /// Renews a lease: its whole duration begins again at the renewal.
    ///
    /// - Parameter id: The ID of the lease.
    /// - Returns: The lease with its granted duration. The duration begins when the store renews the lease: after the
    ///   call has begun, and before it returns.
    /// - Throws: ``StoreError``, with the reason ``StoreError/Reason/leaseNotFound`` if the lease has expired, was
    ///   revoked, or ended because the machine was restarted; `CancellationError` if the caller is cancelled.
    package nonisolated(nonsending) func renewLease(_ id: LeaseID) async throws -> StoreLease {
        try await connection.write { content in
            StoreLease(id: id, timeToLive: .nanoseconds(try content.renew(id)))
        }
    }

    /// Ends a lease and removes the entries that are attached to it. Does nothing if there is no such lease.
    ///
    /// - Parameter id: The ID of the lease.
    /// - Throws: ``StoreError``; `CancellationError` if the caller is cancelled.
    package nonisolated(nonsending) func revokeLease(_ id: LeaseID) async throws {
        try await connection.write { try $0.revoke(id) }
    }

    /// Executes a transaction: checks conditions, and then changes and reads entries, in one transaction of SQLite.
    ///
    /// A transaction whose operations are all reads does not wait for processes that write, unless the store must first
    /// remove an expired lease.
    ///
    /// - Parameter transaction: The conditions, the operations to execute if all of them hold, and the operations to
    ///   execute otherwise.
    /// - Returns: The outcome: which operations were executed, and the entries that were read.
    /// - Throws: ``StoreError``, with the reason ``StoreError/Reason/leaseNotFound`` if the transaction attaches an
    ///   entry to a lease that does not exist, or ``StoreError/Reason/refused`` if one of the lists of operations
    ///   changes the same key twice; `CancellationError` if the caller is cancelled.
    package nonisolated(nonsending) func transact(_ transaction: StoreTransaction) async throws
        -> StoreTransaction.Result
    {
        // A transaction that only compares and reads, such as the proof of a renewal, needs no lock.
        try await transaction.onlyReads
            ? connection.read { try $0.transact(transaction) } : connection.write { try $0.transact(transaction) }
    }

    /// Reads the entries of a range, including the latest changes of all processes. Does not wait for processes that
    /// write, unless the store must first remove an expired lease.
    ///
    /// - Parameter range: The entries to read. A `StoreRange.limit` of less than 1 counts as 1.
    /// - Returns: The entries, and the revision at which they were read.
    /// - Throws: ``StoreError``; `CancellationError` if the caller is cancelled.
    package nonisolated(nonsending) func read(_ range: StoreRange) async throws -> StoreSnapshot {
        try await connection.read { StoreSnapshot(entries: try $0.read(range), revision: $0.revision) }
    }

    /// Reports the changes of a range in the order of their revisions, until the caller is cancelled or `receive` throws. Checks the file for changes
    /// at each poll interval.
    ///
    /// The watch continues while the file is locked or cannot be read. While the watch runs, it removes expired leases
    /// within the poll interval, even if no process performs an operation. If the file no longer keeps some of the
    /// changes that the watch has not reported yet, the next report is incomplete (`StoreChanges.isComplete`).
    ///
    /// - Parameters:
    ///   - range: The entries to watch. The order and the limit of the range do not matter.
    ///   - revision: The revision after which changes are reported; usually the `StoreSnapshot.revision` of an
    ///     earlier read.
    ///   - receive: Called with each group of changes, in the caller's isolation. The first call has no changes: it reports that the watch has begun.
    /// - Throws: The error of `receive`; `CancellationError` if the caller is cancelled; the error of the store's clock
    ///   if the clock cannot sleep; ``StoreError``, except with the reasons ``StoreError/Reason/unavailable`` and
    ///   ``StoreError/Reason/ambiguous``: after these errors the watch tries again.
    package nonisolated(nonsending) func watch(
        _ range: StoreRange,
        after revision: Int64,
        receive: nonisolated(nonsending) (StoreChanges) async throws -> Void
    ) async throws {
        let losses = connection.losses
        var progress = SQLiteWatch(range.keys, after: revision)
        while true {
            do {
                progress = try await connection.read(after: losses) { [progress] in try $0.advance(progress) }
            } catch let error as StoreError where error.reason == .unavailable || error.reason == .ambiguous {
                // Read again later.
            }
            if let changes = progress.report.take() {
                try await receive(changes)
            } else {
                // `self`: see scripts/workarounds/existential.swift.
                try await sleep(for: pollInterval, on: self.clock)
            }
        }
    }
}

/// The state of a watch of a ``SQLiteStore`` between two checks of the file for changes: the revision up to which the
/// watch has found all changes, and the changes that it must report next.
struct SQLiteWatch: Sendable {
    let keys: StoreRange.Keys
    /// The revision up to which all changes were reported, or are in ``report``.
    var revision: Int64
    var hasBegun = false
    /// The next report; `nil` if there is nothing to report.
    var report: StoreChanges?

    /// Creates a watch of a range of keys.
    ///
    /// - Parameter revision: The revision after which changes are reported.
    init(_ keys: StoreRange.Keys, after revision: Int64) {
        self.keys = keys
        self.revision = revision
    }
}

extension SQLiteContent {
    /// Checks for changes on behalf of a watch.
    ///
    /// - Parameter watch: The state of the watch before the check. Its report must have been taken.
    /// - Returns: The state after the check, with a report if there is something to report.
    func advance(_ watch: SQLiteWatch) throws -> SQLiteWatch {
        var watch = watch
        if watch.revision < compacted {
            watch.revision = revision
            watch.report = StoreChanges([], revision: revision, isComplete: false)
        } else if !watch.hasBegun {
            watch.report = StoreChanges([], revision: watch.revision)
        } else if watch.revision < revision {
            let changes = try changes(in: watch.keys, after: watch.revision)
            watch.revision = revision
            if !changes.isEmpty { watch.report = StoreChanges(changes, revision: revision) }
        }
        watch.hasBegun = true
        return watch
    }
}

#endif
