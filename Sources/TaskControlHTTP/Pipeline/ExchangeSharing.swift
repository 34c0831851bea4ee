/// What makes two exchanges the same: where to, and with which headers. Only of what has no body and changes nothing.
struct ExchangeKey: Hashable, Sendable {
    private let url: URL
    private let headers: [String: String]

    /// `nil`: the exchange is not to be shared.
    init?(_ outgoing: Outgoing) {
        let request = outgoing.request
        guard request.httpMethod ?? "GET" == "GET", outgoing.body == nil, request.httpBody == nil,
            request.httpBodyStream == nil,
            let url = request.url
        else { return nil }
        self.url = url
        headers = request.allHTTPHeaderFields ?? [:]
    }
}

/// Exchanges that several callers take part in.
final class ExchangeSharing: Sendable {
    private let flights = SingleFlight<ExchangeKey, Arrival>()

    func gather(
        _ outgoing: Outgoing,
        _ key: ExchangeKey,
        over transport: any HTTPTransport,
        _ arrival: inout Arrival,
        _ progress: ProgressReporter?
    ) async throws {
        do {
            arrival = try await flights.run(key) {
                var arrival = Arrival(stage: .exchange)
                do {
                    try await transport.gather(outgoing, &arrival, nil)
                } catch {
                    throw Broken(error: error, arrival: arrival)
                }
                return arrival
            }
        } catch let broken as Broken {
            arrival = broken.arrival
            throw broken.error
        }
        if let response = arrival.response { progress?.expect(response) }
        progress?.didReceive(arrival.data?.count ?? 0)
    }

    /// What failed, and what had arrived until then.
    private struct Broken: Error {
        let error: any Error
        let arrival: Arrival
    }
}
