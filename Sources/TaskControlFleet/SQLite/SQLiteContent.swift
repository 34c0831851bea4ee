#if SQLite

internal import Foundation
internal import GRDB

/// The leases, entries and recorded changes of a ``SQLiteStore``, as one transaction of SQLite reads and changes them.
///
/// Leases and transactions behave as in `MemoryStoreStateMachine`.
struct SQLiteContent {
    let database: Database
    /// The time of the transaction in nanoseconds since the machine was started. It is read after SQLite has acquired the lock (for writing) or the
    /// snapshot (for reading).
    let now: Int64
    /// The boot ID (see ``BootClock/boot``) that is recorded in the file; `nil` if no process that could read its boot
    /// ID has opened the file.
    private(set) var boot: String?
    /// The identity of the file that is recorded in the file (``SQLitePlace/identity``); `nil` in a new file.
    private(set) var file: Data?
    private(set) var revision: Int64
    /// The last revision whose recorded changes were removed from the file.
    private(set) var compacted: Int64
    private var lastLease: Int64
    private let ownBoot: String?
    private let history: SQLiteHistoryLimit
    /// The total number of bytes of all changes that were ever recorded, including those that were removed.
    private var written: Int64
    private let firstExpiry: Int64
    private var isChanged = false

    init(_ database: Database, clock: BootClock, boot: String?, history: SQLiteHistoryLimit) throws {
        self.database = database
        ownBoot = boot
        self.history = history
        let sql = "SELECT revision, compacted, lease, written, boot, file, (SELECT min(expiry) FROM lease) FROM meta"
        guard let row = try Row.fetchOne(database.cachedStatement(sql: sql)) else { throw StoreError.damagedFile }
        revision = try row.integer(0)
        compacted = try row.integer(1)
        lastLease = try row.integer(2)
        self.boot = String.fromDatabaseValue(row[4])
        written = try row.integer(3)
        file = Data.fromDatabaseValue(row[5])
        firstExpiry = Int64.fromDatabaseValue(row[6]) ?? .max
        now = clock.now()
    }

    var hasExpiredLeases: Bool { firstExpiry <= now }

    /// Writes the revision, the other counters, the boot ID and the identity to the file, if they have changed.
    mutating func save() throws {
        guard isChanged else { return }
        isChanged = false
        try run(
            "UPDATE meta SET revision = ?, compacted = ?, lease = ?, written = ?, boot = ?, file = ?",
            [revision, compacted, lastLease, written, boot, file]
        )
    }

    // MARK: Leases

    mutating func grant(_ timeToLive: Int64) throws -> LeaseID {
        let (id, expiry) = (try lastLease.adding(1), try now.adding(timeToLive))
        try run(
            "INSERT INTO lease (id, duration, renewed, expiry, boot) VALUES (?, ?, ?, ?, ?)",
            [id, timeToLive, now, expiry, ownBoot]
        )
        lastLease = id
        isChanged = true
        return LeaseID(rawValue: id)
    }

    /// Renews a lease, and returns its duration in nanoseconds.
    ///
    /// - Throws: ``StoreError`` with the reason ``StoreError/Reason/leaseNotFound`` if there is no such lease; `DatabaseError` if SQLite fails.
    mutating func renew(_ id: LeaseID) throws -> Int64 {
        guard let row = try rows("SELECT duration FROM lease WHERE id = ?", [id.rawValue]).first else {
            throw StoreError.noLease(id)
        }
        let timeToLive = try row.integer(0)
        try run(
            "UPDATE lease SET renewed = ?, expiry = ? WHERE id = ?",
            [now, try now.adding(timeToLive), id.rawValue]
        )
        return timeToLive
    }

    /// Ends a lease and removes its entries, in one revision. Does nothing if there is no such lease.
    mutating func revoke(_ id: LeaseID) throws {
        try run("DELETE FROM lease WHERE id = ?", [id.rawValue])
        let keys = try rows("SELECT key FROM entry WHERE lease = ? ORDER BY key", [id.rawValue])
        try run("DELETE FROM entry WHERE lease = ?", [id.rawValue])
        let next = try revision.adding(1)
        try commit(keys.map { .delete(key: $0.text(0), revision: next) })
    }

    /// Ends the leases that have expired, in the order of their expiry.
    mutating func endExpiredLeases() throws {
        guard hasExpiredLeases else { return }
        for row in try rows("SELECT id FROM lease WHERE expiry <= ? ORDER BY expiry, id", [now]) {
            try revoke(LeaseID(rawValue: row.integer(0)))
        }
    }

