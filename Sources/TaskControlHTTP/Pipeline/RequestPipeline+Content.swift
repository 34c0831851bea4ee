extension RequestPipeline {
    /// Sends the request of an endpoint, collects the response, and makes its content.
    func content<Content>(
        of endpoint: EndpointCall<Content>,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> Content {
        let reporter = onProgress.map(ProgressReporter.init)
        return try await run {
            try endpoint.makeRequest()
        } exchange: { request, attempt in
            let progress = reporter?.begin()
            defer { progress?.end() }
            try await collect(request, into: &attempt, progress)
            attempt.stage = .reading
            let (request, data) = (request.requestWithoutCredentials, attempt.response.body ?? Data())
            if let head = attempt.response.head {
                try check(attempt, to: request) { try endpoint.validate(request, head, data) }
            }
            return try endpoint.content(from: attempt.response.head, with: data)
        }
    }
}
