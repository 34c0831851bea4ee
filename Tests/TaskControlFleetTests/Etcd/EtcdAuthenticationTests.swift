import Foundation
import TaskControl
import TaskControlEtcd
import TaskControlFleet
import TaskControlHTTP
import TaskControlTesting
import TestSupport
import Testing

/// When a token is obtained, and where secrets are not shown.
@Suite(.timeLimit(.minutes(5)))
struct EtcdAuthenticationTests {
    /// A server that accepts one token at a time.
    final class Server: Sendable {
        struct State {
            var logins = 0
            var valid = 0
            var authenticates = true
            var calls: [String] = []
        }

        let state = Locked(State())

        func answer(_ request: URLRequest) -> (Int, Data) {
            let path = request.url!.lastPathComponent
            let token = request.value(forHTTPHeaderField: "Authorization")
            let (status, text): (Int, String) = state.withLock { state in
                state.calls.append(path)
                if path == "authenticate" {
                    guard state.authenticates else {
                        return (412, #"{"message": "etcdserver: authentication is not enabled", "code": 9}"#)
                    }
                    state.logins += 1
                    state.valid = state.logins
                    return (200, #"{"token": "secret-token-\#(state.logins)"}"#)
                }
                if state.authenticates, token != "secret-token-\(state.valid)" {
                    return token == nil
                        ? (400, #"{"message": "etcdserver: user name is empty", "code": 3}"#)
                        : (401, #"{"message": "etcdserver: invalid auth token", "code": 16}"#)
                }
                return (200, #"{"header": {"revision": "5"}, "succeeded": true, "responses": [{}]}"#)
            }
            return (status, Data(text.utf8))
        }

        func store(delay: Bool = false) -> EtcdStore {
            EtcdStore(
                endpoints: [URL(string: "http://m0")!, URL(string: "http://m1")!],
                credentials: EtcdStore.Credentials(user: "jobs", password: "secret-password", allowsCleartext: true),
                transport: MockTransport { request in
                    if delay { try await Task.sleep(for: .milliseconds(1)) }
                    return self.answer(request)
                },
                attemptTimeout: longAttempt
            )
        }

        var calls: [String] { state.withLock(\.calls) }
    }

    // MARK: Clear text

    @Test(arguments: [["http://m0"], ["https://m0", "http://m1"], ["m0:2379"]])
    func credentialsAreNotSentInClearTextUnlessThatIsPermitted(_ endpoints: [String]) async throws {
        let server = Server()
        let store = EtcdStore(
            endpoints: endpoints.map { URL(string: $0)! },
            credentials: EtcdStore.Credentials(user: "jobs", password: "secret-password"),
            transport: MockTransport { server.answer($0) },
            attemptTimeout: longAttempt
        )
        let operations: [@Sendable () async throws -> Void] = [
            { _ = try await store.transact(Self.write) }, { _ = try await store.read(.key("a")) },
            { _ = try await store.grantLease(timeToLive: .seconds(5)) },
            { try await store.watch(.key("a"), after: 0) { _ in } },
        ]
        for operation in operations {
            let error = await #expect(throws: StoreError.self) { try await operation() }
            #expect(error?.reason == .refused)
            #expect(error?.message.contains("allowsCleartext") == true)
        }
        #expect(server.calls == [])
    }

    @Test(arguments: ["https", "HTTPS"])
    func credentialsAreSentOverTLS(_ scheme: String) async throws {
        let server = Server()
        let store = EtcdStore(
            endpoints: [URL(string: "\(scheme)://m0")!],
            credentials: EtcdStore.Credentials(user: "jobs", password: "secret-password"),
            transport: MockTransport { server.answer($0) },
            attemptTimeout: longAttempt
        )
        _ = try await store.transact(Self.write)
        #expect(server.calls == ["authenticate", "txn"])
    }

    @Test func withoutCredentialsAnEndpointNeedsNoTLS() async throws {
        let server = Server()
        server.state.withLock { $0.authenticates = false }
        let store = EtcdStore(
            endpoints: [URL(string: "http://m0")!],
            transport: MockTransport { server.answer($0) },
            attemptTimeout: longAttempt
        )
        _ = try await store.transact(Self.write)
        #expect(server.calls == ["txn"])
    }

    // MARK: Tokens

    private static let write = StoreTransaction(success: [.put("a", Data())])

    @Test func concurrentOperationsObtainOneToken() async throws {
        try await inVirtualTime { sim in
            let server = Server()
            let store = server.store(delay: true)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { _ = try await store.read(.key("a")) } }
                try await group.waitForAll()
            }
            sim.expect(server.state.withLock(\.logins) == 1, "\(server.calls)")
        }
    }

    @Test func aTokenThatIsRefusedIsObtainedAgainOnceForAll() async throws {
        try await inVirtualTime { sim in
            let server = Server()
            let store = server.store(delay: true)
            _ = try await store.transact(Self.write)
            server.state.withLock { $0.valid = -1 }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { _ = try await store.transact(Self.write) } }
                try await group.waitForAll()
            }
            sim.expect(server.state.withLock(\.logins) == 2, "\(server.calls)")
        }
    }

