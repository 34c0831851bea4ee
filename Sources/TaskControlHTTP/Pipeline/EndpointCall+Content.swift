internal import Foundation

extension EndpointCall {
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
}
