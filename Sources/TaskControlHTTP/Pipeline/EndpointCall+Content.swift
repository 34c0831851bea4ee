internal import Foundation

extension EndpointCall {
    /// Sends the request of an endpoint, collects the response, and decodes its content.
    ///
    /// - Parameter onProgress: Receives the progress of the upload and the response; `nil` for no reports.
    func content(onProgress: (@Sendable (TransferProgress) -> Void)?) async throws -> Content {
        let reporter = onProgress.map(ProgressReporter.init)
        return try await pipeline.run(isCollected: true) {
            try makeRequest()
        } exchange: { request, attempt in
            let progress = reporter?.begin()
            defer { progress?.end() }
            try await pipeline.collect(request, into: &attempt, progress)
            attempt.stage = .reading
            let (request, data) = (request.requestWithoutCredentials, attempt.response.body ?? Data())
            if let head = attempt.response.head {
                try pipeline.check(attempt) { try validate(request, head, data) }
            }
            return try content(from: attempt.response.head, with: data)
        }
    }
}
