extension HTTPTransport {
    /// Sends a request and collects the response. With `hedging`, the request is sent again if the response takes long,
    /// and progress is reported only at the end.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - response: Receives the head and the body, even if the exchange fails.
    ///   - limit: The largest body, in bytes. A larger body ends the exchange with ``EndpointError/Reason/bodyTooLarge``.
    ///     `nil`: no limit.
    ///   - hedging: The rule for when the request is sent again; `nil` for no hedging.
    ///   - progress: Reports the progress; `nil` for no reports.
    func collect(
        _ request: PreparedRequest,
        into response: inout ReceivedResponse,
        limit: Int?,
        hedging: ExchangeHedging?,
        _ progress: ProgressReporter.Transfer?
    ) async throws {
        guard let hedging else { return try await collect(request, into: &response, limit: limit, progress) }
        try await hedging.collect(request, over: self, into: &response, limit: limit)
        progress?.show(response)
    }

    /// Sends a request and collects the response.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - response: Receives the head and the body as they arrive, so that they are available even if the exchange
    ///     fails.
    ///   - limit: The largest body, in bytes. A larger one ends the exchange with ``EndpointError/Reason/bodyTooLarge``.
    ///     `nil`: no limit.
    ///   - progress: Reports the progress; `nil` for no reports.
    func collect(
        _ request: PreparedRequest,
        into response: inout ReceivedResponse,
        limit: Int?,
        _ progress: ProgressReporter.Transfer?
    ) async throws {
        try await withResponse(to: request.transportRequest(progress)) { arriving in
            response.head = arriving.head
            progress?.expect(arriving.head)
            var rest = limit.map { max(0, $0) }
            for try await chunk in arriving.body {
                rest = rest.map { $0 - chunk.count }
                if let limit, let rest, rest < 0 { throw EndpointError.bodyTooLarge(limit) }
                response.append(chunk)
                progress?.didReceive(chunk.count)
            }
            if response.body == nil { response.body = Data() }
        }
    }
}

extension EndpointError {
    fileprivate static func bodyTooLarge(_ limit: Int) -> EndpointError {
        EndpointError(
            .bodyTooLarge,
            detail:
                "more than \(limit) bytes, the limit of ClientPolicies.bodyLimit: raise it, or use download(_:to:) or withResponse(to:), which "
                + "have none"
        )
    }
}
