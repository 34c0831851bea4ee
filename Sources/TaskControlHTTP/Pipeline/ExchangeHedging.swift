internal import TaskControlResilience

/// The rule by which a request is sent again, while the first exchange continues, if the response takes unusually long
/// (*hedging*). The first exchange that succeeds is used, and the others are cancelled.
struct ExchangeHedging: Sendable {
    private let hedging: ResiliencePolicy.Hedging
    private let clock: any Clock<Duration>

    init(_ hedging: ResiliencePolicy.Hedging, _ clock: any Clock<Duration>) {
        self.hedging = hedging
        self.clock = clock
    }

    /// Sends a request, and sends it again if the response takes long or if the exchange fails with an error that the
    /// rule accepts. All exchanges have ended when this function returns.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - transport: Sends the request.
    ///   - response: Set to the head and the body of the exchange whose result is used, also if that exchange fails.
    ///   - limit: The largest body, in bytes; `nil` for no limit.
    /// - Throws: The error of the exchange whose result is used.
    func collect(
        _ request: PreparedRequest,
        over transport: any HTTPTransport,
        into response: inout ReceivedResponse,
        limit: Int?
    ) async throws {
        do {
            response = try await hedged(
                after: hedging.delay,
                maxHedges: hedging.maxHedges,
                budget: hedging.budget,
                // `self`: without it, the compiler (Swift 6.3) does not open the existential.
                clock: self.clock,
                operation: { try await Self.answer(to: request, over: transport, limit: limit) },
                shouldHedge: { hedging.shouldHedge(($0 as? UnsuccessfulExchange)?.error ?? $0) }
            )
        } catch let exchange as UnsuccessfulExchange {
            response = exchange.response
            if !exchange.isComplete { throw exchange.error }
        }
    }

    /// Sends a request once and collects its response.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - transport: Sends the request.
    ///   - limit: The largest body, in bytes; `nil` for no limit.
    /// - Throws: `UnsuccessfulExchange` if the exchange fails, or if the status of the response means that the host has
    ///   failed.
    private static func answer(
        to request: PreparedRequest,
        over transport: any HTTPTransport,
        limit: Int?
    ) async throws -> ReceivedResponse {
        var response = ReceivedResponse()
        do {
            try await transport.collect(request, into: &response, limit: limit, nil)
        } catch {
            throw UnsuccessfulExchange(error: error, response: response)
        }
        guard let head = response.head, head.isFailureOfHost else { return response }
        let error = EndpointError(.status).completed(
            request: request.requestWithoutCredentials,
            response: head,
            data: response.body,
            credentials: request.credentials
        )
        throw UnsuccessfulExchange(error: error, response: response, isComplete: true)
    }
}
