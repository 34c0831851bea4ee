extension RequestPipeline {
    func content<E: Endpoint>(of endpoint: E, onProgress: (@Sendable (TransferProgress) -> Void)?) async throws
        -> E.Content
    {
        try await content(onProgress, validate: endpoint.validate, content: endpoint.content) {
            (try endpoint.makeRequest(), nil)
        }
    }

    func content<E: UploadEndpoint>(of endpoint: E, onProgress: (@Sendable (TransferProgress) -> Void)?) async throws
        -> E.Content
    {
        try await content(onProgress, validate: endpoint.validate, content: endpoint.content) {
            try endpoint.makeRequest()
        }
    }

    private func content<Content>(
        _ onProgress: (@Sendable (TransferProgress) -> Void)?,
        validate: (URLRequest?, HTTPURLResponse, Data?) throws -> Void,
        content: (URLResponse?, Data) throws -> Content,
        make: () throws -> (URLRequest, UploadEndpointBody?)
    ) async throws -> Content {
        let reporter = onProgress.map(ProgressReporter.init)
        return try await run(make: make) { request, attempt in
            let progress = reporter?.begin()
            defer { progress?.end() }
            try await collect(request, into: &attempt, progress)
            attempt.stage = .reading
            let (request, data) = (request.requestWithoutCredentials, attempt.response.body ?? Data())
            if let head = attempt.response.head {
                try check(attempt, to: request) { try validate(request, head, data) }
            }
            return try content(attempt.response.head, data)
        }
    }
}
