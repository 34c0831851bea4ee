import Foundation
import TaskControl
import TaskControlResilience
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlHTTP

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
#endif

/// Failures of both transports that another attempt cannot change.
@Suite(.timeLimit(.minutes(15)))
struct PermanentFailureTests {
    @Test(arguments: TransportUnderTest.allCases, ["ftp://127.0.0.1:1/", "foo://127.0.0.1:1/", "http://127.0.0.1:0/"])
    func aURLThatCannotBeAskedForIsNotRetried(_ kind: TransportUnderTest, _ url: String) async throws {
        try await expectOneAttempt(kind) { try await $0.request(Text(path: url)) }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aRedirectThatLeadsNowhereIsNotRetried(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in try connection.respond(302, [("Location", "http://h:0/")]) }
        try await expectOneAttempt(kind) { try await $0.request(Text(path: server.url().absoluteString)) }
    }

    /// Apple's session itself sees that a body has another length.
    @Test(
        arguments: TransportUnderTest.allCases.filter { $0 != .urlSession || !URLSessionTransport.isHeldBack },
        [3, 9]
    )
    func anUploadOfAnotherLengthThanItWasSaidToHaveIsNotRetried(_ kind: TransportUnderTest, _ length: Int64)
        async throws
    {
        let server = try RawServer { connection, request in
            try connection.readBody(of: request)
            try connection.respond()
        }
        try await expectOneAttempt(kind) { client in
            let body = UploadEndpointBody.stream(length: length) { InputStream(data: Data("hello".utf8)) }
            return try await client.upload(Upload(path: server.url().absoluteString, body: body))
        }
    }

    @Test(arguments: [
        (Mishap() as any Error, false), (CancellationError(), false), (CocoaError(.fileReadUnknown), false),
        (DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "")), false),
        (URLError(.cannotDecodeRawData), false), (URLError(.cannotDecodeContentData), false),
        (EndpointError(.transport, underlyingError: Mishap()), false), (URLError(.networkConnectionLost), true),
        (POSIXError(.ECONNABORTED), true), (TimeoutError(duration: .seconds(1)), true),
        (EndpointError(.transport), true),
        (EndpointError(.transport, underlyingError: POSIXError(.ECONNRESET)), true),
    ])
    func onlyAnErrorThatIsKnownToBeTransientIsRetryable(_ example: (error: any Error, isRetryable: Bool)) {
        #expect(isRetryable(example.error) == example.isRetryable)
    }

    @Test func anErrorOfAnUnknownTypeIsNeitherRetriedNorAFailureOfTheHost() async throws {
        let transport = ScriptedTransport(.unreachable(Mishap()))
        let judge = Judge()
        let policies = ClientPolicies(retry: HTTPRetryPolicy(backoff: .none), resilience: .shared(judge.policy))
        let client = EndpointClient(transport, policies: policies)
        let error = await #expect(throws: EndpointError.self) { try await client.request(Text()) }
        #expect(error?.underlyingError is Mishap)
        #expect(transport.sent.count == 1)
        #expect(await judge.verdict == .unknown)
    }

    #if AsyncHTTPClient
    @Test func errorsOfTheNetworkLibrariesAreRetryable() {
        let errors: [any Error] = [
            IOError(errnoCode: ECONNRESET, reason: "read"), ChannelError.eof, HTTPParserError.invalidStatus,
            BoringSSLError.noError, NIOHTTP2Errors.noSuchStream(streamID: 1),
        ]
        for error in errors { #expect(isRetryable(error)) }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aCertificateThatIsNotTrustedIsNotRetried(_ kind: TransportUnderTest) async throws {
        let server = try await SelfSignedServer()
        defer { server.close() }
        try await expectOneAttempt(kind) { try await $0.request(Text(path: server.url)) }
    }

    @Test(arguments: [
        HTTPClientError.invalidURL, .emptyHost, .emptyScheme, .missingSocketPath, .unsupportedScheme("foo"),
        .invalidHeaderFieldNames(["X A"]), .invalidHeaderFieldValues(["\n"]),
        .bodyLengthMismatch, .traceRequestWithBody, .redirectLimitReached, .redirectCycleDetected,
        .serverOfferedUnsupportedApplicationProtocol("h9"), .alreadyShutdown, .cancelled,
    ])
    func errorsInTheRequestAreNotRetryable(_ error: HTTPClientError) {
        #expect(!error.isRetryable)
    }

    @Test(arguments: [
        HTTPClientError.connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout, .deadlineExceeded,
        .getConnectionFromPoolTimeout, .remoteConnectionClosed,
    ])
    func errorsOfTheNetworkAreRetryable(_ error: HTTPClientError) {
        #expect(error.isRetryable)
    }

    @Test func aHandshakeThatIsCutShortIsRetryable() {
        #expect(NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])).isRetryable)
        #expect(!NIOSSLError.handshakeFailed(.sslError([])).isRetryable)
        #expect(!NIOSSLExtraError.failedToValidateHostname.isRetryable)
    }
    #endif

    #if canImport(FoundationNetworking)
    @Test(arguments: [
        ("SSL certificate problem: self-signed certificate", URLError.Code.serverCertificateHasUnknownRoot),
        ("SSL certificate problem: unable to get local issuer certificate", .serverCertificateHasUnknownRoot),
        ("SSL certificate problem: certificate has expired", .serverCertificateHasBadDate),
        ("SSL certificate problem: certificate is not yet valid", .serverCertificateNotYetValid),
        ("SSL: no alternative certificate subject name matches target host name 'a'", .serverCertificateUntrusted),
        ("Failed writing header", .unknown),
    ])
    func anErrorOfLibcurlHasTheCodeOfApplesPlatforms(_ text: String, _ code: URLError.Code) {
        let error = URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: text])
        #expect((SessionPlatform.failure(error) as? URLError)?.code == code)
        let other = URLError(.timedOut, userInfo: [NSLocalizedDescriptionKey: text])
        #expect((SessionPlatform.failure(other) as? URLError)?.code == .timedOut)
    }
    #endif

    private func expectOneAttempt(
        _ kind: TransportUnderTest,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ call: (EndpointClient) async throws -> String
    ) async throws {
        let attempts = OrderRecorder<Int>()
        let budget = RetryBudget()
        let client = EndpointClient(
            requestAdapter: Unchanged(),
            transport: kind.make(),
            policies: ClientPolicies(
                retry: HTTPRetryPolicy(attempts: 3, backoff: .none, budget: budget)
            ),
            responseObserver: { _, _, _, _ in attempts.record(1) }
        )
        let error = await #expect(throws: EndpointError.self, sourceLocation: sourceLocation) { try await call(client) }
        #expect(error?.reason == .transport, sourceLocation: sourceLocation)
        #expect(attempts.count == 1, "\(String(describing: error))", sourceLocation: sourceLocation)
        #expect(budget.available == budget.capacity, sourceLocation: sourceLocation)
    }

    private struct Unchanged: URLRequestAdapter {
        func adapt(_ request: URLRequest) throws -> URLRequest { request }
    }
}
