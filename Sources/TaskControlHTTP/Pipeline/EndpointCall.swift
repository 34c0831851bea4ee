internal import Foundation

/// The functions of an endpoint or an upload endpoint that a call uses, and the ``RequestPipeline`` of the call.
struct EndpointCall<Content> {
    let pipeline: RequestPipeline
    private let request: () throws -> (URLRequest, UploadEndpointBody?)
    private let validation: (URLRequest?, HTTPURLResponse, Data?) throws -> Void
    private let decoding: Decoding<Content>

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
        let pipeline = pipeline.call(endpoint.adjust, endpoint.decoder, endpoint.encoder)
        let coding = pipeline.coding
        self.pipeline = pipeline
        self.request = request
        validation = endpoint.validate
        if pipeline.policies.decodesConcurrently {
            decoding = .concurrent { response, body in
                try coding.bind { try endpoint.content(from: response, with: body) }
            }
        } else {
            decoding = .isolated { response, body in
                try coding.bind { try endpoint.content(from: response, with: body) }
            }
        }
    }

    /// Creates a call without an endpoint, which accepts the statuses 200 to 299.
    ///
    /// - Parameters:
    ///   - request: Creates the request, in the caller's isolation.
    ///   - decoding: Decodes the content of the response.
    init(_ pipeline: RequestPipeline, _ request: @escaping () throws -> URLRequest, _ decoding: Decoding<Content>) {
        self.pipeline = pipeline
        self.request = { (try request(), nil) }
        validation = { try EndpointError.validateStatus(of: $1, to: $0, data: $2) }
        self.decoding = decoding
    }

    func makeRequest() throws -> (URLRequest, UploadEndpointBody?) {
        try pipeline.coding.bind(request)
    }

    func validate(_ request: URLRequest, _ response: HTTPURLResponse, _ data: Data?) throws {
        try pipeline.coding.bind { try validation(request, response, data) }
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
            return try await decoding.content(from: call.attempt.response.head, with: data)
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
            return try await call.exchange.withResponse(to: request, progress, error: { call.attempt.errorOfHost($0) })
            {
                response in
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
                call.reportHead(isFinal: true)
                return try await receive(HTTPTransportResponse(head: head, body: HTTPResponseBody(next: reader.next)))
            }
        }
    }
}

extension EndpointCall {
    /// Sends the request of an endpoint, and writes the body of the response to a file. If an attempt breaks off, the
    /// next one requests the rest of the body, if the server supports that.
    ///
    /// - Parameters:
    ///   - download: The file, and how much of the body it contains.
    ///   - onProgress: Receives the progress; `nil` for no reports.
    /// - Returns: The head of the response.
    func download(
        _ download: Download,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> HTTPURLResponse {
        let reporter = onProgress.map(ProgressReporter.init)
        do {
            return try await pipeline.run {
                try makeRequest()
            } prepare: {
                try download.prepare(&$0)
            } exchange: { request, call in
                let progress = reporter?.begin()
                defer { progress?.end() }
                return try await call.exchange.withResponse(
                    to: request,
                    progress,
                    error: { call.attempt.errorOfHost($0) }
                ) { response in
                    try await write(response, to: download, request.requestWithoutCredentials, &call, progress)
                    return response.head
                }
            }
        } catch {
            download.fail()
            throw error
        }
    }

    private func write(
        _ response: HTTPTransportResponse,
        to download: Download,
        _ request: URLRequest,
        _ call: inout Call,
        _ progress: ProgressReporter.Transfer?
    ) async throws {
        let head = response.head
        call.attempt.response.head = head
        let reader = BodyReader(response.body, progress)
        let answer = download.answer(head)
        if answer == .restart { throw DownloadRestart() }
        if answer == .refuse { call.attempt.response.body = try await reader.peek(Self.excerpt) }
        call.attempt.stage = .reading
        try call.check {
            try validate(request, download.head(toValidate: head, answer), call.attempt.response.body)
        }
        call.reportHead(isFinal: false)
        guard case .write(let position) = answer else {
            guard (200..<300).contains(head.statusCode) else { throw EndpointError(.status) }
            throw EndpointError(.content, detail: "the body is a part of the content, which was not requested")
        }
        try download.begin(at: position)
        progress?.expect(head, from: position)
        while let chunk = try await next(reader, download, &call) { try download.write(chunk) }
        try download.finish()
    }

    /// Returns the next part of the body; `nil` at its end.
    ///
    /// The stage of the attempt is `exchange` while the part is received. An error of the network then is a failure of the
    /// host, and permits another attempt if the download can write its file again, as an error before the body does.
    ///
    /// - Throws: ``EndpointError`` with the reason ``EndpointError/Reason/transport`` if the body breaks off, or ends before
    ///   its announced length; `CancellationError`.
    private func next(_ reader: BodyReader, _ download: Download, _ call: inout Call) async throws -> Data? {
        call.attempt.canBeRepeated = download.canBeSentAgain
        call.attempt.stage = .exchange
        let chunk = try await reader.next()
        if chunk == nil, !download.isComplete {
            throw EndpointError(.transport, detail: "the body ended before its announced length")
        }
        call.attempt.stage = .reading
        return chunk
    }
}
