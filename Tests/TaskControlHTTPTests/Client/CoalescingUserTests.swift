import Foundation
import TaskControlHTTP
import TaskControlTesting
import Testing

/// A shared exchange belongs to one user, and is not older than what its callers have written.
@Suite(.timeLimit(.minutes(15)))
struct CoalescingUserTests {
    private let policies = ClientPolicies(coalescesGETRequests: true)

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func anExchangeIsNotSharedBetweenSessionsThatAreInCookies() async throws {
        let gate = SyncGate()
        defer { gate.open() }
        let server = try RawServer { connection, request in
            if let user = request.target.split(separator: "=").dropFirst().first {
                return try connection.respond(200, [("Set-Cookie", "sid=\(user); Path=/")])
            }
            gate.wait()
            try connection.respond(body: Array((request["Cookie"] ?? "").utf8))
        }
        let client = EndpointClient(
            baseURL: server.url(),
            transport: URLSessionTransport(configuration: .ephemeral),
            policies: policies
        )
        _ = try await client.request(Text(path: "signin?user=ALICE"))
        let alice = Task { try await client.request(Text(path: "user")) }
        try await server.log.wait { $0.requests.count == 2 }
        _ = try await client.request(Text(path: "signin?user=BOB"))
        // Runs up to its wait before the test continues.
        let bob = Task.immediate { try await client.request(Text(path: "user")) }
        gate.open()
        #expect(try await alice.value == "sid=ALICE")
        #expect(try await bob.value == "sid=BOB")
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func nobodyJoinsAnExchangeWhoseCookiesChangedBeforeItWasSent() async throws {
        let gate = Gate()
        // The user of the first call, of the moment at which its request is sent, and of the second call.
        let users = Locked(["ALICE", "BOB", "ALICE", "ALICE"])
        let scripted = ScriptedTransport { _ in
            try await gate.wait()
            return .ok("there")
        }
        let transport = Jar(cookies: { users.withLock { $0.removeFirst() } }, scripted: scripted)
        let client = EndpointClient(transport, policies: policies)
        let first = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        let second = Task.immediate { try await client.request(Text()) }
        gate.open()
        #expect(try await first.value == "there")
        #expect(try await second.value == "there")
        #expect(scripted.sent.count == 2)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func callersWithTheSameCookiesShare() async throws {
        let gate = Gate()
        let scripted = ScriptedTransport { _ in
            try await gate.wait()
            return .ok("there")
        }
        let transport = Jar(cookies: { "ALICE" }, scripted: scripted)
        let client = EndpointClient(transport, policies: policies)
        let first = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        let second = Task.immediate { try await client.request(Text()) }
        gate.open()
        #expect(try await first.value == "there")
        #expect(try await second.value == "there")
        #expect(scripted.sent.count == 1)
    }

    /// The cookies of the URL that the redirect leads to are not known to the second caller.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test(arguments: TransportUnderTest.allCases)
    func nobodyJoinsAnExchangeThatWasRedirected(_ kind: TransportUnderTest) async throws {
        let gate = SyncGate()
        defer { gate.open() }
        let server = try RawServer { connection, request in
            if request.target == "/a" { return try connection.respond(302, [("Location", "/b")]) }
            gate.wait()
            try connection.respond(body: Array("there".utf8))
        }
        let client = EndpointClient(
            requestAdapter: BaseURLAdapter(baseURL: server.url()),
            transport: kind.make(),
            policies: policies
        )
        let first = Task { try await client.request(Text(path: "a")) }
        try await server.log.wait { $0.requests.count == 2 }
        let second = Task.immediate { try await client.request(Text(path: "a")) }
        gate.open()
        #expect(try await first.value == "there")
        #expect(try await second.value == "there")
        #expect(server.log.now.requests.count { $0.target == "/a" } == 2)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func anExchangeIsNotSharedAcrossForget() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { sent in
            if sent.url.hasSuffix("text") { try await gate.wait() }
            return .ok("there")
        }
        var policies = policies
        // The same token for every user who signs in: the headers are equal.
        let authenticator = EndpointAuthenticator.bearer(initial: "a") { _ in "a" }
        policies.authenticator = authenticator
        let client = EndpointClient(transport, policies: policies)
        let first = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        authenticator.forget()
        // Gets the new credential, so that the second call does not have to wait for it.
        _ = try await client.request(Text(path: "other"))
        let second = Task.immediate { try await client.request(Text()) }
        gate.open()
        #expect(try await first.value == "there")
        #expect(try await second.value == "there")
        #expect(transport.sent.events.count { $0.url.hasSuffix("text") } == 2)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test(arguments: [("PUT", 2), ("POST", 2), ("PATCH", 2), ("DELETE", 2), ("HEAD", 1), ("OPTIONS", 1)])
    func aCallerReadsWhatItHasWritten(_ method: String, _ exchanges: Int) async throws {
        let gate = Gate()
        let transport = ScriptedTransport { sent in
            if sent.method == "GET" { try await gate.wait() }
            return .ok("there")
        }
        let client = EndpointClient(transport, policies: policies)
        let first = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        _ = try await client.request(Text(method: method))
        let second = Task.immediate { try await client.request(Text()) }
        gate.open()
        #expect(try await first.value == "there")
        #expect(try await second.value == "there")
        #expect(transport.sent.events.count { $0.method == "GET" } == exchanges)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aWriteThatFailsMayHaveWritten() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { sent in
            guard sent.method == "GET" else { return .unreachable(URLError(.networkConnectionLost)) }
            try await gate.wait()
            return .ok("there")
        }
        let client = EndpointClient(transport, policies: policies)
        let first = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        await #expect(throws: EndpointError.self) { try await client.request(Text(method: "POST")) }
        let second = Task.immediate { try await client.request(Text()) }
        gate.open()
        #expect(try await first.value == "there")
        #expect(try await second.value == "there")
        #expect(transport.sent.events.count { $0.method == "GET" } == 2)
    }

    /// A transport that adds cookies.
    private struct Jar: HTTPTransport {
        let cookies: @Sendable () -> String
        let scripted: ScriptedTransport

        func withResponse<Value>(
            to request: HTTPTransportRequest,
            _ receive: (HTTPTransportResponse) async throws -> Value
        ) async throws -> Value {
            try await scripted.withResponse(to: request, receive)
        }

        func cookies(for request: URLRequest) -> String? { cookies() }
    }
}
