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

/// Errors of the client's own code, of the types that the transports throw.
@Suite(.timeLimit(.minutes(15)))
struct ClientCodeTests {
    enum Thrown: CaseIterable {
        case posix, url, timeout, endpoint

        var error: any Error {
            switch self {
            case .posix: POSIXError(.ENOENT)
            case .url: URLError(.networkConnectionLost)
            case .timeout: TimeoutError(duration: .seconds(1))
            case .endpoint: EndpointError(.transport, underlyingError: URLError(.timedOut))
            }
        }

        /// Whether it is this error, or the error of a call that failed because of it.
        func isIn(_ error: (any Error)?) -> Bool {
            let error = (error as? EndpointError)?.underlyingError ?? error
            return switch self {
            case .posix: (error as? POSIXError)?.code == .ENOENT
            case .url: (error as? URLError)?.code == .networkConnectionLost
            case .timeout: error is TimeoutError
            case .endpoint: (error as? URLError)?.code == .timedOut
            }
        }
    }

    // MARK: Uploads

    enum Source: CaseIterable {
        case opening, beginning, middle

        func body(_ thrown: Thrown) -> UploadEndpointBody {
            switch self {
            case .opening: .stream(length: 100) { throw thrown.error }
            case .beginning: .stream(length: 100) { BrokenStream(thrown.error, after: 0) }
            case .middle: .stream(length: 100) { BrokenStream(thrown.error, after: 50) }
            }
        }
    }

    /// Apple's session cannot read a stream of a program's own class.
    private static let sources: [(TransportUnderTest, Source)] = TransportUnderTest.allCases.flatMap { kind in
        Source.allCases.filter { $0 == .opening || kind != .urlSession || !URLSessionTransport.isHeldBack }
            .map { (kind, $0) }
    }

