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
            } exchange: { request, attempt in
                let progress = reporter?.begin()
                defer { progress?.end() }
                return try await pipeline.transport.withResponse(to: request.transportRequest(progress)) { response in
                    try await write(response, to: download, request.requestWithoutCredentials, &attempt, progress)
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
        _ attempt: inout Attempt,
        _ progress: ProgressReporter.Transfer?
    ) async throws {
        let head = response.head
        attempt.response.head = head
        let reader = BodyReader(response.body, progress)
        let answer = download.answer(head)
        if answer == .restart { throw DownloadRestart() }
        if answer == .refuse { attempt.response.body = try await reader.peek(Self.excerpt) }
        attempt.stage = .reading
        try pipeline.check(attempt) {
            try validate(request, download.head(toValidate: head, answer), attempt.response.body)
        }
        attempt.reportHead()
        guard case .write(let position) = answer else {
            guard (200..<300).contains(head.statusCode) else { throw EndpointError(.status) }
            throw EndpointError(.content, detail: "the body is a part of the content, which was not requested")
        }
        try download.begin(at: position)
        progress?.expect(head, from: position)
        while let chunk = try await next(reader, download, &attempt) { try download.write(chunk) }
        try download.finish()
    }

    /// Returns the next part of the body; `nil` at its end.
    ///
    /// If the download can write its file again, the stage of `attempt` is `exchange` while the part is received. An
    /// error of the network then permits another attempt, as an error before the body does.
    ///
    /// - Throws: ``EndpointError`` with the reason ``EndpointError/Reason/transport`` if the body breaks off, or ends before
    ///   its announced length; `CancellationError`.
    private func next(_ reader: BodyReader, _ download: Download, _ attempt: inout Attempt) async throws -> Data? {
        if download.canBeSentAgain { attempt.stage = .exchange }
        let chunk = try await reader.next()
        if chunk == nil, !download.isComplete {
            throw EndpointError(.transport, detail: "the body ended before its announced length")
        }
        attempt.stage = .reading
        return chunk
    }
}
