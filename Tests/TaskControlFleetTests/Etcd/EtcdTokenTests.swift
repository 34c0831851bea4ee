import Foundation
import TaskControl
import TaskControlEtcd
import TaskControlFleet
import TaskControlHTTP
import TestSupport
import Testing

/// Tokens of a real cluster. One test at a time: a token that another test invalidates is refused as well.
@Suite(
    .timeLimit(.minutes(5)),
    .serialized,
    .enabled(
        if: EtcdServer.isThere && EtcdServer.authenticates,
        "scripts/check-fleet starts a cluster and sets TASKCONTROL_ETCD"
    ),
    .tags(.unsanitized)
)
struct EtcdTokenTests {
    @Test func aTokenThatTheServerHasForgottenIsObtainedAgain() async throws {
        let (store, key) = (EtcdServer.store(EtcdServer.transports[0]), "token/\(UUID())")
        for value in 1...3 {
            _ = try await store.transact(StoreTransaction(success: [.put(key, Data([UInt8(value)]))]))
            try await EtcdServer.invalidateTokens()
            #expect(try await store.read(.key(key)).entries.map(\.value) == [Data([UInt8(value)])])
            try await readAndWatch(key, in: store)
        }
    }

    /// Reads a key and watches it, each with a token that the server has forgotten.
    private func readAndWatch(_ key: String, in store: EtcdStore) async throws {
        try await EtcdServer.invalidateTokens()
        let revision = try await store.read(.key(key)).revision
        try await EtcdServer.invalidateTokens()
        struct Enough: Error {}
        await #expect(throws: Enough.self) {
            try await store.watch(.key(key), after: revision) { _ in throw Enough() }
        }
    }

    /// Records the tokens that a store sends.
    private struct TokenRecorder: HTTPTransport {
        let transport = EtcdServer.transports[0].make()
        let tokens = Locked<Set<String>>([])

        nonisolated(nonsending) func withResponse<Value>(
            to request: HTTPTransportRequest,
            _ receive: nonisolated(nonsending) (HTTPTransportResponse) async throws -> Value
        ) async throws -> Value {
            if let token = request.request.value(forHTTPHeaderField: "Authorization") {
                tokens.withLock { _ = $0.insert(token) }
            }
            return try await transport.withResponse(to: request, receive)
        }
    }

    /// Records the texts of all events of the process, also those of detached tasks.
    private struct TextRecorder: TaskObserver {
        let texts = Locked<[String]>([])

        func receive(_ event: TaskEvent) { texts.withLock { $0.append("\(event) \(String(reflecting: event))") } }
    }

    @Test func noEventAndNoErrorContainsAPasswordOrAToken() async throws {
        guard let credentials = EtcdServer.credentials else { return }
        Diagnostics.keepQuiet()
        let (transport, events, wrong) = (TokenRecorder(), TextRecorder(), "wrong-password-\(UUID())")
        let observation = TaskDiagnostics.observe(events)
        defer { observation.end() }

        // Tokens that are renewed for a request and for a watch.
        let store = EtcdStore(endpoints: EtcdServer.endpoints, credentials: credentials, transport: transport)
        let key = "secret/\(UUID())"
        _ = try await store.transact(StoreTransaction(success: [.put(key, Data())]))
        try await readAndWatch(key, in: store)
        // A user with another password, one without permission, and a server that is not there.
        let refused = [
            EtcdStore(
                endpoints: EtcdServer.endpoints,
                credentials: EtcdStore.Credentials(user: "root", password: wrong, allowsCleartext: true),
                transport: transport
            ),
            EtcdStore(
                endpoints: EtcdServer.endpoints,
                credentials: credentials,
                namespace: "elsewhere/",
                transport: transport
            ),
            EtcdStore(endpoints: [URL(string: "http://127.0.0.1:1")!], credentials: credentials, transport: transport),
        ]
        for store in refused {
            let error = await failure { _ = try await store.read(.prefix("")) } as? StoreError
            #expect(error?.reason == .unauthorized || error?.reason == .unavailable)
            events.texts.withLock { $0.append("\(String(describing: error)) \(String(reflecting: error))") }
        }

        let tokens = transport.tokens.withLock(\.self)
        let texts = events.texts.withLock(\.self)
        #expect(tokens.count > 2)
        #expect(texts.count { $0.contains("authenticated") } > 2)
        #expect(texts.contains { $0.contains("endpointFailed") })
        #expect(EtcdServer.passwords.count == 2)
        for secret in EtcdServer.passwords + [wrong] + tokens {
            #expect(!texts.contains { $0.contains(secret) }, "a password or a token is shown")
        }
    }
}