    private func expectNoFailure(
        _ transport: any HTTPTransport,
        _ body: UploadEndpointBody,
        to url: URL,
        among place: Place,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> (any Error)? {
        let (attempts, budget, judge) = (OrderRecorder<Int>(), RetryBudget(), Judge())
        let client = EndpointClient(
            requestAdapter: AnyHost(),
            transport: transport,
            policies: ClientPolicies(
                retry: HTTPRetryPolicy(backoff: .none, budget: budget),
                resilience: .shared(place.policy(judge.breaker))
            ),
            responseObserver: { _, _, _, _ in attempts.record(1) }
        )
        let error = await thrown { try await client.upload(Upload(path: url.absoluteString, body: body)) }
        #expect(attempts.count == 1, sourceLocation: sourceLocation)
        #expect(budget.available == budget.capacity, sourceLocation: sourceLocation)
        #expect(await judge.verdict == .unknown, sourceLocation: sourceLocation)
        return error
    }

    @Test(arguments: sources, Thrown.allCases)
    func anUploadThatCannotBeReadIsNoFailureOfTheHost(_ source: (TransportUnderTest, Source), _ thrown: Thrown)
        async throws
    {
        let server = try RawServer { connection, request in
            try connection.readBody(of: request)
            try connection.respond()
        }
        for place in Place.allCases {
            let error = await expectNoFailure(source.0.make(), source.1.body(thrown), to: server.url(), among: place)
            #expect(thrown.isIn(error), "\(String(describing: error))")
        }
    }

    /// A transport of another module, which opens the stream itself.
    @Test(arguments: Thrown.allCases)
    func aStreamThatCannotBeOpenedIsNoFailureWhateverTheTransport(_ thrown: Thrown) async throws {
        let url = try #require(URL(string: "http://h/upload"))
        for place in Place.allCases {
            let body = Source.opening.body(thrown)
            let error = await expectNoFailure(ScriptedTransport(), body, to: url, among: place)
            #expect(thrown.isIn(error), "\(String(describing: error))")
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aFileThatCannotBeReadIsNoFailureOfTheHost(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in try connection.respond() }
        let none = FileManager.default.temporaryDirectory.appendingPathComponent("none-\(UUID().uuidString)")
        for place in Place.allCases {
            _ = await expectNoFailure(kind.make(), .file(none), to: server.url(), among: place)
        }
    }

    /// `retry` around the call.
    @Test(arguments: TransportUnderTest.allCases)
    func theErrorOfAnUploadThatCannotBeReadIsNotWorthRetrying(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in try connection.respond() }
        let client = EndpointClient(requestAdapter: AnyHost(), transport: kind.make())
        for thrown in [Thrown.posix, .url] {
            let upload = Upload(path: server.url().absoluteString, body: Source.opening.body(thrown))
            let error = await #expect(throws: EndpointError.self) { try await client.upload(upload) }
            #expect(error?.isWorthRetrying == false)
        }
    }

    #if AsyncHTTPClient
    /// As a connection fails that the server has closed before the request was sent.
    @Test(arguments: [HTTPClientError.remoteConnectionClosed as any Error, ChannelError.ioOnClosedChannel])
    func anUploadThatFailsAsAKeptConnectionDoesIsNotSentAgainByTheTransport(_ error: any Error) async throws {
        let server = try RawServer { connection, request in
            try connection.readBody(of: request)
            try connection.respond()
        }
        let opened = OrderRecorder<Int>()
        var request = URLRequest(url: server.url())
        request.httpMethod = "PUT"
        let body = UploadEndpointBody.stream(length: 100) {
            opened.record(1)
            return BrokenStream(error, after: 50)
        }
        let upload = HTTPTransportRequest(request, body: body)
        #expect(await thrown { try await TransportUnderTest.asyncHTTPClient.make().fetch(upload) } != nil)
        #expect(opened.count == 1)
    }
    #endif

    @Test func anUploadOfWhichTheNextAttemptBreaksOffIsAFailureOfTheHost() async throws {
        let opened = OrderRecorder<Int>()
        let transport = ScriptedTransport(.status(503), .unreachable())
        let judge = Judge()
        let policies = ClientPolicies(
            retry: HTTPRetryPolicy(attempts: 2, backoff: .none),
            resilience: .shared(judge.policy)
        )
        let body = UploadEndpointBody.stream(length: nil) {
            opened.record(1)
            return InputStream(data: Data("x".utf8))
        }
        let client = EndpointClient(transport, policies: policies)
        await #expect(throws: EndpointError.self) { try await client.upload(Upload(body: body)) }
        #expect(opened.count == 2)
        #expect(await judge.verdict == .failed)
    }

    // MARK: Responses

    enum Place: CaseIterable {
        case breaker, callParts, attemptParts

        func policy(_ breaker: CircuitBreaker) -> HostPolicy {
            switch self {
            case .breaker: HostPolicy(breaker: breaker)
            case .callParts: HostPolicy(callParts: [breaker])
            case .attemptParts: HostPolicy(attemptParts: [breaker])
            }
        }
    }

    private struct Failing: Endpoint {
        typealias Content = String

        var path = "failing"
        var validation: Thrown?
        var decoding: Thrown?

        func makeRequest() throws -> URLRequest { get(RequestURL(path)) }

        func validate(_ request: URLRequest?, response: HTTPURLResponse, data: Data?) throws {
            if let validation { throw validation.error }
        }

        func content(from response: URLResponse?, with body: Data) throws -> String {
            if let decoding { throw decoding.error }
            return String(decoding: body, as: UTF8.self)
        }
    }

    private func client(_ judge: Judge, among place: Place) -> EndpointClient {
        let policies = ClientPolicies(
            retry: HTTPRetryPolicy(backoff: .none),
            resilience: .shared(place.policy(judge.breaker))
        )
        return EndpointClient(ScriptedTransport(.ok("there")), policies: policies)
    }

    @Test(arguments: Thrown.allCases, Place.allCases)
    func anErrorOfTheEndpointIsNoFailureOfTheHost(_ thrown: Thrown, _ place: Place) async throws {
        for endpoint in [Failing(validation: thrown), Failing(decoding: thrown)] {
            let judge = Judge()
            let error = await TaskControlHTTPTests.thrown {
                try await client(judge, among: place).request(endpoint)
            }
            #expect(thrown.isIn(error), "\(String(describing: error))")
            #expect(await judge.verdict == .healthy)
        }
    }

    @Test(arguments: Thrown.allCases, Place.allCases)
    func anErrorOfTheValidationOfAStreamIsNoFailureOfTheHost(_ thrown: Thrown, _ place: Place) async throws {
        let judge = Judge()
        let error = await TaskControlHTTPTests.thrown {
            try await client(judge, among: place).withResponse(to: Failing(validation: thrown)) { _ in }
        }
        #expect(thrown.isIn(error), "\(String(describing: error))")
        #expect(await judge.verdict == .healthy)
    }

    @Test(arguments: Thrown.allCases, Place.allCases)
    func anErrorOfTheCodeThatReadsAStreamIsNoFailureOfTheHost(_ thrown: Thrown, _ place: Place) async throws {
        for parts in 0...2 {
            let judge = Judge()
            let error = await TaskControlHTTPTests.thrown {
                try await client(judge, among: place).withResponse(to: Failing()) { response in
                    var iterator = response.body.makeAsyncIterator()
                    for _ in 0..<parts { _ = try await iterator.next() }
                    throw thrown.error
                }
            }
            #expect(thrown.isIn(error), "\(String(describing: error))")
            #expect(await judge.verdict == .healthy)
        }
    }

    @Test(arguments: Place.allCases)
    func aStatusOfTheHostIsAFailureAlsoIfTheCodeThatReadsItThrows(_ place: Place) async throws {
        let judge = Judge()
        let policies = ClientPolicies(resilience: .shared(place.policy(judge.breaker)))
        let client = EndpointClient(ScriptedTransport(.status(503)), policies: policies)
        await #expect(throws: URLError.self) {
            try await client.withResponse(to: Text()) { _ in throw URLError(.timedOut) }
        }
        #expect(await judge.verdict == .failed)
    }

