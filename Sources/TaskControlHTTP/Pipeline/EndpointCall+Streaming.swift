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
        } exchange: { request, call in
            let progress = reporter?.begin()
            defer { progress?.end() }
            return try await call.exchange.withResponse(to: request, progress) { response in
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
                call.reportHead()
                return try await receive(HTTPTransportResponse(head: head, body: HTTPResponseBody(next: reader.next)))
            }
        }
    }
}
