extension RequestPipeline {
    func content<E: Endpoint>(of endpoint: E, onProgress: (@Sendable (TransferProgress) -> Void)?) async throws
        -> E.Content
    {
        let reporter = onProgress.map(ProgressReporter.init)
        return try await run {
            (try endpoint.makeRequest(), nil)
        } exchange: { outgoing, arrival in
            let progress = reporter?.begin()
            defer { progress?.end() }
            try await gather(outgoing, &arrival, progress)
            return try read(outgoing, &arrival, validate: endpoint.validate, content: endpoint.content)
        }
    }

    func content<E: UploadEndpoint>(of endpoint: E, onProgress: (@Sendable (TransferProgress) -> Void)?) async throws
        -> E.Content
    {
        let reporter = onProgress.map(ProgressReporter.init)
        return try await run {
            try endpoint.makeRequest()
        } exchange: { outgoing, arrival in
            let progress = reporter?.begin()
            defer { progress?.end() }
            try await gather(outgoing, &arrival, progress)
            return try read(outgoing, &arrival, validate: endpoint.validate, content: endpoint.content)
        }
    }

    /// Lets the endpoint make its content of a response that is there.
    private func read<Content>(
        _ outgoing: Outgoing,
        _ arrival: inout Arrival,
        validate: (URLRequest?, HTTPURLResponse, Data?) throws -> Void,
        content: (URLResponse?, Data) throws -> Content
    ) throws -> Content {
        arrival.stage = .reading
        let data = arrival.data ?? Data()
        if let response = arrival.response {
            try check(response, to: outgoing.shown) { try validate(outgoing.shown, response, data) }
        }
        return try content(arrival.response, data)
    }
}