    /// Lets the leases that were granted or renewed before the last restart of the machine end one duration after now: those with another boot ID, and
    /// those that were renewed later than the current time of the clock, which begins at zero with each restart.
    ///
    /// They do not end at once: another boot ID can also be that of another machine, whose process considers its lease valid for one duration. It cannot
    /// renew the lease, since the file now has the boot ID of this machine.
    func extendLeasesOfEarlierBoots() throws {
        try run(
            "UPDATE lease SET renewed = ?, expiry = ? + min(duration, ?), boot = ? WHERE renewed > ? OR boot <> ?",
            [now, now, .max - max(0, now), ownBoot, now, ownBoot]
        )
    }

    /// Records the boot ID and the identity of the file.
    ///
    /// - Parameters:
    ///   - boot: The boot ID; `nil` if it is not known: the file then keeps the recorded one.
    ///   - file: The identity of the file.
    mutating func begin(boot: String?, file: Data) {
        (self.boot, self.file, isChanged) = (boot ?? self.boot, file, true)
    }

    /// Increases the revision and the ID of the last lease, so that numbers of transactions that the file does not have are not used again. Removes
    /// all recorded changes.
    ///
    /// - Parameter number: Returns the number that replaces a number.
    mutating func renumber(_ number: (Int64) throws -> Int64) throws {
        (revision, lastLease) = (try number(revision), try number(lastLease))
        try dropChanges(upTo: revision)
    }

    // MARK: Entries

    mutating func transact(_ transaction: StoreTransaction) throws -> StoreTransaction.Result {
        let succeeded = try transaction.comparisons.allSatisfy { try $0.holds(for: entry($0.key)) }
        // Both, so that a mistake is an error regardless of the entries.
        guard
            StoreTransaction.changeNoKeyTwice(transaction.success),
            StoreTransaction.changeNoKeyTwice(transaction.failure)
        else { throw StoreError(.refused, "a transaction changes a key twice") }
        let operations = succeeded ? transaction.success : transaction.failure
        for case .put(_, _, let lease?) in operations
        where try rows("SELECT 1 FROM lease WHERE id = ?", [lease.rawValue]).isEmpty {
            throw StoreError.noLease(lease)
        }
        var (changes, reads) = ([StoreChanges.Change](), [[StoreEntry]]())
        for operation in operations {
            switch operation {
            case .put(let key, let value, let lease): changes.append(.put(try put(key, value, lease)))
            case .delete(let keys): changes += try remove(keys)
            case .read(let range): reads.append(try read(range))
            }
        }
        try commit(changes)
        return StoreTransaction.Result(succeeded: succeeded, reads: reads, revision: revision)
    }

    func read(_ range: StoreRange) throws -> [StoreEntry] {
        let bounds = Bounds(range.keys)
        let order = range.order == .key ? "key" : "created, key"
        return try rows(
            "SELECT key, value, created, modified, lease FROM entry WHERE key >= ? AND key \(bounds.comparison) ? ORDER BY \(order) LIMIT ?",
            [bounds.first, bounds.last, range.limit.map { Int64(max(1, $0)) } ?? -1]
        ).map { try StoreEntry($0) }
    }

    private func entry(_ key: String) throws -> StoreEntry? { try read(.key(key)).first }

    private func put(_ key: String, _ value: Data, _ lease: LeaseID?) throws -> StoreEntry {
        let next = try revision.adding(1)
        let entry = StoreEntry(
            key: key,
            value: value,
            createRevision: try self.entry(key)?.createRevision ?? next,
            modifyRevision: next,
            lease: lease
        )
        try run(
            "INSERT OR REPLACE INTO entry (key, value, created, modified, lease) VALUES (?, ?, ?, ?, ?)",
            [Data(key.utf8), value, entry.createRevision, next, lease?.rawValue]
        )
        return entry
    }

    private func remove(_ keys: StoreRange.Keys) throws -> [StoreChanges.Change] {
        let bounds = Bounds(keys)
        let condition = "WHERE key >= ? AND key \(bounds.comparison) ?"
        let removed = try rows("SELECT key FROM entry \(condition) ORDER BY key", [bounds.first, bounds.last])
        try run("DELETE FROM entry \(condition)", [bounds.first, bounds.last])
        let next = try revision.adding(1)
        return removed.map { .delete(key: $0.text(0), revision: next) }
    }

    // MARK: Changes

    /// Returns the recorded changes of a range after a revision. The revision must not be less than ``compacted``: earlier changes have been removed.
    func changes(in keys: StoreRange.Keys, after revision: Int64) throws -> [StoreChanges.Change] {
        let bounds = Bounds(keys)
        return try rows(
            "SELECT key, value, created, revision, lease FROM change WHERE revision > ? AND key >= ? AND key \(bounds.comparison) ? ORDER BY id",
            [revision, bounds.first, bounds.last]
        ).map { row in
            (row[1] as DatabaseValue).isNull
                ? .delete(key: row.text(0), revision: try row.integer(3)) : .put(try StoreEntry(row))
        }
    }

