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
        return try await run(make: make) { outgoing, arrival in
            let progress = reporter?.begin()
            defer { progress?.end() }
            try await gather(outgoing, &arrival, progress)
            arrival.stage = .reading
            let data = arrival.data ?? Data()
            if let response = arrival.response {
                try check(arrival, to: outgoing.shown) { try validate(outgoing.shown, response, data) }
            }
            return try content(arrival.response, data)
        }
    }
}
