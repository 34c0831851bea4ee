internal import Foundation

/// The functions of an endpoint or an upload endpoint that a call uses, and the ``RequestPipeline`` of the call.
struct EndpointCall<Content> {
    let pipeline: RequestPipeline
    private let request: () throws -> (URLRequest, UploadEndpointBody?)
    private let validation: (URLRequest?, HTTPURLResponse, Data?) throws -> Void
    private let decoding: (URLResponse?, Data) throws -> Content

    init<E: Endpoint>(_ endpoint: E, _ pipeline: RequestPipeline) where E.Content == Content {
        self.init(endpoint, pipeline) { (try endpoint.makeRequest(), nil) }
    }

    init<E: UploadEndpoint>(_ endpoint: E, _ pipeline: RequestPipeline) where E.Content == Content {
        self.init(endpoint, pipeline) { try endpoint.makeRequest() }
    }

    private init<E: ResponseEndpoint>(
        _ endpoint: E,
        _ pipeline: RequestPipeline,
        _ request: @escaping () throws -> (URLRequest, UploadEndpointBody?)
    ) where E.Content == Content {
        self.pipeline = pipeline.call(endpoint.adjust, endpoint.decoder, endpoint.encoder)
        self.request = request
        validation = endpoint.validate
        decoding = endpoint.content
    }

    func makeRequest() throws -> (URLRequest, UploadEndpointBody?) {
        try pipeline.coding.bind(request)
    }

    func validate(_ request: URLRequest, _ response: HTTPURLResponse, _ data: Data?) throws {
        try pipeline.coding.bind { try validation(request, response, data) }
    }

    func content(from response: HTTPURLResponse?, with body: Data) throws -> Content {
        try pipeline.coding.bind { try decoding(response, body) }
    }

    /// Sends the request of an endpoint, collects the response, and decodes its content.
    ///
    /// - Parameter onProgress: Receives the progress of the upload and the response; `nil` for no reports.
    func content(onProgress: (@Sendable (TransferProgress) -> Void)?) async throws -> Content {
        let reporter = onProgress.map(ProgressReporter.init)
        return try await pipeline.run(isCollected: true) {
            try makeRequest()
        } exchange: { request, call in
            let progress = reporter?.begin()
            defer { progress?.end() }
            try await pipeline.collect(request, into: &call, progress)
            call.attempt.stage = .reading
            let (request, data) = (request.requestWithoutCredentials, call.attempt.response.body ?? Data())
            if let head = call.attempt.response.head {
                try call.check { try validate(request, head, data) }
            }
            return try content(from: call.attempt.response.head, with: data)
        }
    }

    /// The largest number of bytes of a body that are read for the endpoint's `validate` and for errors, if the status
    /// is not 2xx.
    static var excerpt: Int { 65_536 }

    /// Sends the request of an endpoint, and passes the response to a closure as it arrives.
    ///
    /// - Parameters:
    ///   - onProgress: Receives the progress; `nil` for no reports.
    ///   - receive: Receives the response when its head has arrived and the endpoint has validated it.
    /// - Returns: The value of `receive`.
    func withResponse<Value>(
        onProgress: (@Sendable (TransferProgress) -> Void)?,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        let reporter = onProgress.map(ProgressReporter.init)
        return try await pipeline.run {
            try makeRequest()
        } exchange: { request, call in
            let progress = reporter?.begin()
            defer { progress?.end() }
            return try await call.exchange.withResponse(to: request, progress) { response in
                let (head, request) = (response.head, request.requestWithoutCredentials)
                call.attempt.response.head = head
                progress?.expect(head)
                let reader = BodyReader(response.body, progress)
                let isSuccess = (200..<300).contains(head.statusCode)
                if !isSuccess { call.attempt.response.body = try await reader.peek(Self.excerpt) }
                call.attempt.stage = .reading
                try call.check {
                    try validate(request, head, call.attempt.response.body)
                }
                call.reportHead()
                return try await receive(HTTPTransportResponse(head: head, body: HTTPResponseBody(next: reader.next)))
            }
        }
    }
}
