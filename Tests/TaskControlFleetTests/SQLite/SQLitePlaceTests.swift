#if SQLite
import Foundation
import GRDB
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlFleet

/// Files that are deleted, moved, replaced or linked under a store that uses them.
@Suite(.timeLimit(.minutes(5)))
struct SQLitePlaceTests {
    /// A change of the file at a path.
    enum Change: String, CaseIterable {
        case deleted, deletedWithCompanions, renamed, replacedByAnotherStore, replacedByACopy, movedBehindALink

        /// Whether the file afterwards contains the entries and leases of before.
        var keepsContent: Bool { self == .replacedByACopy || self == .movedBehindALink }

        func happen(to fixture: SQLiteFixture) throws {
            let (files, path, moved) = (FileManager.default, fixture.path, fixture.path + ".moved")
            switch self {
            case .deleted: try files.removeItem(atPath: path)
            case .deletedWithCompanions: for end in ["", "-wal", "-shm"] { try files.removeItem(atPath: path + end) }
            case .renamed: try files.moveItem(atPath: path, toPath: moved)
            case .replacedByAnotherStore:
                let other = try SQLiteFixture()
                defer { withExtendedLifetime(other) {} }
                _ = try other.file().open()
                #expect(rename(other.path, path) == 0)
                for end in ["-wal", "-shm"] { try files.removeItem(atPath: path + end) }
            case .replacedByACopy:
                // The copy has the changes in the "-wal" as well.
                try DatabaseQueue(path: path).inDatabase { _ = try $0.checkpoint(.full) }
                try files.copyItem(atPath: path, toPath: moved)
                #expect(rename(moved, path) == 0)
            case .movedBehindALink:
                try files.moveItem(atPath: path, toPath: moved)
                try files.createSymbolicLink(atPath: path, withDestinationPath: moved)
            }
        }
    }

