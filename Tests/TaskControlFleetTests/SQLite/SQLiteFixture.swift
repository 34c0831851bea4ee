#if SQLite
import Foundation
import GRDB
import TaskControl
@testable import TaskControlFleet

/// A folder with the file of a store, and a machine whose clock and start a test sets. The folder is removed with the fixture, which its stores retain.
final class SQLiteFixture: Sendable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "SQLiteStoreTests-\(UUID())")
    private let machine = Locked<(now: Int64, boot: String?)>((1_000_000_000, "first"))

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var path: String { folder.appending(path: "fleet.sqlite").path }

    /// The store of another process.
    func store(
        busyTimeout: Duration = .seconds(30),
        historyLimit: Int = 1_000,
        historyBytes: Int = 4 << 20,
        firstRevision: Int64 = 1,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> SQLiteStore {
        let history = SQLiteHistoryLimit(changes: historyLimit, bytes: historyBytes)
        let file = file(wait: BusyWait(timeout: busyTimeout), history: history, firstRevision: firstRevision)
        return SQLiteStore(file, pollInterval: .milliseconds(100), clock: clock)
    }

    /// The file of a store of another process.
    func file(
        wait: BusyWait = BusyWait(timeout: .seconds(30)),
        history: SQLiteHistoryLimit = SQLiteHistoryLimit(changes: 1_000),
        settleTime: Duration = .zero,
        firstRevision: Int64 = 1
    ) -> SQLiteFile {
        let boot = machine.withLock(\.boot)
        return SQLiteFile(
            path: path,
            wait: wait,
            history: history,
            clock: BootClock(now: { self.machine.withLock(\.now) }, boot: { boot }),
            settleTime: settleTime,
            firstRevision: { firstRevision }
        )
    }

    func advance(by duration: Duration) { machine.withLock { $0.now += duration.wholeNanoseconds } }

    /// Starts the machine again.
    func restart(as boot: String?, now: Duration) { machine.withLock { $0 = (now.wholeNanoseconds, boot) } }

    /// Another connection to the file, of GRDB.
    func connection() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}

extension StoreOperations {
    @discardableResult
    nonisolated(nonsending) func put(_ key: String, _ value: String = "", lease: LeaseID? = nil) async throws -> Int64 {
        try await transact(StoreTransaction(success: [.put(key, Data(value.utf8), lease: lease)])).revision
    }

    nonisolated(nonsending) func keys() async throws -> [String] {
        try await read(.prefix("")).entries.map(\.key)
    }
}

/// Returns the reason of the error of an operation.
nonisolated(nonsending) func reason(
    _ operation: nonisolated(nonsending) () async throws -> Void
) async -> StoreError.Reason? {
    do {
        try await operation()
        return nil
    } catch {
        return (error as? StoreError)?.reason
    }
}
#endif
