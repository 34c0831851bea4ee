#if SQLite

internal import Foundation
internal import GRDB
internal import TaskControl

#if canImport(Darwin)
internal import Darwin
#endif

/// The file of a ``SQLiteStore``: its path, how it is opened, and which tables it has.
struct SQLiteFile: Sendable {
    let path: String
    /// The rule for how long a call of the store waits while another process holds the lock of the file.
    let wait: BusyWait
    let history: SQLiteHistoryLimit
    let clock: BootClock
    /// The boot ID of the machine (see ``BootClock/boot``); `nil` if this process is not permitted to read it.
    let boot: String?

    /// The value of `PRAGMA application_id` in each file of a store: "TCFl" in ASCII.
    private static let applicationID: Int64 = 0x5443_466C
    private static let version: Int64 = 1
    /// The number that is added to the revision and to the ID of the last lease after each restart of the machine. The disk is not synchronized at
    /// each commit, so that a power failure can lose the last commits; the step ensures that their numbers are not used again. The lost commits are
    /// at most those since the last checkpoint or since the system has last written the file, which is less than a minute: far fewer than 2²⁴ (16
    /// million).
    private static let step: Int64 = 1 << 24
    /// The time for which a file that is new at its place gives no numbers, while the lock is held.
    private let settleTime: Duration
    /// The closure that returns the revision of a new file.
    private let firstRevision: @Sendable () -> Int64

    init(
        path: String,
        wait: BusyWait,
        history: SQLiteHistoryLimit,
        clock: BootClock,
        settleTime: Duration,
        firstRevision: @escaping @Sendable () -> Int64 = { Self.revision(at: Date()) }
    ) {
        self.path = path
        self.wait = wait
        self.history = history
        self.clock = clock
        boot = clock.boot()
        self.settleTime = settleTime
        self.firstRevision = firstRevision
    }

    /// Returns the first revision of a file that is created at a date: the time since 2001 in units of 2⁻²⁰ seconds, which is about a microsecond.
    ///
    /// If a file was lost, the fencing tokens of the new file must be greater than those of the lost one. The calendar is read only for this first
    /// revision: no lease depends on it. The first revision is greater than all revisions of the lost file, unless the lost file had a million
    /// changes per second, the machine was restarted more often than every 16 seconds on average, or the calendar was set back. The first revision is
    /// less than 2⁵³, so that a JSON number represents it exactly.
    static func revision(at date: Date) -> Int64 {
        let seconds = min(max(0, date.timeIntervalSinceReferenceDate), 0x1_FFFF_FFFF)
        return max(1, Int64(seconds * 0x1p20))
    }

    /// Returns the content of the file for a transaction that has begun.
    ///
    /// - Parameter place: The place of the file when it was opened.
    /// - Throws: ``StoreError`` with the reason ``StoreError/Reason/replaced`` if there is another file at the path now, or another content in the file;
    ///   ``StoreError`` with the reason ``StoreError/Reason/refused`` if the file is damaged, has another name, is used by a newer version of this
    ///   library, or has another boot ID (see ``BootClock/boot``): then processes of two machines use it.
    func content(_ database: Database, at place: SQLitePlace) throws -> SQLiteContent {
        guard try SQLitePlace(path) == place else { throw StoreError.replacedFile }
        // Before the tables are read, which may be those of a newer version.
        let version = try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA user_version"))
        guard version == Self.version else { throw Self.foreign }
        let content = try SQLiteContent(database, clock: clock, boot: boot, history: history)
        if let boot, let other = content.boot, other != boot {
            throw StoreError(
                .refused,
                "processes of two machines use the file: its locks and its clock are those of one machine"
            )
        }
        guard content.file == place.identity else { throw StoreError.replacedFile }
        return content
    }

    // MARK: Opening