    /// Assigns the next revision to changes, records them for watches, and removes recorded changes beyond the limits of the history.
    private mutating func commit(_ changes: [StoreChanges.Change]) throws {
        guard !changes.isEmpty else { return }
        revision = try revision.adding(1)
        isChanged = true
        for change in changes {
            switch change {
            case .put(let entry): try keep(entry.key, entry.value, entry.createRevision, entry.lease?.rawValue)
            case .delete(let key, _): try keep(key, nil, nil, nil)
            }
        }
        // The numbers of the changes have no gaps. The changes of one revision are kept or dropped together.
        let beyond = "SELECT revision FROM change WHERE id <= (SELECT max(id) FROM change) - ? ORDER BY id DESC LIMIT 1"
        if let row = try rows(beyond, [history.changes]).first { try dropChanges(upTo: row.integer(0)) }
        let large = "SELECT revision FROM change WHERE start < ? ORDER BY start DESC LIMIT 1"
        if let row = try rows(large, [try written.adding(-history.bytes)]).first {
            try dropChanges(upTo: row.integer(0))
        }
    }

    private mutating func keep(_ key: String, _ value: Data?, _ created: Int64?, _ lease: Int64?) throws {
        try run(
            "INSERT INTO change (revision, start, key, value, created, lease) VALUES (?, ?, ?, ?, ?, ?)",
            [revision, written, Data(key.utf8), value, created, lease]
        )
        written = try written.adding(Int64(key.utf8.count + (value?.count ?? 0)) + SQLiteHistoryLimit.bytesPerChange)
    }

    private mutating func dropChanges(upTo revision: Int64) throws {
        try run("DELETE FROM change WHERE revision <= ?", [revision])
        compacted = revision
        isChanged = true
    }

    // MARK: SQL

    private func run(_ sql: String, _ arguments: StatementArguments) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    private func rows(_ sql: String, _ arguments: StatementArguments) throws -> [Row] {
        try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments)
    }

    /// The bounds of a range in a SQL condition: the first key, and the last key (compared with `<=`) or the first key after the range (compared with
    /// `<`).
    private struct Bounds {
        let first: Data
        let last: Data
        let comparison: String

        init(_ keys: StoreRange.Keys) {
            switch keys {
            case .key(let key):
                first = Data(key.utf8)
                last = first
                comparison = "<="
            case .prefix(let prefix):
                first = Data(prefix.utf8)
                // The byte 0xFF does not occur in UTF-8.
                last = first + [0xFF]
                comparison = "<"
            }
        }
    }
}

extension StoreEntry {
    /// Creates an entry from a row whose columns are `key`, `value`, `created`, `modified` and `lease`, in this order.
    fileprivate init(_ row: Row) throws {
        self.init(
            key: row.text(0),
            value: Data.fromDatabaseValue(row[1]) ?? Data(),
            createRevision: try row.integer(2),
            modifyRevision: try row.integer(3),
            lease: Int64.fromDatabaseValue(row[4]).map(LeaseID.init)
        )
    }
}

extension Row {
    // GRDB's converting subscripts end the process if a column has another type. These functions do not.

    fileprivate func integer(_ index: Int) throws -> Int64 {
        guard let number = Int64.fromDatabaseValue(self[index]) else { throw StoreError.damagedFile }
        return number
    }

    fileprivate func text(_ index: Int) -> String {
        String(decoding: Data.fromDatabaseValue(self[index]) ?? Data(), as: UTF8.self)
    }
}

extension Int64 {
    /// Returns the sum of two numbers. Throws if the sum overflows, which only happens when the file is damaged.
    func adding(_ other: Int64) throws -> Int64 {
        let (sum, isOverflow) = addingReportingOverflow(other)
        if isOverflow { throw StoreError.damagedFile }
        return sum
    }
}

extension StoreError {
    fileprivate static var damagedFile: Self { Self(.refused, "the file does not have the content of a store") }
    fileprivate static func noLease(_ id: LeaseID) -> Self { Self(.leaseNotFound, "no lease has the ID \(id)") }
}

/// The limits of the recorded changes that a ``SQLiteStore`` keeps for watches. When a limit is exceeded, the oldest changes are removed.
struct SQLiteHistoryLimit: Hashable, Sendable {
    /// The maximum number of changes.
    let changes: Int
    /// The maximum number of bytes of all changes: the sizes of their keys and values, and ``bytesPerChange`` for each.
    let bytes: Int64

    /// The number of bytes that a change needs in addition to its key and value, including its index rows, rounded up.
    static let bytesPerChange: Int64 = 64

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - changes: The maximum number of changes.
    ///   - bytes: The maximum size of all changes. By default 4 MiB: 1,000 changes with values of 4 KiB, which is more than the entries of leases and
    ///     the results of most ``FleetFlight`` operations need.
    init(changes: Int, bytes: Int = 4 << 20) {
        (self.changes, self.bytes) = (changes, Int64(bytes))
    }
}

#endif