    @Test func aTokenThatIsRefusedTwiceIsUnauthorized() async throws {
        let server = Server()
        let store = server.store()
        _ = try await store.transact(Self.write)
        let calls = Locked(0)
        let stubborn = EtcdStore(
            endpoints: [URL(string: "http://m0")!],
            credentials: EtcdStore.Credentials(user: "jobs", password: "secret-password", allowsCleartext: true),
            transport: MockTransport { request in
                calls.withLock { $0 += 1 }
                return request.url!.lastPathComponent == "authenticate"
                    ? (200, Data(#"{"token": "x"}"#.utf8))
                    : (401, Data(#"{"message": "etcdserver: invalid auth token", "code": 16}"#.utf8))
            },
            attemptTimeout: longAttempt
        )
        let error = await #expect(throws: StoreError.self) { try await stubborn.transact(Self.write) }
        #expect(error?.reason == .unauthorized)
        #expect(calls.withLock(\.self) == 4)
    }

    @Test func aServerThatDoesNotAuthenticateNeedsNoToken() async throws {
        let server = Server()
        server.state.withLock { $0.authenticates = false }
        let store = server.store()
        _ = try await store.transact(Self.write)
        _ = try await store.transact(Self.write)
        #expect(server.calls == ["authenticate", "txn", "txn"])
        // From now on it does.
        server.state.withLock { $0.authenticates = true }
        _ = try await store.transact(Self.write)
        #expect(server.calls.suffix(3) == ["txn", "authenticate", "txn"])
    }

    @Test func aTransactionWhoseTokenCannotBeObtainedWasNotExecuted() async throws {
        let store = EtcdStore(
            endpoints: [URL(string: "http://m0")!],
            credentials: EtcdStore.Credentials(user: "jobs", password: "secret-password", allowsCleartext: true),
            transport: MockTransport { _ in throw URLError(.networkConnectionLost) },
            attemptTimeout: longAttempt
        )
        let error = await #expect(throws: StoreError.self) { try await store.transact(Self.write) }
        #expect(error?.reason == .unavailable)
    }

    @Test func aTokenThatCannotBeObtainedForARepetitionDoesNotHideThatTheFirstAttemptMayHaveBeenExecuted() async throws
    {
        let logins = Locked(0)
        let store = EtcdStore(
            endpoints: [URL(string: "http://m0")!, URL(string: "http://m1")!],
            credentials: EtcdStore.Credentials(user: "jobs", password: "secret-password", allowsCleartext: true),
            transport: MockTransport { request in
                if request.url!.lastPathComponent == "authenticate" {
                    let login = logins.withLock { count in
                        count += 1
                        return count
                    }
                    // The user is removed after the first login.
                    return login == 1
                        ? (200, Data(#"{"token": "x"}"#.utf8))
                        : (400, Data(#"{"message": "etcdserver: user name not found", "code": 9}"#.utf8))
                }
                if request.url!.host == "m0" { throw URLError(.networkConnectionLost) }
                return (401, Data(#"{"message": "etcdserver: invalid auth token", "code": 16}"#.utf8))
            },
            attemptTimeout: longAttempt
        )
        let error = await #expect(throws: StoreError.self) { try await store.grantLease(timeToLive: .seconds(2)) }
        #expect(error?.reason == .ambiguous)
        #expect(logins.withLock(\.self) == 2)
    }

    @Test func aWrongPasswordIsUnauthorizedAndNotTriedElsewhere() async throws {
        let calls = Locked(0)
        let refusal = Data(
            #"{"message": "etcdserver: authentication failed, invalid user ID or password", "code": 3}"#.utf8
        )
        let store = EtcdStore(
            endpoints: [URL(string: "http://m0")!, URL(string: "http://m1")!],
            credentials: EtcdStore.Credentials(user: "jobs", password: "secret-password", allowsCleartext: true),
            transport: MockTransport { _ in
                calls.withLock { $0 += 1 }
                return (400, refusal)
            },
            attemptTimeout: longAttempt
        )
        let error = await #expect(throws: StoreError.self) { try await store.read(.key("a")) }
        #expect(error?.reason == .unauthorized)
        #expect(calls.withLock(\.self) == 1)
    }

    /// Redirects the logins of the member m0 to another server, as a transport follows a redirect with the status 307.
    private struct RedirectingTransport: HTTPTransport {
        let bodies = Locked<[String: [Data]]>([:])

        nonisolated(nonsending) func withResponse<Value>(
            to request: HTTPTransportRequest,
            _ receive: nonisolated(nonsending) (HTTPTransportResponse) async throws -> Value
        ) async throws -> Value {
            let url = request.request.url!
            let server = MockTransport { request in
                bodies.withLock { $0[request.url!.host!, default: []].append(request.httpBody ?? Data()) }
                return url.lastPathComponent == "authenticate"
                    ? (200, Data(#"{"token": "x"}"#.utf8)) : (200, Data(#"{"header": {"revision": "5"}}"#.utf8))
            }
            guard url.host == "m0", url.lastPathComponent == "authenticate" else {
                return try await server.withResponse(to: request, receive)
            }
            try await server.withResponse(to: request) { _ in }
            var next = request
            next.request.url = URL(string: "http://elsewhere/v3/auth/authenticate")
            return try await server.withResponse(to: next, receive)
        }
    }

    @Test func aRedirectDoesNotReceiveThePassword() async throws {
        let transport = RedirectingTransport()
        let store = EtcdStore(
            endpoints: [URL(string: "http://m0")!, URL(string: "http://m1")!],
            credentials: EtcdStore.Credentials(user: "jobs", password: "secret-password", allowsCleartext: true),
            transport: transport,
            attemptTimeout: longAttempt
        )
        #expect(try await store.read(.key("a")).revision == 5)
        let bodies = transport.bodies.withLock(\.self)
        #expect(bodies["elsewhere"] == nil)
        // The other member was asked instead: for a token, and then for the entry.
        #expect(bodies["m0"]?.count == 1 && bodies["m1"]?.count == 2)
    }

    @Test func secretsAreInNoTextAndNoEvent() async throws {
        let credentials = EtcdStore.Credentials(user: "jobs", password: "secret-password", allowsCleartext: true)
        var dumped = ""
        dump(credentials, to: &dumped)
        #expect(!"\(credentials) \(dumped) \(String(reflecting: credentials))".contains("secret"))

        let write = StoreTransaction(success: [.put("secret-key", Data("secret-value".utf8))])
        let events = await EventLog.events {
            let server = Server()
            _ = try? await server.store().transact(write)
            let broken = EtcdStore(
                endpoints: [URL(string: "http://user:secret-user@m0:7")!],
                credentials: credentials,
                transport: MockTransport { request in
                    if request.url!.lastPathComponent == "authenticate" { return server.answer(request) }
                    throw URLError(
                        .timedOut,
                        userInfo: [NSURLErrorFailingURLErrorKey: "http://user:secret-user@m0:7"]
                    )
                },
                attemptTimeout: longAttempt
            )
            let error = await failure { _ = try await broken.transact(write) } as? StoreError
            #expect(error?.reason == .ambiguous)
            #expect(error?.description.contains("secret") == false)
        }
        let shown = events.map { "\($0)" }.joined(separator: "\n")
        #expect(shown.contains("m0:7"))
        #expect(!shown.contains("secret"))
    }
}