    @Test(arguments: Change.allCases)
    func aStoreNoticesThatItsFileIsNoLongerAtThePath(_ change: Change) async throws {
        let fixture = try SQLiteFixture()
        defer { withExtendedLifetime(fixture) {} }
        let (store, other) = (try SQLiteStore(path: fixture.path), try SQLiteStore(path: fixture.path))
        let lease = try await store.grantLease(timeToLive: .seconds(60))
        let last = try await store.put("a", lease: lease.id)
        try change.happen(to: fixture)
        #expect(await reason { _ = try await store.renewLease(lease.id) } == .replaced)
        // From then on it uses the file that is there, as a new process does.
        #expect(
            await reason { _ = try await store.renewLease(lease.id) } == (change.keepsContent ? nil : .leaseNotFound)
        )
        let next = try await other.put("b")
        #expect(next > last)
        #expect(try await store.keys() == (change.keepsContent ? ["a", "b"] : ["b"]))
        #expect(try await other.grantLease(timeToLive: .seconds(60)).id.rawValue > lease.id.rawValue)
    }

    @Test(arguments: Change.allCases)
    func readersAndWatchesNoticeItToo(_ change: Change) async throws {
        let fixture = try SQLiteFixture()
        let (reader, watcher, transactor) = (fixture.store(), fixture.store(), fixture.store())
        for store in [reader, watcher, transactor] { try await store.put("a") }
        try change.happen(to: fixture)
        #expect(await reason { _ = try await reader.keys() } == .replaced)
        let proof = StoreTransaction(comparisons: [.present("a")], success: [.read(.key("a"))])
        #expect(await reason { _ = try await transactor.transact(proof) } == .replaced)
        #expect(await reason { try await watcher.watch(.prefix(""), after: 1) { _ in } } == .replaced)
    }

    /// Only the files next to it: SQLite would give two processes different changes.
    @Test(arguments: ["-wal", "-shm"])
    func aFileNextToItThatIsDeletedIsNoticed(_ end: String) async throws {
        let fixture = try SQLiteFixture()
        let store = fixture.store()
        let lease = try await store.grantLease(timeToLive: .seconds(60))
        try await store.put("a", lease: lease.id)
        try FileManager.default.removeItem(atPath: fixture.path + end)
        #expect(await reason { _ = try await store.renewLease(lease.id) } == .replaced)
        _ = try await store.renewLease(lease.id)
        #expect(try await fixture.store().keys() == ["a"])
    }

    @Test func aFileWithASecondNameIsRefusedUnderBoth() async throws {
        let (fixture, linked) = (try SQLiteFixture(), try SQLiteFixture())
        let store = fixture.store()
        let lease = try await store.grantLease(timeToLive: .seconds(60))
        try await store.put("a", lease: lease.id)
        try FileManager.default.linkItem(atPath: fixture.path, toPath: linked.path)
        #expect(await reason { _ = try await store.renewLease(lease.id) } == .refused)
        #expect(await reason { _ = try await store.keys() } == .refused)
        #expect(await reason { try await linked.store().put("b") } == .refused)
        #expect(await reason { try await fixture.store().put("b") } == .refused)
        try FileManager.default.removeItem(atPath: linked.path)
        _ = try await store.renewLease(lease.id)
        #expect(try await store.keys() == ["a"])
    }

    @Test func aFolderIsRefused() async throws {
        let fixture = try SQLiteFixture()
        try FileManager.default.createDirectory(atPath: fixture.path, withIntermediateDirectories: false)
        #expect(await reason { try await fixture.store().put("a") } == .refused)
    }

    @Test func aSymbolicLinkAndItsEndAreOneFile() async throws {
        let (fixture, link) = (try SQLiteFixture(), try SQLiteFixture())
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: fixture.path)
        let (one, other) = (link.store(), fixture.store())
        let first = try await one.put("a")
        #expect(try await other.put("b") == first + 1)
        #expect(try await one.keys() == ["a", "b"])
        // Until the link leads elsewhere.
        let elsewhere = try SQLiteFixture()
        try FileManager.default.removeItem(atPath: link.path)
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: elsewhere.path)
        #expect(await reason { try await one.put("c") } == .replaced)
        try await one.put("c")
        #expect(try await elsewhere.store().keys() == ["c"])
        #expect(try await other.keys() == ["a", "b"])
    }

    @Test func aBackupThatIsRestoredGivesGreaterNumbers() async throws {
        let fixture = try SQLiteFixture()
        let backup = fixture.path + ".backup"
        do {
            let store = fixture.store()
            try await store.put("a")
            try DatabaseQueue(path: fixture.path).inDatabase { _ = try $0.checkpoint(.full) }
            try FileManager.default.copyItem(atPath: fixture.path, toPath: backup)
            try await store.put("b")
        }
        try FileManager.default.removeItem(atPath: fixture.path)
        try FileManager.default.moveItem(atPath: backup, toPath: fixture.path)
        let store = fixture.store(firstRevision: 1 << 40)
        #expect(try await store.put("c") == 1 << 40 + 1)
        #expect(try await store.keys() == ["a", "c"])
        // Once.
        #expect(try await fixture.store(firstRevision: 1 << 50).put("d") == 1 << 40 + 2)
    }

    @Test func aBackupThatIsRestoredIntoAnOpenFileIsNoticed() async throws {
        let (fixture, other) = (try SQLiteFixture(), try SQLiteFixture())
        try await other.store().put("other")
        let store = fixture.store()
        for _ in 0..<5 { try await store.put("a") }
        let last = try await store.put("a")
        try other.connection().backup(to: fixture.connection())
        #expect(await reason { try await store.put("b") } == .replaced)
        #expect(try await store.put("b") > last)
        #expect(try await store.keys() == ["b", "other"])
    }

    // MARK: Holders

    @Test func aHolderLosesItsLeaseWhenItsWatchFindsAnotherFile() async throws {
        let (fixture, clock, begun) = (try SQLiteFixture(), TestClock(), Gate())
        let store = fixture.store(clock: clock)
        let holder = Task {
            try await withLease("job", in: store, timeToLive: .seconds(600)) { lease in
                begun.open()
                try? await Gate().wait()
                #expect(!lease.isValid)
            }
        }
        try await begun.wait()
        try await clock.waitForSleepers()
        try Change.deletedWithCompanions.happen(to: fixture)
        // The interval of the watch, long before the next renewal.
        await clock.advance(by: .milliseconds(100))
        let result = await holder.result
        #expect { try result.get() } throws: { ($0 as? LeaseLostError)?.reason == .removed }
    }

    @Test func aFileThatIsNewAtItsPlaceGivesNoNumbersUntilOthersHaveNoticedIt() async throws {
        let fixture = try SQLiteFixture()
        let waits = Locked<[Duration]>([])
        func store() -> SQLiteStore {
            let wait = BusyWait(timeout: .seconds(30), now: { .zero }) { duration in
                waits.withLock { $0.append(duration) }
            }
            let file = fixture.file(wait: wait, settleTime: .milliseconds(200))
            return SQLiteStore(file, pollInterval: .milliseconds(100), clock: ContinuousClock())
        }
        func waitsOf(_ operation: () async throws -> Void) async throws -> [Duration] {
            waits.withLock { $0 = [] }
            try await operation()
            return waits.withLock(\.self)
        }
        let first = store()
        #expect(try await waitsOf { try await first.put("a") } == [.milliseconds(200)])
        #expect(try await waitsOf { try await store().put("a") } == [])
        try Change.replacedByACopy.happen(to: fixture)
        #expect(try await waitsOf { try await store().put("a") } == [.milliseconds(200)])
        try Change.deleted.happen(to: fixture)
        #expect(try await waitsOf { try await store().put("a") } == [.milliseconds(200)])
    }

    // MARK: Paths

    @Test func aPathThatTheSystemWouldCutIsRefused() {
        #expect { try SQLiteStore(path: "/tmp/fleet\0.sqlite") } throws: { ($0 as? StoreError)?.reason == .refused }
    }

    #if SUBPROCESSES
    /// In a process of its own, since all tests of a process share its current folder.
    @Test func aRelativePathIsThatOfTheFolderInWhichTheStoreWasCreated() async throws {
        let fixture = try SQLiteFixture()
        defer { withExtendedLifetime(fixture) {} }
        let folder = fixture.folder.path
        try FileManager.default.createDirectory(atPath: folder + "/other", withIntermediateDirectories: false)
        await #expect(processExitsWith: .success) { [folder = folder as String] in
            guard chdir(folder) == 0 else { exit(EXIT_FAILURE) }
            let (one, other) = (try SQLiteStore(path: "fleet.sqlite"), try SQLiteStore(path: "./fleet.sqlite"))
            try await one.put("a")
            guard chdir(folder + "/other") == 0 else { exit(EXIT_FAILURE) }
            try await other.put("b")
            guard try await one.keys() == ["a", "b"] else { exit(EXIT_FAILURE) }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/other") == [])
        #expect(try await fixture.connection().read { try Int.fetchOne($0, sql: "SELECT count(*) FROM entry") } == 2)
    }

    enum Permission: String, CaseIterable, Codable {
        case folder, folderOfAFileWithoutCompanions, file, folderAbove
    }

    /// In a process of its own, which gives up the permissions of the administrator if it has them.
    @Test(arguments: Permission.allCases)
    func aMissingPermissionIsUnauthorizedAtOnce(_ permission: Permission) async throws {
        let fixture = try SQLiteFixture()
        let (folder, path) = (fixture.folder.path, fixture.path)
        defer { chmod(folder, 0o700) }
        if permission != .folder { try await fixture.store().put("a") }
        switch permission {
        case .folder, .folderOfAFileWithoutCompanions: #expect(chmod(folder, 0o555) == 0)
        case .file: #expect(chmod(path, 0) == 0 && chmod(folder, 0o777) == 0)
        case .folderAbove: #expect(chmod(folder, 0) == 0)
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            if geteuid() == 0 { guard setgid(65_534) == 0, setuid(65_534) == 0 else { exit(EXIT_FAILURE) } }
            let store = try SQLiteStore(path: path)
            guard await reason({ try await store.put("b") }) == .unauthorized else { exit(EXIT_FAILURE) }
            guard await reason({ _ = try await store.grantLease(timeToLive: .seconds(5)) }) == .unauthorized else {
                exit(EXIT_FAILURE)
            }
            do {
                try await withLease("job", in: store, timeToLive: .seconds(600)) { _ in }
                exit(EXIT_FAILURE)
            } catch let error as StoreError where error.reason == .unauthorized {}
        }
    }
    #endif
}
#endif
