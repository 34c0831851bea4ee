import Foundation
import TaskControlHTTP
import TaskControlTesting
import Testing

@Suite(.timeLimit(.minutes(15)))
struct ContentTests {
    @Test func contentsThatAreKnownMakeThemselves() async throws {
        struct Bytes: Endpoint {
            typealias Content = Data
            func makeRequest() throws -> URLRequest { URLRequest(url: URL(string: "bytes")!) }
        }
        struct Nothing: Endpoint {
            typealias Content = Void
            func makeRequest() throws -> URLRequest { URLRequest(url: URL(string: "nothing")!) }
        }
        let client = EndpointClient(ScriptedTransport(.ok("[1, 2]")))
        #expect(try await client.request(Numbers()) == [1, 2])
        #expect(try await client.request(Text()) == "[1, 2]")
        #expect(try await client.request(Bytes()) == Data("[1, 2]".utf8))
        try await client.request(Nothing())
    }

    @Test func aTransportErrorBeatsAValidationError() async throws {
        let reply = ScriptedTransport.Reply(
            status: 500,
            chunks: [Data("half".utf8)],
            failure: URLError(.networkConnectionLost)
        )
        let client = EndpointClient(ScriptedTransport(reply))
        let error = await #expect(throws: EndpointError.self) { try await client.request(Checked()) }
        #expect(error?.reason == .transport)
        #expect((error?.underlyingError as? URLError)?.code == .networkConnectionLost)
        #expect(error?.statusCode == 500)
        #expect(error?.bodyPrefix == "half")
    }

    @Test func anUploadIsValidatedLikeARequest() async throws {
        struct Picky: UploadEndpoint {
            typealias Content = String
            func makeRequest() throws -> (URLRequest, UploadEndpointBody) {
                (URLRequest(url: URL(string: "picky")!), .data(Data()))
            }
            func validate(_ request: URLRequest?, response: HTTPURLResponse, data: Data?) throws {
                if response.statusCode != 201 {
                    throw Mishap(name: data.map { String(decoding: $0, as: UTF8.self) } ?? "")
                }
            }
        }
        #expect(try await EndpointClient(ScriptedTransport(.status(201, "made"))).upload(Picky()) == "made")
        await #expect(throws: Mishap(name: "full")) {
            try await EndpointClient(ScriptedTransport(.status(507, "full"))).upload(Picky())
        }
    }

    @Test func eachKindOfBodyIsSentAndToldOf() async throws {
        let data = Data((0..<3_500).map { UInt8($0 % 251) })
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "taskcontrol-\(UInt64.random(in: 0 ... .max))"
        )
        try data.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let bodies: [UploadEndpointBody] = [
            .data(data), .file(file), .stream(length: 3_500) { InputStream(data: data) },
            .stream(InputStream(data: data)),
        ]
        for body in bodies {
            let transport = ScriptedTransport(.ok("thanks"))
            let told = OrderRecorder<TransferProgress>()
            let content = try await EndpointClient(transport).upload(Upload(body: body)) { told.record($0) }
            #expect(content == "thanks")
            #expect(transport.sent.events.map(\.body) == [data])
            #expect(told.events.map(\.sent).max() == 3_500)
            #expect(told.events.last?.received == 6)
        }
    }

    @Test func progressBeginsAgainWithEachAttempt() async throws {
        let transport = ScriptedTransport(.status(503, "busy"), .ok("thanks"))
        let told = OrderRecorder<[Int64]>()
        let client = EndpointClient(transport, policies: ClientPolicies(retry: HTTPRetryPolicy(backoff: .none)))
        _ = try await client.upload(Upload(body: .data(Data("four".utf8)))) { told.record([$0.sent, $0.received]) }
        #expect(told.events == [[4, 0], [4, 0], [4, 4], [4, 0], [4, 0], [4, 6]])
    }

    @MainActor
    @Test func endpointsAdaptersAndObserversRunInTheCallersIsolation() async throws {
        // Each traps if it is elsewhere.
        struct AtHome: Endpoint, URLRequestAdapter {
            typealias Content = String
            func makeRequest() throws -> URLRequest {
                MainActor.preconditionIsolated()
                return URLRequest(url: URL(string: "http://h")!)
            }
            func content(from response: URLResponse?, with body: Data) throws -> String {
                MainActor.preconditionIsolated()
                return "at home"
            }
            func validate(_ request: URLRequest?, response: HTTPURLResponse, data: Data?) throws {
                MainActor.preconditionIsolated()
            }
            nonisolated(nonsending) func adapt(_ request: URLRequest) async throws -> URLRequest {
                MainActor.preconditionIsolated()
                return request
            }
        }
        let client = EndpointClient(
            requestAdapter: AtHome(),
            transport: ScriptedTransport(.ok("")),
            policies: ClientPolicies(
                retry: HTTPRetryPolicy(),
                timeout: .seconds(3_600),
                attemptTimeout: .seconds(3_600)
            ),
            responseObserver: { _, _, _, _ in MainActor.preconditionIsolated() }
        )
        #expect(try await client.request(AtHome()) == "at home")
    }

    @Test func anErrorOfTheEndpointsOwnIsCompleted() async throws {
        let error = await #expect(throws: EndpointError.self) {
            try await EndpointClient(ScriptedTransport(.ok(#"{"token": "hush"}"#))).request(Numbers())
        }
        #expect(error?.reason == .content)
        #expect(error?.method == "GET")
        #expect(error?.url == "http://h/api/numbers?token=…")
        #expect(error?.statusCode == 200)
        #expect(error?.bodyPrefix == nil, "a successful body may be the credential itself")
    }

    @Test func whatTheAdapterThrowsArrivesAsItIs() async throws {
        struct Broken: URLRequestAdapter {
            func adapt(_ request: URLRequest) async throws -> URLRequest { throw Mishap(name: "adapter") }
        }
        let client = EndpointClient(requestAdapter: Broken(), transport: ScriptedTransport(.ok("")))
        await #expect(throws: Mishap(name: "adapter")) { try await client.request(Text()) }
    }

    @Test func aCallThatWasCancelledBeforeSendsNothing() async throws {
        let transport = ScriptedTransport(.ok(""))
        let client = EndpointClient(transport)
        let caller = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.request(Text())
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(transport.sent.count == 0)
    }

    @Test func aCancellationOfTheTransportsOwnIsAnErrorLikeOthers() async throws {
        let client = EndpointClient(ScriptedTransport(.unreachable(CancellationError())))
        let error = await #expect(throws: EndpointError.self) { try await client.request(Text()) }
        #expect(error?.reason == .transport)
        #expect(error?.underlyingError is CancellationError)
    }
}
