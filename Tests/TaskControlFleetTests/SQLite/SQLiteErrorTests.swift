#if SQLite
import Foundation
import GRDB
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlFleet

@Suite struct SQLiteErrorTests {
    @Test(arguments: [
        (ResultCode.SQLITE_BUSY, StoreError.Reason.unavailable), (.SQLITE_BUSY_SNAPSHOT, .unavailable),
        (.SQLITE_LOCKED, .unavailable), (.SQLITE_INTERRUPT, .unavailable), (.SQLITE_ABORT, .unavailable),
        (.SQLITE_CANTOPEN, .unavailable), (.SQLITE_IOERR_WRITE, .unavailable), (.SQLITE_PROTOCOL, .unavailable),
        (.SQLITE_NOMEM, .unavailable), (.SQLITE_READONLY, .unauthorized), (.SQLITE_READONLY_DIRECTORY, .unauthorized),
        (.SQLITE_PERM, .unauthorized), (.SQLITE_AUTH, .unauthorized), (.SQLITE_FULL, .refused),
        (.SQLITE_CORRUPT, .refused), (.SQLITE_NOTADB, .refused), (.SQLITE_TOOBIG, .refused),
        (.SQLITE_CONSTRAINT, .refused), (.SQLITE_MISUSE, .refused), (.SQLITE_READONLY_DBMOVED, .replaced),
    ])
    func errorsOfSQLiteHaveReasons(_ code: ResultCode, _ reason: StoreError.Reason) {
        let error = DatabaseError(resultCode: code, message: "message", sql: "SELECT ?", arguments: ["secret"])
        let before = StoreError(error, in: .beforeCommit)
        #expect(before.reason == reason)
        #expect(before.message == "message (SQLite \(code.rawValue))")
        // The disk may have the commit, unless it had no room for it.
        #expect(StoreError(error, in: .commit).reason == (code == .SQLITE_FULL ? .refused : .ambiguous))
    }

    @Test func otherErrorsDoNotReachCallers() {
        struct Other: Error {}
        #expect(StoreError(Other(), in: .beforeCommit) == StoreError(.refused, "Other"))
        #expect(StoreError(Other(), in: .commit).reason == .ambiguous)
        let error = StoreError(.leaseNotFound, "gone")
        #expect(StoreError(error, in: .beforeCommit) == error)
    }

    @Test(arguments: ["", ":memory:", "file:fleet.sqlite?mode=memory"])
    func aPathThatOtherProcessesCannotOpenIsRefused(_ path: String) {
        #expect { try SQLiteStore(path: path) } throws: { ($0 as? StoreError)?.reason == .refused }
    }

    @Test func aMissingFolderIsUnavailableUntilItIsThere() async throws {
        let fixture = try SQLiteFixture()
        let store = fixture.store()
        try FileManager.default.removeItem(at: fixture.folder)
        #expect(await reason { try await store.put("a") } == .unavailable)
        try FileManager.default.createDirectory(at: fixture.folder, withIntermediateDirectories: true)
        try await store.put("a")
        #expect(try await store.keys() == ["a"])
    }

    @Test func anotherFileIsRefusedAndNotChanged() async throws {
        let fixture = try SQLiteFixture()
        let text = Data(String(repeating: "not a database ", count: 1_000).utf8)
        try text.write(to: URL(filePath: fixture.path))
        let store = fixture.store()
        #expect(await reason { try await store.put("a") } == .refused)
        #expect(try Data(contentsOf: URL(filePath: fixture.path)) == text)
        try FileManager.default.removeItem(atPath: fixture.path)
        let database = try fixture.connection()
        try await database.write { try $0.execute(sql: "CREATE TABLE book (title TEXT)") }
        #expect(await reason { try await store.put("a") } == .refused)
        #expect(try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") } == 1)
    }

    @Test func aFileOfANewerVersionIsRefused() async throws {
        let fixture = try SQLiteFixture()
        try await fixture.store().put("a")
        try await fixture.connection().write { try $0.execute(sql: "PRAGMA user_version = 2") }
        #expect(await reason { _ = try await fixture.store().keys() } == .refused)
    }

    @Test func aFileThatANewerVersionHasChangedIsRefusedByAStoreThatUsesIt() async throws {
        let fixture = try SQLiteFixture()
        let store = fixture.store()
        let lease = try await store.grantLease(timeToLive: .seconds(5))
        try await store.put("a", lease: lease.id)
        let database = try fixture.connection()
        // Among others, it has renamed a table.
        try await database.write {
            try $0.execute(
                sql: "PRAGMA user_version = 2; ALTER TABLE lease RENAME TO leases; ALTER TABLE meta RENAME TO counters"
            )
        }
        for _ in 0..<2 {
            #expect(await reason { try await store.put("b") } == .refused)
            #expect(await message { _ = try await store.renewLease(lease.id) }?.contains("newer version") == true)
            #expect(await message { _ = try await store.keys() }?.contains("newer version") == true)
        }
        // An expired lease is not removed either.
        fixture.advance(by: .seconds(5))
        #expect(await reason { _ = try await store.keys() } == .refused)
        #expect(try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM entry") } == 1)
    }

    /// Returns the message of the error of an operation.
    private func message(_ operation: () async throws -> Void) async -> String? {
        do {
            try await operation()
            return nil
        } catch {
            return (error as? StoreError)?.message
        }
    }

    @Test func damagedContentIsRefused() async throws {
        let fixture = try SQLiteFixture()
        let store = fixture.store()
        try await store.put("a")
        let database = try fixture.connection()
        try await database.write { try $0.execute(sql: "UPDATE entry SET created = 'text'") }
        #expect(await reason { _ = try await store.keys() } == .refused)
        try await database.write { try $0.execute(sql: "DELETE FROM meta") }
        #expect(await reason { try await store.put("b") } == .refused)
    }