    @Test(arguments: Place.allCases)
    func aStreamThatBreaksOffAfterItsHeadIsNoFailureOfTheHost(_ place: Place) async throws {
        let reply = ScriptedTransport.Reply(chunks: [Data("the".utf8)], failure: URLError(.networkConnectionLost))
        let judge = Judge()
        let policies = ClientPolicies(resilience: .shared(place.policy(judge.breaker)))
        let client = EndpointClient(ScriptedTransport(reply), policies: policies)
        await #expect(throws: EndpointError.self) {
            try await client.withResponse(to: Text()) { for try await _ in $0.body {} }
        }
        #expect(await judge.verdict == .healthy)
    }

    /// A link to the device that accepts no data.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")), arguments: Place.allCases)
    func aDownloadThatCannotBeWrittenIsNoFailureOfTheHost(_ place: Place) async throws {
        let judge = Judge()
        await #expect(throws: (any Error).self) {
            try await client(judge, among: place).download(Text(), to: URL(fileURLWithPath: "/dev/full"))
        }
        #expect(await judge.verdict == .healthy)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aTimeoutErrorOfAnEndpointDoesNotEndTheSharingOfOtherRequests() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { request in
            if request.url.hasSuffix("text") { try await gate.wait() }
            return .ok("there")
        }
        let client = EndpointClient(transport, policies: ClientPolicies(coalescesGETRequests: true))
        let first = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        await #expect(throws: TimeoutError.self) { try await client.request(Failing(decoding: .timeout)) }
        // Runs up to its wait before the test continues.
        let second = Task.immediate { try await client.request(Text()) }
        gate.open()
        #expect(try await first.value == "there")
        #expect(try await second.value == "there")
        #expect(transport.sent.count == 2)
    }
}
