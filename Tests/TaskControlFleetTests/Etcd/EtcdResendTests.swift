import Foundation
import TaskControlFleet
import TaskControlHTTP
import TestSupport
import Testing

/// URLSession repeats a POST when a connection that was kept is closed before the answer, although the server can have executed the request.
@Suite(.timeLimit(.minutes(5)))
struct EtcdResendTests {
    private static let answer = #"{"header": {"revision": "5", "raft_term": "2"}}"#

    private func transactionIsSentOnce(over transport: any HTTPTransport) async throws {
        let server = try ClosingServer(closingAt: "txn", answer: Self.answer)
        defer { server.stop() }
        let store = EtcdStore(endpoints: [server.url, server.url], transport: transport, attemptTimeout: .seconds(30))
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

    @Test func aTransactionIsSentOnceOverURLSession() async throws {
        try await transactionIsSentOnce(over: URLSessionTransport(configuration: .ephemeral))
    }

    #if AsyncHTTPClient
    @Test func aTransactionIsSentOnceOverAsyncHTTPClient() async throws {
        try await transactionIsSentOnce(over: AsyncHTTPClientTransport())
    }
    #endif

    @Test func aRefusedConnectionIsUnavailable() async throws {
        let server = try ClosingServer(closingAt: "", answer: Self.answer)
        server.stop()
        let store = EtcdStore(endpoints: [server.url], attemptTimeout: .seconds(30))
        let error = await #expect(throws: StoreError.self) {
            try await store.transact(StoreTransaction(success: [.put("a", Data())]))
        }
        #expect(error?.reason == .unavailable)
    }
}
