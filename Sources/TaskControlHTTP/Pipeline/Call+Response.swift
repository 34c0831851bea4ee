internal import Foundation

// The three ways to receive a response: collected, as it arrives, and in a file.

extension Call {
    /// A function of an endpoint that throws if the endpoint does not accept a response.
    typealias Validate = (URLRequest?, HTTPURLResponse, Data?) throws -> Void

    /// The largest number of bytes of a body that are read for the endpoint's `validate` and for errors, if the status
    /// is not 2xx.
    static var excerpt: Int { 65_536 }

    /// Returns the function that decodes the content of an endpoint, with the decoder and the encoder of this call.
    func decoding<E: ResponseEndpoint>(of endpoint: E) -> Decoding<E.Content> {
        let coding = coding
        if policies.decodesConcurrently {
            return .concurrent { response, body in
                try coding.bind { try endpoint.content(from: response, with: body) }
            }
        }
        return .isolated { response, body in
            try coding.bind { try endpoint.content(from: response, with: body) }
        }
    }

    /// Sends the request of an endpoint, collects the response, and decodes its content.
    func content<Content>(
        _ make: Make,
        _ validate: Validate,
        _ decoding: Decoding<Content>
    ) async throws -> Content {
        var content: Content?
        isCollected = true
        try await run(make) { exchange in
            let progress = beginProgress()
            defer { progress?.end() }
            try await collect(exchange, progress)
            content = try await decoding.content(from: attempt.response.head, with: try collected(validate))
        }
        // `run` returns when the closure has.
        return content!
    }

    /// Performs an exchange and collects the response. The exchange is shared with other calls if the policies allow that.
    private func collect(_ exchange: Exchange, _ progress: ProgressReporter.Transfer?) async throws {
        if policies.coalescesGETRequests, let key = client.sharing.key(of: exchange, policies) {
            return try await client.sharing.collect(exchange, key, for: self, progress)
        }
        // A variable of its own, since it changes during waits.
        var response = ReceivedResponse()
        defer { attempt.response = response }
        if needsTask {
            try await cancellable { try await exchange.collect(into: &response, progress) }
        } else {
            try await exchange.collect(into: &response, progress)
        }
    }

    /// Returns the body of a response that was collected, if the response is no failure.
    @inline(never)
    private func collected(_ validate: Validate) throws -> Data {
        attempt.stage = .reading
        if let head = attempt.response.head {
            try check { try validate(attempt.request, head, attempt.response.body ?? Data()) }
        }
        return attempt.response.body ?? Data()
    }

    /// Sends the request of an endpoint, and passes the response to a closure as it arrives.
    ///
    /// - Parameter receive: Receives the response when its head has arrived and the endpoint has validated it.
    /// - Returns: The value of `receive`.
    func withResponse<Value>(
        _ make: Make,
        _ validate: Validate,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        var value: Value?
        isStreamed = true
        try await run(make) { exchange in
            let progress = beginProgress()
            defer { progress?.end() }
            try await perform(exchange, progress) { response in
                let reader = begin(response, progress)
                progress?.expect(response.head)
                if !(200..<300).contains(response.head.statusCode) {
                    attempt.response.body = try await reader.peek(Self.excerpt)
                }
                try accept(response.head, validate, isFinal: true)
                let body = HTTPResponseBody(next: reader.next)
                value = try await receive(HTTPTransportResponse(head: response.head, body: body))
            }
        }
        return value!
    }

    /// Sends the request of an endpoint, and writes the body of the response to a file. If an attempt breaks off, the
    /// next one requests the rest of the body, if the server supports that.
    ///
    /// - Parameter download: The file, and how much of the body it contains.
    /// - Returns: The head of the response.
    func download(_ make: Make, _ validate: Validate, to download: Download) async throws -> HTTPURLResponse {
        var head: HTTPURLResponse?
        do {
            try await run(make, change: { try download.prepare(&$0) }) { exchange in
                let progress = beginProgress()
                defer { progress?.end() }
                try await perform(exchange, progress) { response in
                    try await write(response, to: download, validate, progress)
                    head = response.head
                }
            }
        } catch {
            download.fail()
            throw error
        }
        return head!
    }

    /// Performs an exchange whose response a closure receives as it arrives.
    private func perform(
        _ exchange: Exchange,
        _ progress: ProgressReporter.Transfer?,
        _ receive: (HTTPTransportResponse) async throws -> Void
    ) async throws {
        if needsTask {
            try await cancellable {
                try await exchange.withResponse(progress, error: { attempt.errorOfHost($0) }, receive)
            }
        } else {
            try await exchange.withResponse(progress, error: { attempt.errorOfHost($0) }, receive)
        }
    }

    private func write(
        _ response: HTTPTransportResponse,
        to download: Download,
        _ validate: Validate,
        _ progress: ProgressReporter.Transfer?
    ) async throws {
        let reader = begin(response, progress)
        let answer = download.answer(response.head)
        if answer == .restart { throw DownloadRestart() }
        if answer == .refuse { attempt.response.body = try await reader.peek(Self.excerpt) }
        try accept(download.head(toValidate: response.head, answer), validate, isFinal: false)
        try begin(download, answer, response.head, progress)
        while let chunk = try await next(reader, download) { try download.write(chunk) }
        try download.finish()
    }

    /// Records the head of a response, and returns the reader of its body.
    @inline(never)
    private func begin(_ response: HTTPTransportResponse, _ progress: ProgressReporter.Transfer?) -> BodyReader {
        attempt.response.head = response.head
        return BodyReader(response.body, progress)
    }

    /// Lets the endpoint validate a head whose body is still arriving.
    @inline(never)
    private func accept(_ head: HTTPURLResponse, _ validate: Validate, isFinal: Bool) throws {
        attempt.stage = .reading
        try check { try validate(attempt.request, head, attempt.response.body) }
        reportHead(isFinal: isFinal)
    }

    @inline(never)
    private func begin(
        _ download: Download,
        _ answer: DownloadStateMachine.Answer,
        _ head: HTTPURLResponse,
        _ progress: ProgressReporter.Transfer?
    ) throws {
        guard case .write(let position) = answer else {
            guard (200..<300).contains(head.statusCode) else { throw EndpointError(.status) }
            throw EndpointError(.content, detail: "the body is a part of the content, which was not requested")
        }
        try download.begin(at: position)
        progress?.expect(head, from: position)
    }

    /// Returns the next part of the body; `nil` at its end.
    ///
    /// The stage of the attempt is `exchange` while the part is received. An error of the network then is a failure of the
    /// host, and permits another attempt if the download can write its file again, as an error before the body does.
    ///
    /// - Throws: ``EndpointError`` with the reason ``EndpointError/Reason/transport`` if the body breaks off, or ends before
    ///   its announced length; `CancellationError`.
    private func next(_ reader: BodyReader, _ download: Download) async throws -> Data? {
        attempt.canBeRepeated = download.canBeSentAgain
        attempt.stage = .exchange
        let chunk = try await reader.next()
        if chunk == nil, !download.isComplete {
            throw EndpointError(.transport, detail: "the body ended before its announced length")
        }
        attempt.stage = .reading
        return chunk
    }
}
