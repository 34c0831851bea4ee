import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlTesting
import Testing

@Suite(.timeLimit(.minutes(15)))
struct CredentialExpirationTests {
    private struct Token: Sendable {
        var text: String
        var expires: Double?
    }

    /// A clock of seconds that the test sets.
    private final class Now: Sendable {
        private let seconds = Locked(0.0)
        func set(_ value: Double) { seconds.withLock { $0 = value } }
        var date: Date { Date(timeIntervalSince1970: seconds.withLock(\.self)) }
    }

    private let now = Now()

    private func client(
        _ transport: ScriptedTransport,
        initial: Token?,
        refresh: @escaping @Sendable (Token?) async throws -> Token
    ) -> EndpointClient {
        let authenticator = EndpointAuthenticator(
            initial: initial,
            expirationDate: { token in token.expires.map { Date(timeIntervalSince1970: $0) } },
            wallClock: { [now] in now.date }
        ) { token, request in
            request.setValue(token.text, forHTTPHeaderField: "Authorization")
        } refresh: {
            try await refresh($0)
        }
        return EndpointClient(transport, policies: ClientPolicies(authenticator: authenticator))
    }

    @Test func aCredentialIsRenewedBeforeItExpires() async throws {
        let transport = ScriptedTransport(.ok("in"))
        let asked = OrderRecorder<String>()
        let client = client(transport, initial: Token(text: "a", expires: 600)) { old in
            asked.record(old?.text ?? "-")
            return Token(text: "b", expires: 1_200)
        }
        _ = try await client.request(Text())
        now.set(539)
        _ = try await client.request(Text())
        now.set(540)
        for _ in 0..<3 { _ = try await client.request(Text()) }
        #expect(asked.events == ["a"])
        #expect(transport.sent.events.map(\.authorization) == ["a", "a", "b", "b", "b"])
    }

    @Test func manyRequestsRenewOnce() async throws {
        let transport = ScriptedTransport(.ok("in"))
        let (gate, refreshes) = (Gate(), OrderRecorder<Int>())
        let client = client(transport, initial: Token(text: "a", expires: 600)) { _ in
            refreshes.record(1)
            try await gate.wait()
            return Token(text: "b", expires: 1_200)
        }
        now.set(550)
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { _ = try await client.request(Text()) } }
            try await gate.waitForWaiters()
            gate.open()
            try await group.waitForAll()
        }
        #expect(refreshes.count == 1)
        #expect(transport.sent.events.allSatisfy { $0.authorization == "b" })
    }

    @Test func aRenewalThatFailsLeavesTheCredentialUntilItExpires() async throws {
        let transport = ScriptedTransport(.ok("in"))
        let client = client(transport, initial: Token(text: "a", expires: 600)) { _ in throw Mishap() }
        now.set(599)
        _ = try await client.request(Text())
        #expect(transport.sent.events.map(\.authorization) == ["a"])
        now.set(600)
        await #expect(throws: Mishap()) { try await client.request(Text()) }
        #expect(transport.sent.count == 1)
    }

    @Test func aCredentialThatComesExpiredIsTried() async throws {
        // As where the clock of this device is wrong.
        let transport = ScriptedTransport(.ok("in"))
        let refreshes = OrderRecorder<Int>()
        let client = client(transport, initial: nil) { _ in
            refreshes.record(1)
            return Token(text: "b", expires: -1)
        }
        for _ in 0..<3 { _ = try await client.request(Text()) }
        #expect(transport.sent.events.map(\.authorization) == ["b", "b", "b"])
        #expect(refreshes.count == 1)
    }

    @Test func aCallerThatIsCancelledLeavesTheRenewal() async throws {
        let transport = ScriptedTransport(.ok("in"))
        let gate = Gate()
        let client = client(transport, initial: Token(text: "a", expires: 600)) { _ in
            try await gate.wait()
            return Token(text: "b", expires: 1_200)
        }
        now.set(550)
        let task = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.sent.count == 0)
        gate.open()
        #expect(try await client.request(Text()) == "in")
        #expect(transport.sent.events.map(\.authorization) == ["b"])
    }
}
