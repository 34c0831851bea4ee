#if SQLite
import Foundation
import TaskControl
import Testing

@testable import TaskControlFleet

/// The promises of every store, with leases on the clock of the machine.
@Suite struct SQLiteContractTests {
    @Test(arguments: StoreContract.checks)
    func aFileKeepsEachPromise(_ check: StoreContract.Check) async throws {
        let fixture = try SQLiteFixture()
        defer { withExtendedLifetime(fixture) {} }
        let store = try SQLiteStore(path: fixture.path, pollInterval: .milliseconds(5), historyLimit: 60)
        var contract = StoreContract(store, prefix: "contract/")
        // A lease must not expire because its test waits for a thread: all tests of a process begin together.
        contract.timeToLive = .seconds(10)
        contract.compact = {
            let all = StoreTransaction(success: (0...60).map { .put("compact/\($0)", Data()) })
            _ = try await store.transact(all)
        }
        try await check.run(contract)
    }
}
#endif
