import Foundation
import TaskControlHTTP
import TaskControlTesting
import Testing

/// Policies that an endpoint changes.
@Suite(.timeLimit(.minutes(15)))
struct EndpointPolicyTests {
    private struct Adjusted: Endpoint {
        typealias Content = String
        var acceptedStatuses: AcceptedStatuses { .all }
        let change: @Sendable (inout ClientPolicies) -> Void
        func makeRequest() throws -> URLRequest { URLRequest(url: URL(string: "adjusted")!) }
        func adjust(_ policies: inout ClientPolicies) { change(&policies) }
    }

    private struct AdjustedUpload: UploadEndpoint {
        typealias Content = String
        let change: @Sendable (inout ClientPolicies) -> Void
        func makeRequest() throws -> (URLRequest, UploadEndpointBody) {
            (URLRequest(url: URL(string: "adjusted")!), .data(Data()))
        }
        func adjust(_ policies: inout ClientPolicies) { change(&policies) }
    }

    @Test func anEndpointRetriesAnotherNumberOfTimes() async throws {
        let transport = ScriptedTransport(.status(503))
        let client = EndpointClient(transport, policies: ClientPolicies(retry: HTTPRetryPolicy(backoff: .none)))
        _ = await thrown { try await client.request(Adjusted { $0.retry?.attempts = 5 }) }
        #expect(transport.sent.count == 5)
        _ = try await client.request(Adjusted { $0.retry = nil })
        #expect(transport.sent.count == 6)
        _ = await thrown {
            try await client.upload(
                AdjustedUpload {
                    $0.retry?.methods.insert("POST")
                    $0.retry?.attempts = 2
                }
            )
        }
        #expect(transport.sent.count == 8)
        // The client's are as before.
        _ = await thrown { try await client.request(Text()) }
        #expect(transport.sent.count == 11)
    }

    @Test func anEndpointHasItsOwnTimeLimits() async throws {
        let clock = TestClock()
        let gate = Gate()
        let transport = ScriptedTransport { _ in
            try await gate.wait()
            return .ok("in time")
        }
        let policies = ClientPolicies(timeout: .seconds(10), clock: clock)
        let client = EndpointClient(transport, policies: policies)
        let short = Task { try await client.request(Adjusted { $0.timeout = .seconds(1) }) }
        let long = Task { try await client.request(Adjusted { $0.timeout = nil }) }
        try await gate.waitForWaiters(count: 2)
        try await clock.waitForSleepers(count: 1)
        await clock.advance(by: .seconds(1))
        await #expect(throws: TimeoutError.self) { try await short.value }
        await clock.advance(by: .seconds(100))
        gate.open()
        #expect(try await long.value == "in time")
    }

    @Test func anEndpointMaySendNoCredential() async throws {
        let transport = ScriptedTransport(.ok("token"))
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(authenticator: .bearer(initial: "a") { _ in "b" })
        )
        _ = try await client.request(Adjusted { $0.authenticator = nil })
        _ = try await client.request(Adjusted { _ in })
        #expect(transport.sent.events.map(\.authorization) == [nil, "Bearer a"])
    }

    @Test func endpointsWithOtherLimitsDoNotShareAnExchange() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _ in
            try await gate.wait()
            return .ok("12345678")
        }
        let client = EndpointClient(transport, policies: ClientPolicies(coalescesGETRequests: true))
        let small = Task { try await client.request(Adjusted { $0.bodyLimit = 4 }) }
        let large = Task { try await client.request(Adjusted { _ in }) }
        try await gate.waitForWaiters(count: 2)
        gate.open()
        await #expect(throws: EndpointError.self) { try await small.value }
        #expect(try await large.value == "12345678")
    }

    @Test func aStreamedResponseHasThePoliciesOfItsEndpoint() async throws {
        let transport = ScriptedTransport(.status(503), .ok("there"))
        let client = EndpointClient(transport)
        let status = try await client.withResponse(
            to: Adjusted { $0.retry = HTTPRetryPolicy(backoff: .none) }
        ) { $0.head.statusCode }
        #expect(status == 200)
    }
}
