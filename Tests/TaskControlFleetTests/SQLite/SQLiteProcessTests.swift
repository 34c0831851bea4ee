#if SQLite && SUBPROCESSES
import Foundation
import GRDB
import TaskControl
import TestSupport
import Testing

@testable import TaskControlFleet

/// Processes that are killed, that share leases, and that are suspended.
@Suite struct SQLiteProcessTests {
    @Test func aProcessThatIsKilledInATransactionLeavesNoPartOfIt() async throws {
        let fixture = try SQLiteFixture()
        defer { withExtendedLifetime(fixture) {} }
        let path = fixture.path
        let start = try await SQLiteStore(path: path).read(.prefix("")).revision
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = try SQLiteStore(path: path)
            let lease = try await store.grantLease(timeToLive: .seconds(600))
            try await store.put("complete", lease: lease.id)
            let connection = try DatabaseQueue(path: path)
            try await connection.writeWithoutTransaction { database in
                try database.execute(sql: "BEGIN IMMEDIATE")
                try database.execute(sql: "UPDATE meta SET revision = revision + 1000000")
                try database.execute(sql: "DELETE FROM entry")
                kill(getpid(), SIGKILL)
            }
        }
        // It leaves no lock either.
        let store = try SQLiteStore(path: path, busyTimeout: .zero)
        #expect(try await store.read(.prefix("")).revision == start + 1)
        #expect(try await store.put("next") == start + 2)
        #expect(try await store.keys() == ["complete", "next"])
    }

    @Test func processesShareTheClockAndTheStartOfTheMachine() async throws {
        let fixture = try SQLiteFixture()
        defer { withExtendedLifetime(fixture) {} }
        let path = fixture.path
        let store = try SQLiteStore(path: path)
        let lease = try await store.grantLease(timeToLive: .seconds(600))
        try await store.put("a", lease: lease.id)
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try SQLiteStore(path: path)
            let entry = try await store.read(.key("a")).entries.first
            let renewed = try await store.renewLease(entry!.lease!)
            try await store.put("b", lease: renewed.id)
        }
        #expect(try await store.keys() == ["a", "b"])
    }

    /// In a process of its own, since the notification reaches all stores of a process.
    @Test func aSuspendedStoreTakesNoLock() async throws {
        let fixture = try SQLiteFixture()
        defer { withExtendedLifetime(fixture) {} }
        let path = fixture.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try SQLiteStore(path: path)
            let lease = try await store.grantLease(timeToLive: .seconds(600))
            NotificationCenter.default.post(name: SQLiteStore.suspendNotification, object: nil)
            for _ in 0..<3 {
                let reason = await reason { _ = try await store.renewLease(lease.id) }
                guard reason == .unavailable else { exit(EXIT_FAILURE) }
            }
            _ = try await store.read(.prefix(""))
            NotificationCenter.default.post(name: SQLiteStore.resumeNotification, object: nil)
            _ = try await store.renewLease(lease.id)
        }
    }
}
#endif
