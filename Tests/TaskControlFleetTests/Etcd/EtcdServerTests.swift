import Foundation
import TaskControl
import TaskControlEtcd
import TaskControlFleet
import TaskControlHTTP
import TaskControlTesting
import TestSupport
import Testing

/// The contract of stores on a real cluster, and what only a real cluster shows.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: EtcdServer.isThere, "scripts/check-fleet starts a cluster and sets TASKCONTROL_ETCD"),
    .tags(.unsanitized)
)
struct EtcdServerTests {
    /// One store per transport for all of them: their watches share a connection.
    private static let stores = EtcdServer.transports.map { EtcdServer.store($0) }

    @Test(arguments: stores.indices, StoreContract.checks)
    func keepsThePromisesOfAStore(_ store: Int, _ check: StoreContract.Check) async throws {
        try await check.run(StoreContract(Self.stores[store], prefix: "contract/\(UUID())/"))
    }

    @Test(arguments: stores.indices)
    func aWatchReportsEachChangeWhileItsResponseIsOpen(_ store: Int) async throws {
        let (store, prefix) = (Self.stores[store], "stream/\(UUID())/")
        let revision = try await store.read(.prefix(prefix)).revision
        let (begun, arrived) = (Gate(), Locked([Gate(), Gate(), Gate()]))
        let watch = Task {
            var count = 0
            try await store.watch(.prefix(prefix), after: revision) { report in
                begun.open()
                for _ in report.changes {
                    arrived.withLock(\.self)[count].open()
                    count += 1
                }
            }
        }
        try await begun.wait()
        // Each is put after the one before it has arrived: a transport that collects them would never pass them on.
        for gate in arrived.withLock(\.self) {
            _ = try await store.transact(StoreTransaction(success: [.put(prefix + "a", Data())]))
            try await gate.wait()
        }
        watch.cancel()
        await #expect(throws: CancellationError.self) { try await watch.value }
    }

    /// Without the certificate of its authority, nothing is sent to a member with TLS.
    @Test func aMemberOfAnUnknownAuthorityReceivesNothing() async throws {
        guard EtcdServer.authority != nil else { return }
        for transport in EtcdServer.transports {
            let store = EtcdStore(
                endpoints: EtcdServer.endpoints,
                credentials: EtcdStore.Credentials(user: "root", password: "wrong-password", allowsCleartext: true),
                transport: transport.make(trusting: nil),
                attemptTimeout: .seconds(30)
            )
            let error = await #expect(throws: StoreError.self) {
                try await store.transact(StoreTransaction(success: [.put("a", Data())]))
            }
            #expect(error?.reason == .unavailable)
            #expect(error?.description.contains("wrong-password") == false)
        }
    }

    @Test func aMemberWithTLSRefusesARequestWithoutIt() async throws {
        guard EtcdServer.authority != nil else { return }
        let endpoints = EtcdServer.endpoints.map {
            URL(string: $0.absoluteString.replacingOccurrences(of: "https:", with: "http:"))!
        }
        let store = EtcdStore(endpoints: endpoints, transport: EtcdServer.transports[0].make())
        await #expect(throws: StoreError.self) { try await store.read(.key("a")) }
    }

    @Test func aWrongPasswordIsUnauthorized() async throws {
        guard EtcdServer.authenticates else { return }
        let store = EtcdServer.store(
            EtcdServer.transports[0],
            credentials: EtcdStore.Credentials(user: "root", password: "wrong-password", allowsCleartext: true)
        )
        let error = await #expect(throws: StoreError.self) { try await store.read(.prefix("")) }
        #expect(error?.reason == .unauthorized)
        #expect(error?.description.contains("wrong-password") == false)
    }

    @Test func aWatchWithoutPermissionThrows() async throws {
        guard EtcdServer.authenticates else { return }
        let store = EtcdServer.store(EtcdServer.transports[0], namespace: "elsewhere/")
        let error = await #expect(throws: StoreError.self) { try await store.watch(.prefix(""), after: 0) { _ in } }
        #expect(error?.reason == .unauthorized)
        let other = await #expect(throws: StoreError.self) {
            try await store.transact(StoreTransaction(success: [.put("a", Data())]))
        }
        #expect(other?.reason == .unauthorized)
    }
}

/// Compactions concern all watches of a cluster: by themselves.
@Suite(
    .timeLimit(.minutes(5)),
    .serialized,
    .enabled(
        if: EtcdServer.isThere && !EtcdServer.authenticates,
        "scripts/check-fleet starts a cluster and sets TASKCONTROL_ETCD"
    ),
    .tags(.unsanitized)
)
struct EtcdCompactionTests {
    @Test(arguments: StoreContract.watchChecks)
    func keepsThePromisesOfAWatch(_ check: StoreContract.Check) async throws {
        guard check.name.contains("not kept any more") else { return }
        var contract = StoreContract(EtcdServer.store(EtcdServer.transports[0]), prefix: "compaction/\(UUID())/")
        contract.compact = { try await EtcdServer.compact() }
        try await check.run(contract)
    }
}
