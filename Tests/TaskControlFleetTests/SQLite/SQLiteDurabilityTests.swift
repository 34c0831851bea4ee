#if SQLite
import Foundation
import GRDB
import TaskControl
import Testing

@testable import TaskControlFleet

/// Numbers that are not given twice, also after a power failure.
@Suite struct SQLiteDurabilityTests {
    /// Opens a file, and returns what was written to it at which level of synchronization, and the level afterwards.
    private func levels(_ file: SQLiteFile) async throws -> (writing: Set<String>, later: [Int?]) {
        let (level, writing) = (Locked(""), Locked<Set<String>>([]))
        let database = try file.open { connection in
            connection.trace { event in
                let sql = "\(event)"
                let pragma = "PRAGMA synchronous = "
                if sql.hasPrefix(pragma) {
                    level.withLock { $0 = String(sql.dropFirst(pragma.count)) }
                } else if ["CREATE TABLE meta", "INSERT INTO meta", "UPDATE meta"].contains(where: sql.hasPrefix) {
                    let level = level.withLock(\.self)
                    writing.withLock { _ = $0.insert(level) }
                }
            }
        }.database
        let later = try await database.read { connection in
            [
                try Int.fetchOne(connection, sql: "PRAGMA synchronous"),
                try Int.fetchOne(connection, sql: "PRAGMA fullfsync"),
            ]
        }
        return (writing.withLock(\.self), later)
    }

    @Test func theFirstNumbersAndEachStepAreOnTheDiskBeforeNumbersAreGiven() async throws {
        let fixture = try SQLiteFixture()
        for boot in ["first", "second"] {
            fixture.restart(as: boot, now: .seconds(1))
            let levels = try await levels(fixture.file())
            #expect(levels.writing == ["FULL"])
            #expect(levels.later == [1, 0])
        }
        // Nothing is added, and nothing is written.
        #expect(try await levels(fixture.file()).writing == [])
        fixture.restart(as: nil, now: .seconds(1))
        #expect(try await levels(fixture.file()).later == [2, 1])
    }

    @Test func aProcessThatMayNotReadTheStartOfTheMachineContinuesAfterAllNumbers() async throws {
        let fixture = try SQLiteFixture()
        var last: Int64 = 0
        // A process that knows the start does not synchronize each commit, so that the last of them can be lost before the next process opens the file.
        for boot in ["first", nil, nil, "first", "second", nil] {
            fixture.restart(as: boot, now: .seconds(1))
            let isSame = boot == "first" && last > 0
            let next = try await fixture.store().put("a")
            #expect(next - last == (last == 0 ? 2 : isSame ? 1 : 1 << 24 + 1))
            last = next
        }
    }

    @Test func aNewFileHasNoStep() async throws {
        let fixture = try SQLiteFixture()
        fixture.restart(as: nil, now: .seconds(1))
        #expect(try await fixture.store(firstRevision: 100).put("a") == 101)
        // The identity was not known, so that this can be another start.
        fixture.restart(as: "first", now: .seconds(1))
        #expect(try await fixture.store().put("a") == 102 + 1 << 24)
    }

    @Test func aFileThatReplacesALostOneGivesGreaterTokens() async throws {
        let fixture = try SQLiteFixture()
        let start = Date(timeIntervalSinceReferenceDate: 8e8)
        let lost: Int64
        do {
            let store = fixture.store(firstRevision: SQLiteFile.revision(at: start))
            lost = try await store.put("a")
        }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: fixture.path + suffix) }
        // A moment later: within the same second.
        let store = fixture.store(firstRevision: SQLiteFile.revision(at: start + 0.001))
        #expect(try await store.put("a") > lost)
        // A watch that continues from the lost file has missed what happened in between.
        struct Found: Error { let changes: StoreChanges }
        await #expect { try await store.watch(.prefix(""), after: lost) { throw Found(changes: $0) } } throws: {
            ($0 as? Found)?.changes.isComplete == false
        }
    }

    /// As long as the date does not go back.
    @Test(arguments: [0, 1, 3])
    func noNumberGoesBackAfterCopiesAndALoss(_ copies: Int) async throws {
        let fixture = try SQLiteFixture()
        var (date, last): (Int64, Int64) = (1 << 40, 0)
        func put() async throws {
            date += 100_000
            let store = fixture.store(firstRevision: date)
            let next = try await store.put("a")
            #expect(next > last)
            last = next
            let lease = try await store.grantLease(timeToLive: .seconds(60)).id.rawValue
            #expect(lease > lastLease)
            lastLease = lease
        }
        var lastLease: Int64 = 0
        try await put()
        for _ in 0..<copies {
            try SQLitePlaceTests.Change.replacedByACopy.happen(to: fixture)
            try await put()
        }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: fixture.path + suffix) }
        try await put()
    }

    /// If the date is one of before, no number is given twice either.
    @Test func aCopyGivesOtherNumbersThanTheOriginalAlsoAtAnEarlierDate() async throws {
        let fixture = try SQLiteFixture()
        let backup = fixture.path + ".backup"
        let store = fixture.store(firstRevision: 1 << 40)
        try await store.put("a")
        try DatabaseQueue(path: fixture.path).inDatabase { _ = try $0.checkpoint(.full) }
        try FileManager.default.copyItem(atPath: fixture.path, toPath: backup)
        var last: Int64 = 0
        for _ in 0..<10 { last = try await store.put("b") }
        #expect(rename(backup, fixture.path) == 0)
        for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: fixture.path + suffix) }
        #expect(try await fixture.store(firstRevision: 1 << 39).put("c") > last)
    }

    /// All of them synchronize each commit, so that none is lost: their numbers stay behind the date.
    @Test func processesThatMayNotReadTheStartOfTheMachineTakeNoSteps() async throws {
        let fixture = try SQLiteFixture()
        fixture.restart(as: nil, now: .seconds(1))
        let first = try await fixture.store().put("a")
        for opening in 1...5 { #expect(try await fixture.store().put("a") == first + Int64(opening)) }
    }

    @Test func theFirstRevisionFollowsTheCalendar() {
        #expect(SQLiteFile.revision(at: Date(timeIntervalSinceReferenceDate: 8e8)) == 800_000_000 << 20)
        let moment = Date(timeIntervalSinceReferenceDate: 8e8 + 0.5)
        #expect(SQLiteFile.revision(at: moment) == 1_600_000_001 << 19)
        #expect(SQLiteFile.revision(at: moment + 2e-6) > SQLiteFile.revision(at: moment))
        #expect(SQLiteFile.revision(at: .distantPast) == 1)
        // A JSON number represents it.
        #expect(SQLiteFile.revision(at: .distantFuture) < 1 << 53)
        #expect(SQLiteFile.revision(at: Date(timeIntervalSinceReferenceDate: .infinity)) < 1 << 53)
        #expect(SQLiteFile.revision(at: Date(timeIntervalSinceReferenceDate: .nan)) >= 1)
    }
}
#endif
