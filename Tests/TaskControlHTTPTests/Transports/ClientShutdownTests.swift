import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlTesting
import Testing

/// That a client which is cancelled or shut down ends its exchanges and its transport, over both transports.
@Suite(.timeLimit(.minutes(15)))
struct ClientShutdownTests {
    private func client(of server: RawServer, _ kind: TransportUnderTest) -> EndpointClient {
        EndpointClient(name: "books", baseURL: server.url(""), transport: kind.make())
    }

    /// The ways in which a call receives a response.
    enum Form: String, CaseIterable, Codable {
        case request, upload, stream, download

        func call(_ client: EndpointClient) async throws {
            switch self {
            case .request: _ = try await client.request(Text())
            case .upload: _ = try await client.upload(Upload(body: .data(Data("x".utf8))))
            case .stream:
                try await client.withResponse(to: Text()) { response in for try await _ in response.body {} }
            case .download:
                let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
                defer { try? FileManager.default.removeItem(at: file) }
                _ = try await client.download(Text(), to: file)
            }
        }
    }

    @Test(arguments: TransportUnderTest.allCases, Form.allCases)
    func aCallBeforeItsHeadEndsAndTheServerSeesIt(_ kind: TransportUnderTest, _ form: Form) async throws {
        let server = try RawServer { connection, _ in connection.waitUntilClosed() }
        let client = client(of: server, kind)
        let call = Task { try await form.call(client) }
        try await server.log.wait { $0.requests.count == 1 }
        client.cancelAll(because: "signed out")
        #expect(await thrown { try await call.value } as? CancellationCause == .requested(reason: "signed out"))
        try await server.log.wait { $0.live == 0 }
        #expect(client.count == 0)
    }

    @Test(arguments: TransportUnderTest.allCases, Form.allCases)
    func aCallWithinTheBodyEndsAndTheServerSeesIt(_ kind: TransportUnderTest, _ form: Form) async throws {
        let server = try RawServer.halfway()
        let client = client(of: server, kind)
        let call = Task { try await form.call(client) }
        try await server.log.wait { $0.requests.count == 1 }
        let names = await client.shutdown(grace: .zero).cancelled
        #expect(names.count == 1 && names[0].hasSuffix(form == .upload ? "/upload" : "/text"))
        #expect(await thrown { try await call.value } as? CancellationCause == .shutdown(name: "books"))
        try await server.log.wait { $0.live == 0 }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aCallThatIsCancelledBeforeItsExchangeSendsNothing(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in try connection.respond() }
        let (adapting, cancelled) = (Gate(), Gate())
        let client = EndpointClient(
            requestAdapter: Waiting(url: server.url("late"), adapting: adapting, cancelled: cancelled),
            transport: kind.make()
        )
        let call = Task { try await client.request(Text()) }
        try await adapting.wait()
        client.cancelAll()
        cancelled.open()
        #expect(await thrown { try await call.value } as? CancellationCause == .requested(reason: nil))
        // A request that is sent by now has been sent before this one.
        _ = try await client.request(Text())
        #expect(server.log.now.requests.count == 1)
    }

    /// The first request waits, whether or not its task is cancelled.
    private struct Waiting: URLRequestAdapter {
        let url: URL
        let adapting: Gate
        let cancelled: Gate

        func adapt(_ request: URLRequest) async throws -> URLRequest {
            adapting.open()
            await cancelled.waitIgnoringCancellation()
            return URLRequest(url: url)
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aTransportThatIsShutDownClosesItsConnectionsAndRefuses(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in try connection.respond() }
        let transport = kind.make()
        _ = try await transport.fetch(server.url())
        await transport.shutdown()
        try await server.log.wait { $0.live == 0 }
        #expect(await thrown { try await transport.fetch(server.url()) } as? CancellationCause == .shutdown(name: nil))
        // The error of a client that shares it.
        let client = EndpointClient(baseURL: server.url(""), transport: transport)
        #expect(await thrown { try await client.request(Text()) } as? CancellationCause == .shutdown(name: nil))
        await transport.shutdown()
        #expect(server.log.now.requests.count == 1)
    }

    @Test func theDelegateOfASessionKnowsTheEndWhenTheShutdownReturns() async throws {
        let server = try RawServer { connection, _ in try connection.respond() }
        let delegate = Delegate()
        let transport = URLSessionTransport(configuration: .ephemeral, delegate: delegate)
        let client = EndpointClient(baseURL: server.url(""), transport: transport)
        _ = try await client.request(Text())
        let caller = Task { await client.shutdown(grace: .zero) }
        // The caller of a shutdown waits also if it is cancelled.
        caller.cancel()
        _ = await caller.value
        #if canImport(FoundationNetworking)
        #expect(delegate.ends.count == 1)
        #else
        try await delegate.ends.waitForEvents(count: 1)
        #endif
    }

    private final class Delegate: NSObject, URLSessionDelegate {
        let ends = OrderRecorder<Int>()

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { ends.record(0) }
    }
}
