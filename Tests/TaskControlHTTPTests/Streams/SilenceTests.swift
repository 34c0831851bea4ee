import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlTesting
import Testing

/// The limit of the time between the parts of a response.
@Suite(.timeLimit(.minutes(15)))
struct SilenceTests {
    /// A transport whose response is a stream of events, of which the test sends each part.
    private final class FedTransport: HTTPTransport {
        /// The waits for a part, in order.
        let waits = OrderRecorder<Int>()
        /// The exchanges that have ended.
        let ends = OrderRecorder<Int>()
        private let parts = Locked<[AsyncStream<Data>.Continuation]>([])

        func send(_ part: String) { parts.withLock(\.last)?.yield(Data(part.utf8)) }

        func finish() { parts.withLock(\.last)?.finish() }

        func withResponse<Value>(
            to request: HTTPTransportRequest,
            _ receive: (HTTPTransportResponse) async throws -> Value
        ) async throws -> Value {
            let (stream, continuation) = AsyncStream<Data>.makeStream()
            parts.withLock { $0.append(continuation) }
            defer { ends.record(0) }
            let head = HTTPURLResponse(
                url: request.request.url!,
                statusCode: 200,
                httpVersion: nil,
                headerFields: ["Content-Type": "text/event-stream"]
            )
            var iterator = stream.makeAsyncIterator()
            let body = HTTPResponseBody { [waits] in
                waits.record(0)
                let part = await iterator.next()
                try Task.checkCancellation()
                return part
            }
            return try await receive(HTTPTransportResponse(head: head!, body: body))
        }
    }

    private let clock = TestClock()
    private let transport = FedTransport()

    private func client(_ limit: Duration? = .seconds(30), retry: HTTPRetryPolicy? = nil) -> EndpointClient {
        var policies = ClientPolicies(retry: retry, silenceLimit: limit)
        policies.clock = clock
        return EndpointClient(transport, policies: policies)
    }

    enum Form: String, CaseIterable, Codable {
        case body, lines, events, collected, download

        func read(_ client: EndpointClient) async throws {
            switch self {
            case .body: try await client.withResponse(to: Text()) { for try await _ in $0.body {} }
            case .lines: try await client.withResponse(to: Text()) { for try await _ in $0.lines {} }
            case .events: try await client.withResponse(to: Text()) { for try await _ in $0.events {} }
            case .collected: _ = try await client.request(Text())
            case .download:
                let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
                defer { try? FileManager.default.removeItem(at: file) }
                _ = try await client.download(Text(), to: file)
            }
        }
    }

    @Test(arguments: Form.allCases)
    func aSilentServerFailsTheCall(_ form: Form) async throws {
        let call = Task { [client = client()] in try await form.read(client) }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(30), waking: 1)
        #expect(await thrown { try await call.value } as? TimeoutError == TimeoutError(duration: .seconds(30)))
        #expect(transport.ends.count == 1)
    }

    /// A comment of a stream of events is no event, but it shows that the server is there.
    @Test(arguments: Form.allCases)
    func eachPartBeginsTheTimeAgain(_ form: Form) async throws {
        let call = Task { [client = client()] in try await form.read(client) }
        for part in 1...3 {
            try await transport.waits.waitForEvents(count: part)
            try await clock.waitForSleepers()
            await clock.advance(by: .seconds(20), waking: part > 1 ? 1 : 0)
            transport.send(": idle\n\n")
        }
        try await transport.waits.waitForEvents(count: 4)
        transport.finish()
        try await call.value
    }

    @Test func theTimeOfTheReaderDoesNotCount() async throws {
        let client = client()
        try await client.withResponse(to: Text()) { [clock, transport] response in
            transport.send("a")
            var parts = response.body.makeAsyncIterator()
            let first = try await parts.next()
            // Longer than the limit.
            await clock.advance(by: .seconds(3_600))
            transport.send("b")
            let second = try await parts.next()
            transport.finish()
            let end = try await parts.next()
            #expect([first, second, end] == [Data("a".utf8), Data("b".utf8), nil])
        }
    }

    @Test func theReaderReceivesTheErrorAndTheCallToo() async throws {
        let errors = OrderRecorder<Bool>()
        let call = Task { [client = client()] in
            try await client.withResponse(to: Text()) { response in
                do { for try await _ in response.events {} } catch { errors.record(error is TimeoutError) }
            }
        }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(30), waking: 1)
        #expect(await thrown { try await call.value } is TimeoutError)
        #expect(errors.events == [true])
    }

    @Test func aCallerThatIsCancelledAtTheLimitReceivesCancellationError() async throws {
        let call = Task { [client = client()] in try await Form.events.read(client) }
        try await clock.waitForSleepers()
        call.cancel()
        await clock.advance(by: .seconds(30))
        #expect(await thrown { try await call.value } is CancellationError)
    }

    @Test func anAttemptThatIsSilentIsRepeated() async throws {
        let client = client(retry: HTTPRetryPolicy(backoff: .none))
        let call = Task { try await client.request(Text()) }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(30), waking: 1)
        try await transport.waits.waitForEvents(count: 2)
        transport.send("there")
        transport.finish()
        #expect(try await call.value == "there")
    }

    @Test @MainActor func aReaderStaysOnItsActor() async throws {
        let (client, transport) = (client(), transport)
        let text = try await client.withResponse(to: Text()) { response in
            MainActor.assertIsolated()
            transport.send("there")
            transport.finish()
            var text = ""
            for try await part in response.body {
                MainActor.assertIsolated()
                text += String(decoding: part, as: UTF8.self)
            }
            return text
        }
        #expect(text == "there")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func theConnectionOfASilentServerEnds(_ kind: TransportUnderTest) async throws {
        let server = try RawServer.halfway()
        let client = EndpointClient(
            baseURL: server.url(""),
            transport: kind.make(),
            policies: ClientPolicies(silenceLimit: .milliseconds(20))
        )
        #expect(await thrown { try await Form.body.read(client) } is TimeoutError)
        try await server.log.wait { $0.live == 0 }
    }
}
