import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlResilience
import TaskControlTesting
import TestSupport
import Testing

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
#endif

/// Requests that wait for a connection of the transport's pool.
@Suite(.timeLimit(.minutes(15)))
struct PoolTests {
    /// A time limit of the client, which is as long as the test needs.
    @Test(arguments: TransportUnderTest.allCases)
    func aRequestThatReachesItsTimeLimitWithoutAConnectionSaysNothingAboutTheHost(_ kind: TransportUnderTest)
        async throws
    {
        let server = try RawServer.halfway()
        let (judge, clock, path) = (Judge(), TestClock(), server.url().absoluteString)
        let policies = ClientPolicies(
            resilience: .shared(judge.policy),
            attemptTimeout: .seconds(1),
            clock: clock
        )
        let transport = kind.make()
        let streaming = EndpointClient(requestAdapter: AnyHost(), transport: transport)
        let client = EndpointClient(requestAdapter: AnyHost(), transport: transport, policies: policies)
        let (done, connections) = (Gate(), 8)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<connections {
                group.addTask { try await streaming.withResponse(to: Text(path: path)) { _ in try await done.wait() } }
            }
            // Over URLSession, there are six.
            let sent = kind == .urlSession ? 6 : connections
            try await server.log.wait { $0.requests.count == sent }
            let call = Task { try await client.request(Text(path: path)) }
            try await clock.waitForSleepers(count: 1)
            await clock.advance(by: .seconds(1))
            #expect(await thrown { try await call.value } is TimeoutError)
            #expect(judge.breaker.state == .closed)
            #expect(server.log.now.requests.count == sent)
            group.cancelAll()
            while let result = await group.nextResult() { _ = result }
        }
    }

    /// The request is sent, and not answered.
    @Test(arguments: TransportUnderTest.allCases)
    func aRequestThatReachesItsTimeLimitOnAConnectionIsAFailureOfTheHost(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in connection.waitUntilClosed() }
        let (judge, clock) = (Judge(), TestClock())
        let policies = ClientPolicies(resilience: .shared(judge.policy), attemptTimeout: .seconds(1), clock: clock)
        let client = EndpointClient(requestAdapter: AnyHost(), transport: kind.make(), policies: policies)
        let call = Task { try await client.request(Text(path: server.url().absoluteString)) }
        try await server.log.wait { $0.requests.count == 1 }
        try await clock.waitForSleepers(count: 1)
        await clock.advance(by: .seconds(1))
        #expect(await thrown { try await call.value } is TimeoutError)
        #expect(judge.breaker.state != .closed)
    }

    #if AsyncHTTPClient
    private func client(_ judge: Judge) -> EndpointClient {
        var configuration = HTTPClient.Configuration.taskControl
        configuration.timeout = .init(connect: .milliseconds(100), read: .hours(1))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1
        return EndpointClient(
            requestAdapter: AnyHost(),
            transport: AsyncHTTPClientTransport(configuration: configuration),
            policies: ClientPolicies(resilience: .shared(judge.policy))
        )
    }

    @Test func aRequestThatGetsNoConnectionSaysNothingAboutTheHost() async throws {
        let server = try RawServer.halfway()
        let (judge, url) = (Judge(), server.url().absoluteString)
        let client = client(judge)
        try await client.withResponse(to: Text(path: url)) { _ in
            // The only connection is in use, by this response.
            let error = await #expect(throws: EndpointError.self) { try await client.request(Text(path: url)) }
            #expect(error?.underlyingError as? HTTPClientError == .getConnectionFromPoolTimeout)
        }
        #expect(server.log.now.requests.count == 1)
        #expect(judge.breaker.state == .closed)
    }

    @Test func aHostThatAcceptsNoConnectionFails() async throws {
        let nobody = try FullListener()
        defer { withExtendedLifetime(nobody) {} }
        let judge = Judge()
        let client = client(judge)
        let path = nobody.url().absoluteString
        let error = await #expect(throws: EndpointError.self) { try await client.request(Text(path: path)) }
        #expect(error?.underlyingError as? HTTPClientError == .connectTimeout)
        #expect(await judge.verdict == .failed)
    }
    #endif
}