    /// Opens the file, or creates it if it does not exist.
    ///
    /// - Parameter configure: Called with each new connection before any other statement.
    /// - Returns: The open database, and the place of the file.
    /// - Throws: `DatabaseError` if SQLite fails; ``StoreError`` with the reason ``StoreError/Reason/refused`` if the file is damaged or is not a
    ///   file of a store.
    func open(
        configure: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) throws -> (database: DatabaseQueue, place: SQLitePlace) {
        var configuration = Configuration()
        configuration.label = "TaskControl.SQLiteStore"
        let used = Locked<SQLitePlace?>(nil)
        configuration.busyMode = .callback { [wait, path] attempt in
            // A wait for the lock of a lost file would delay the watches that have to notice the loss.
            if let place = used.withLock(\.self), (try? SQLitePlace(path)) != place { return false }
            return wait.wait(attempt: attempt)
        }
        configuration.journalMode = .wal
        // Instead of ending the process when a transaction could not be rolled back: the connection is closed then.
        configuration.allowsUnsafeTransactions = true
        configuration.observesSuspensionNotifications = true
        configuration.prepareDatabase { database in
            try configure(database)
            // This also applies to the transaction with which SQLite creates the file.
            try database.execute(sql: "PRAGMA fullfsync = ON")
        }
        var (attempt, passes) = (0, 0)
        while true {
            do {
                let place = try SQLitePlace(path)
                let database = try DatabaseQueue(path: path, configuration: configuration)
                // A file that did not exist is opened once more, now that its identity can be known.
                if let place {
                    try database.inDatabase { try prepare($0, at: place) }
                    // A file that has replaced the opened one in the meantime is not taken for it.
                    if let opened = try SQLitePlace(path), opened.identity == place.identity {
                        used.withLock { $0 = opened }
                        return (database, opened)
                    }
                }
                passes += 1
                if passes > 8 { throw StoreError.replacedFile }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && wait.wait(attempt: attempt) {
                // SQLite does not always wait itself while another process sets up the same file.
                attempt += 1
            }
        }
    }

    private func prepare(_ database: Database, at place: SQLitePlace) throws {
        // The first revision and a step are on the disk before a number is given that depends on them. This costs nothing if nothing changes.
        try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON")
        try database.inTransaction(.immediate) {
            let isNew = try createTables(database)
            try begin(database, isNew: isNew, at: place)
            return .commit
        }
        // Without the boot ID, a restart of the machine may be missed, so that no step is added. Then no commit may be lost: each one is
        // synchronized.
        if boot != nil { try database.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA fullfsync = OFF") }
    }

    /// Creates the tables if the file is empty. Returns whether it was empty.
    private func createTables(_ database: Database) throws -> Bool {
        let application = try Int64.fetchOne(database, sql: "PRAGMA application_id")
        let version = try Int64.fetchOne(database, sql: "PRAGMA user_version")
        if application == Self.applicationID, version == Self.version { return false }
        let tables = try Int64.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master")
        guard application == 0, version == 0, tables == 0 else { throw Self.foreign }
        try database.execute(sql: Self.tables)
        let first = firstRevision()
        try database.execute(
            sql: "INSERT INTO meta VALUES (1, ?, ?, ?, 0, NULL, NULL)",
            arguments: [first, first, first]
        )
        try database.execute(
            sql: "PRAGMA application_id = \(Self.applicationID); PRAGMA user_version = \(Self.version)"
        )
        return true
    }

    /// Adapts the content to this start of the machine, and to the place of the file.
    ///
    /// If the machine may have been restarted since the file was last opened, the revision and the ID of the last lease are increased: by ``step``, and
    /// to at least those of a new file. A process that is not permitted to read the boot ID does so whenever it opens a file that a process with this
    /// permission uses too; if no process has it, each commit is synchronized, and none can be lost.
    ///
    /// If the file is a copy or was moved, the transactions are unknown that the original has made since. All of its numbers are less than those of a
    /// new file, as long as the date does not go back, so the numbers continue with those of a new file. With a step in addition, they would be ahead
    /// of the date, and greater than those of a new file after a loss. Only if they are greater already, the step is added.
    ///
    /// They are not increased if the file was just created (`isNew`).
    ///
    /// A file that is new at its place may have replaced another one, which a process still uses. This process notices it after the interval of its
    /// watches: until then, the new file gives no numbers.
    private func begin(_ database: Database, isNew: Bool, at place: SQLitePlace) throws {
        func content() throws -> SQLiteContent {
            try SQLiteContent(database, clock: clock, boot: boot, history: history)
        }
        let isMoved = try content().file != place.identity
        if isMoved { wait.settle(settleTime) }
        var content = try content()
        let isRestarted = content.boot != boot
        if isRestarted || isMoved { content.begin(boot: boot, file: place.identity) }
        if isRestarted || isMoved, !isNew {
            let first = firstRevision()
            try content.renumber { last in
                isRestarted || last >= first ? max(try last.adding(Self.step), first) : first
            }
        }
        try content.extendLeasesOfEarlierBoots()
        try content.save()
    }

    private static let foreign = StoreError(
        .refused,
        "the file is a database of another kind, or of a newer version of this library"
    )

    /// The statements that create the tables. Times are nanoseconds of ``BootClock``. Keys are stored as UTF-8, so that SQLite compares them byte by
    /// byte. The column `start` of a change is the total number of bytes of all changes before it.
    private static let tables = """
        CREATE TABLE meta (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            revision INTEGER NOT NULL, compacted INTEGER NOT NULL, lease INTEGER NOT NULL, written INTEGER NOT NULL,
            boot TEXT, file BLOB
        );
        CREATE TABLE lease (
            id INTEGER PRIMARY KEY, duration INTEGER NOT NULL, renewed INTEGER NOT NULL, expiry INTEGER NOT NULL, boot TEXT
        );
        CREATE INDEX lease_expiry ON lease (expiry);
        CREATE TABLE entry (
            key BLOB PRIMARY KEY, value BLOB NOT NULL, created INTEGER NOT NULL, modified INTEGER NOT NULL, lease INTEGER
        ) WITHOUT ROWID;
        CREATE INDEX entry_lease ON entry (lease, key) WHERE lease IS NOT NULL;
        CREATE TABLE change (
            id INTEGER PRIMARY KEY, revision INTEGER NOT NULL, start INTEGER NOT NULL, key BLOB NOT NULL, value BLOB,
            created INTEGER, lease INTEGER
        );
        CREATE INDEX change_revision ON change (revision);
        CREATE INDEX change_start ON change (start);
        """
}

extension StoreError {
    static var replacedFile: Self { Self(.replaced, "the file of the store was deleted, moved or replaced") }

    static var forbiddenFile: Self {
        Self(.unauthorized, "the process is not permitted to write the file of the store, or its folder")
    }
}

/// The clock of a ``SQLiteStore``: the time since the machine was started, which is the same for all of its processes, and an identity of this start
/// of the machine (a boot ID).
///
/// The clock continues while the machine sleeps, and cannot be set: all processes agree on the end of a lease, until the machine is restarted.
struct BootClock: Sendable {
    /// The closure that returns the nanoseconds since the machine was started.
    let now: @Sendable () -> Int64
    /// The closure that returns the boot ID of the machine, which is different after each restart; `nil` if this process is not permitted to read the
    /// ID.
    let boot: @Sendable () -> String?

    /// The clock of this machine: `CLOCK_BOOTTIME` on Linux, `CLOCK_MONOTONIC_RAW` on Apple platforms.
    static let system = BootClock(now: { continuousTime().wholeNanoseconds }, boot: readBoot)

    private static func readBoot() -> String? {
        #if canImport(Darwin)
        // A UUID as text, and a zero.
        var text = [CChar](repeating: 0, count: 64)
        var size = text.count
        guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return nil }
        let boot = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
        guard let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8) else {
            return nil
        }
        let boot = text.trimmingCharacters(in: .whitespacesAndNewlines)
        #endif
        return boot.isEmpty ? nil : boot
    }
}

#endif