    @Test(arguments: ["UPDATE meta SET revision = ?", "UPDATE meta SET lease = ?", "UPDATE lease SET duration = ?"])
    func numbersThatAreTooLargeForAnotherOneAreDamage(_ change: String) async throws {
        let fixture = try SQLiteFixture()
        let store = fixture.store()
        let lease = try await store.grantLease(timeToLive: .seconds(60))
        try await store.put("a", lease: lease.id)
        try await fixture.connection().write { try $0.execute(sql: change, arguments: [Int64.max]) }
        let isRevision = change.contains("revision")
        #expect(await reason { try await store.put("a") } == (isRevision ? .refused : nil))
        #expect(await reason { try await store.revokeLease(LeaseID(rawValue: 99)) } == (isRevision ? .refused : nil))
        let delete = StoreTransaction(success: [.delete(.key("a"))])
        #expect(await reason { _ = try await store.transact(delete) } == (isRevision ? .refused : nil))
        #expect(
            await reason { _ = try await store.grantLease(timeToLive: .seconds(1)) }
                == (change.contains("lease = ") ? .refused : nil)
        )
        #expect(
            await reason { _ = try await store.renewLease(lease.id) } == (change.contains("duration") ? .refused : nil)
        )
        // The step of another start of the machine.
        fixture.restart(as: "second", now: .seconds(1))
        #expect(
            await reason { _ = try await fixture.store().keys() } == (change.contains("meta") ? .refused : nil)
        )
    }

    @Test func damageThatIsFoundAfterAChangeTakesTheChangeBack() async throws {
        let fixture = try SQLiteFixture()
        let store = fixture.store()
        let start = try await store.put("b", "old")
        let database = try fixture.connection()
        try await database.write { try $0.execute(sql: "UPDATE entry SET created = 'text'") }
        let both = StoreTransaction(success: [.put("a", Data()), .put("b", Data())])
        #expect(await reason { _ = try await store.transact(both) } == .refused)
        #expect(try await store.read(.key("a")).entries.isEmpty)
        #expect(try await store.read(.key("a")).revision == start)
        #expect(try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM change") } == 1)
    }

    @Test func anErrorBeforeAChangeStillEndsLeasesThatHaveExpired() async throws {
        let fixture = try SQLiteFixture()
        let store = fixture.store()
        let lease = try await store.grantLease(timeToLive: .seconds(5))
        try await store.put("a", lease: lease.id)
        fixture.advance(by: .seconds(5))
        #expect(await reason { _ = try await store.renewLease(lease.id) } == .leaseNotFound)
        let database = try fixture.connection()
        #expect(try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM entry") } == 0)
    }

    @Test func aFileThatAnotherProcessHasLockedIsUnavailable() async throws {
        let fixture = try SQLiteFixture()
        let store = fixture.store(busyTimeout: .milliseconds(1))
        let lease = try await store.grantLease(timeToLive: .seconds(5))
        try await store.put("a", lease: lease.id)
        let other = try fixture.connection()
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        #expect(await reason { _ = try await store.renewLease(lease.id) } == .unavailable)
        #expect(await reason { try await store.put("b") } == .unavailable)
        // Reading needs no lock, except to end a lease.
        #expect(try await store.keys() == ["a"])
        let proof = StoreTransaction(comparisons: [.present("a")], success: [.read(.key("a"))])
        #expect(try await store.transact(proof).succeeded)
        fixture.advance(by: .seconds(5))
        #expect(await reason { _ = try await store.keys() } == .unavailable)
        try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        #expect(try await store.keys() == [])
    }

    @Test func aWatchSurvivesATimeInWhichTheFileIsLocked() async throws {
        let (fixture, clock) = (try SQLiteFixture(), TestClock())
        let store = fixture.store(busyTimeout: .milliseconds(1), clock: clock)
        let lease = try await store.grantLease(timeToLive: .seconds(5))
        let start = try await store.put("a", lease: lease.id)
        let other = try fixture.connection()
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        fixture.advance(by: .seconds(5))
        let reports = Locked<[StoreChanges]>([])
        let watch = Task {
            try await store.watch(.prefix(""), after: start) { changes in reports.withLock { $0.append(changes) } }
        }
        defer { watch.cancel() }
        for _ in 0..<3 {
            try await clock.waitForSleepers()
            await clock.advance(by: .milliseconds(100))
        }
        try await clock.waitForSleepers()
        #expect(reports.withLock(\.self) == [])
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        await clock.advance(by: .milliseconds(100))
        try await clock.waitForSleepers()
        #expect(reports.withLock { $0.flatMap(\.changes) } == [.delete(key: "a", revision: start + 1)])
    }

    @Test func aWatchThrowsAnErrorThatTimeDoesNotResolve() async throws {
        let fixture = try SQLiteFixture()
        try Data(String(repeating: "not a database ", count: 1_000).utf8).write(to: URL(filePath: fixture.path))
        #expect(await reason { try await fixture.store().watch(.prefix(""), after: 1) { _ in } } == .refused)
    }

    @Test func aCancelledCallerLeavesWhileAnotherProcessHasTheLock() async throws {
        let fixture = try SQLiteFixture()
        let store = fixture.store(busyTimeout: .seconds(60))
        try await store.put("a")
        let other = try fixture.connection()
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let calls = (0..<3).map { number in Task { try await store.put("\(number)") } }
        for call in calls { call.cancel() }
        for call in calls {
            let result = await call.result
            #expect(throws: CancellationError.self) { try result.get() }
        }
        try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        // Behind the calls that were cancelled. Those that had not begun had no effect.
        #expect(try await store.keys().count <= 2)
    }
}
#endif
