internal import Foundation

extension EndpointCall {
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
        } exchange: { request, attempt in
            let progress = reporter?.begin()
            defer { progress?.end() }
            return try await pipeline.transport.withResponse(to: request.transportRequest(progress)) { response in
                let (head, request) = (response.head, request.requestWithoutCredentials)
                attempt.response.head = head
                progress?.expect(head)
                let reader = BodyReader(response.body, progress)
                let isSuccess = (200..<300).contains(head.statusCode)
                if !isSuccess { attempt.response.body = try await reader.peek(Self.excerpt) }
                attempt.stage = .reading
                try pipeline.check(attempt) {
                    try validate(request, head, attempt.response.body)
                }
                attempt.reportHead()
                return try await receive(HTTPTransportResponse(head: head, body: HTTPResponseBody(next: reader.next)))
            }
        }
    }
}
