import Foundation
import TaskControlEtcd
import TaskControlFleet
import TaskControlHTTP
import TestSupport
import Testing

/// A layer below the store can repeat a POST when a connection that was kept is closed before the answer, as libcurl does, although the server can
/// have executed the request.
@Suite(.timeLimit(.minutes(5)))
struct EtcdResendTests {
    private static let answer = #"{"header": {"revision": "5", "raft_term": "2"}}"#

    @Test(arguments: EtcdServer.transports)
    func aTransactionIsSentOnce(_ transport: EtcdServer.Transport) async throws {
        let server = try ClosingServer(closingAt: "txn", answer: Self.answer)
        defer { server.stop() }
        let store = EtcdStore(
            endpoints: [server.url, server.url],
            transport: transport.make(),
            attemptTimeout: .seconds(30)
        )
        for _ in 0..<3 {
            // A connection is there, and is kept.
            _ = try await store.read(.key("a"))
            let error = await #expect(throws: StoreError.self) {
                try await store.transact(StoreTransaction(success: [.put("a", Data())]))
            }
            #expect(error?.reason == .ambiguous)
        }
        #expect(server.paths == ["range", "txn", "range", "txn", "range", "txn"])
    }

    @Test(arguments: EtcdServer.transports)
    func aRefusedConnectionIsUnavailable(_ transport: EtcdServer.Transport) async throws {
        let server = try ClosingServer(closingAt: "", answer: Self.answer)
        server.stop()
        let store = EtcdStore(endpoints: [server.url], transport: transport.make(), attemptTimeout: .seconds(30))
        let error = await #expect(throws: StoreError.self) {
            try await store.transact(StoreTransaction(success: [.put("a", Data())]))
        }
        #expect(error?.reason == .unavailable)
    }

    #if SUBPROCESSES && canImport(FoundationNetworking)
    @Test func urlSessionOnLinuxIsRefused() async {
        await #expect(processExitsWith: .failure) {
            _ = EtcdStore(endpoints: [], transport: URLSessionTransport(configuration: .ephemeral))
        }
    }
    #endif
}
