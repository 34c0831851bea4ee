public import Foundation

/// A transport without a network, for tests: a closure answers each request.
///
/// ```swift
/// let transport = MockTransport { request in (200, Data(#"[{"title": "Emma"}]"#.utf8)) }
/// let client = EndpointClient(baseURL: "https://books.example", transport: transport)
/// let books = try await client.get("books", as: [Book].self)
/// #expect(transport.requests.first?.url?.path == "/books")
/// ```
///
/// The closure runs in the task of the caller, so several calls can run it at the same time. An error that it throws
/// counts as an error of the network, for example `URLError(.notConnectedToInternet)`.
///
/// The transport simulates only the request and the response, and does not follow redirects. To test with connections
/// that break off or with slow servers, use a real transport and a local server.
public final class MockTransport: HTTPTransport {
    /// The response with which a ``MockTransport`` answers a request: a status, headers, and a body in one part or in
    /// several parts.
    public struct Response: Sendable {
        /// The status of the response.
        public var status: Int

        /// The headers of the response.
        public var headers: [String: String]

        /// The parts of the body, in the order in which they arrive.
        public var chunks: [Data]

        /// The error that ends the body after its parts; `nil`: the body is complete.
        public var failure: (any Error)?

        /// Creates a response with a body in one part.
        ///
        /// - Parameters:
        ///   - status: The status of the response.
        ///   - headers: The headers of the response.
        ///   - body: The body.
        public init(_ status: Int = 200, headers: [String: String] = [:], body: Data = Data()) {
            self.init(status, headers: headers, chunks: body.isEmpty ? [] : [body])
        }

        /// Creates a response with a body that arrives in parts.
        ///
        /// - Parameters:
        ///   - status: The status of the response.
        ///   - headers: The headers of the response.
        ///   - chunks: The parts of the body.
        ///   - failure: The error that ends the body after its parts; `nil`: the body is complete.
        public init(
            _ status: Int = 200,
            headers: [String: String] = [:],
            chunks: [Data],
            failure: (any Error)? = nil
        ) {
            self.status = status
            self.headers = headers
            self.chunks = chunks
            self.failure = failure
        }
    }

    private let answer: @Sendable (URLRequest) async throws -> Response
    private let recorded = Locked<[URLRequest]>([])

    /// Creates a transport that answers each request with a status and a body.
    ///
    /// - Parameter answer: Returns the status and the body of the response to a request. Receives the request as it
    ///   would be sent, with the credential, and with the body of an upload as its `httpBody`.
    public convenience init(_ answer: @escaping @Sendable (URLRequest) async throws -> (Int, Data)) {
        self.init(answer: { request in
            let (status, body) = try await answer(request)
            return Response(status, body: body)
        })
    }

    private init(answer: @escaping @Sendable (URLRequest) async throws -> Response) {
        self.answer = answer
    }

    /// Creates a transport that answers each request with a response.
    ///
    /// - Parameter respond: Returns the response to a request. Receives the request as it would be sent, with the
    ///   credential, and with the body of an upload as its `httpBody`.
    public static func responding(
        _ respond: @escaping @Sendable (URLRequest) async throws -> Response
    ) -> MockTransport {
        MockTransport(answer: respond)
    }

    /// The requests that the transport has received so far, the first one first.
    public var requests: [URLRequest] { recorded.withLock(\.self) }

    /// Answers a request: calls the closure with which the transport was created, and passes its response to
    /// `receive`.
    ///
    /// ## Cancellation
    /// A caller that was cancelled before the call receives `CancellationError`, and neither closure is called. Both
    /// closures run in the caller's task, so a cancellation reaches what they await.
    public nonisolated(nonsending) func withResponse<Value>(
        to request: HTTPTransportRequest,
        _ receive: nonisolated(nonsending) (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        var sent = try request.normalized()
        if let reader = try sent.openBody() { sent.request.httpBody = try Self.read(reader, sent.didSend) }
        let complete = sent.request
        recorded.withLock { $0.append(complete) }
        let response = try await answer(complete)
        guard let url = complete.url,
            let head = HTTPURLResponse(
                url: url,
                statusCode: response.status,
                httpVersion: "HTTP/1.1",
                headerFields: HeaderField.joined(response.headers)
            )
        else { throw URLError(.badURL) }
        var chunks = response.chunks[...]
        return try await receive(
            HTTPTransportResponse(
                head: head,
                body: HTTPResponseBody {
                    if let chunk = chunks.popFirst() { return chunk }
                    if let failure = response.failure { throw failure }
                    return nil
                }
            )
        )
    }

    private static func read(
        _ reader: UploadReader,
        _ didSend: (@Sendable (_ sent: Int64, _ expected: Int64?) -> Void)?
    ) throws -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = try buffer.withUnsafeMutableBytes { try reader.read(into: $0) }
            if count == 0 { return data }
            data.append(contentsOf: buffer[..<count])
            didSend?(reader.sent, reader.length)
        }
    }
}
